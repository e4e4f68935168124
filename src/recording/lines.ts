/**
 * The lines of a recording: JSON objects, the header first. A line with `request` or `tick` begins work of the node, one with
 * `reply` ends it, and one with both is work during which nothing else happened. docs/guides/replay.md#the-file describes each.
 */
import { z } from 'zod'
import { NodeError } from '../errors.ts'

/** The format that this version writes and reads. */
export const FORMAT = 1

const Time = z.number().min(0)
const Count = z.int().min(1)
const Caller = z.string().min(1)

const Header = z.strictObject({
  recording: z.literal(FORMAT),
  /** Version of the node that wrote it. */
  release: z.string(),
  /** Unix time of the start, seconds. */
  time: Time,
  /** The options of the node as `createNode` takes them, without those of files, logs and limits of the machine. */
  options: z.record(z.string(), z.unknown()),
  /** Options that the node had and whose values are secret. */
  masked: z.array(z.string()).readonly(),
})

/** A chain that was there before the first request: a state file as text. */
const StateLine = z.strictObject({ state: z.string() })

const CallMembers = {
  n: Count,
  time: Time,
  from: Caller.exactOptional(),
  owner: z.string().exactOptional(),
  /** The caller has asked chaos to leave it alone. */
  calm: z.literal(true).exactOptional(),
}

const RequestLine = z.strictObject({
  ...CallMembers,
  from: Caller,
  /** A message as JSON, or its text where JSON would change it. */
  request: z.union([z.looseObject({}), z.array(z.unknown())]).exactOptional(),
  text: z.string().exactOptional(),
  /** The height of the head, where other work was under way. */
  head: z.int().min(0).exactOptional(),
  reply: z.unknown().optional(),
})
const TickLine = z.strictObject({
  n: Count,
  time: Time,
  tick: z.literal(true),
  /** Number of the timer, in the order in which the node has started them. */
  timer: Count,
  reply: z.unknown().optional(),
})
const ReplyLine = z.strictObject({ n: Count, reply: z.unknown() })
const EventLine = z.strictObject({ to: Caller, event: z.unknown() })
const ClosedLine = z.strictObject({ closed: Caller })

/** The first line. */
export type Header = z.infer<typeof Header>
/** A message to the node: JSON-RPC, or in process a method and its parameters. */
export type RequestLine = z.infer<typeof RequestLine>
/** What the node did because a timer had ended, of interval mining or of chaos; its reply is the head. */
export type TickLine = z.infer<typeof TickLine>
/** The end of work that an earlier line began. */
export type ReplyLine = z.infer<typeof ReplyLine>
/** What a subscriber was sent. */
export type EventLine = z.infer<typeof EventLine>
/** A connection that ended. */
export type ClosedLine = z.infer<typeof ClosedLine>
/** The chain before the first request. */
export type StateLine = z.infer<typeof StateLine>

/** A line after the header. */
export type Line = RequestLine | TickLine | ReplyLine | EventLine | ClosedLine | StateLine

/** What a line is told by. */
const KINDS: readonly (readonly [member: string, schema: z.ZodType<Line>])[] = [
  ['request', RequestLine],
  ['text', RequestLine],
  ['tick', TickLine],
  ['event', EventLine],
  ['closed', ClosedLine],
  ['state', StateLine],
  ['reply', ReplyLine],
]

/** The error of a recording, which names the line and the member. */
function malformed(line: number, path: string, why: string): NodeError {
  const place = path === '' ? `line ${line}` : `line ${line}, ${path}`
  return new NodeError('invalid-params', `Malformed recording: ${place}: ${why}.`)
}

function objectIn(text: string, line: number): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed(line, '', 'it is not JSON')
  }
  const object = z.record(z.string(), z.unknown()).safeParse(value)
  if (!object.success) throw malformed(line, '', 'an object is expected')
  return object.data
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${String(key)}`))
    .join('')
}

function checked<T>(schema: z.ZodType<T>, value: unknown, line: number): T {
  const outcome = schema.safeParse(value)
  if (outcome.success) return outcome.data
  const issue = outcome.error.issues[0]
  const path =
    issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : (issue?.path ?? [])
  throw malformed(line, pathText(path), issue?.message.replace(/\.$/, '') ?? 'it has an unknown form')
}

/** Reads the first line. Throws `invalid-params` with the path of the member. */
export function readHeader(text: string): Header {
  const value = objectIn(text, 1)
  if (!('recording' in value)) throw malformed(1, 'recording', 'the header of a recording is expected')
  return checked(Header, value, 1)
}

/** Reads a later line; lines count from 1. Throws `invalid-params` with the line and the path of the member. */
export function readLine(text: string, line: number): Line {
  const value = objectIn(text, line)
  const kind = KINDS.find(([member]) => member in value)
  if (kind === undefined) {
    throw malformed(line, '', `one of ${KINDS.map(([member]) => member).join(', ')} is expected`)
  }
  return checked(kind[1], value, line)
}
