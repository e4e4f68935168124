/** The call tree of a transaction: its frames with decoded calls and failures, and where a failure began. */
import { type Check, isText, listOf, objectOf, orNull } from './checks.ts'
import { callFor } from './client.ts'
import { type DecodedItem, type DecodeItem, decodeAll } from './decode.ts'
import { frameFailureText, type Hex, isHex } from './format.ts'
import type { Log } from './model.ts'

/** A frame of the `callTracer`. */
export interface RawFrame {
  readonly type: string
  readonly from: Hex
  readonly to?: Hex
  readonly value: Hex
  readonly gas: Hex
  readonly gasUsed: Hex
  readonly input: Hex
  readonly output?: Hex
  readonly error?: string
  readonly revertReason?: string
  readonly calls?: readonly RawFrame[]
  readonly logs?: readonly Pick<Log, 'address' | 'topics' | 'data'>[]
}

/** Is this a frame of the `callTracer`, with its logs? */
export const isRawFrame: Check<RawFrame> = objectOf(
  { type: isText, from: isHex, value: isHex, gas: isHex, gasUsed: isHex, input: isHex },
  {
    to: isHex,
    output: isHex,
    error: isText,
    revertReason: isText,
    calls: (value): value is readonly RawFrame[] => areRawFrames(value),
    logs: listOf(objectOf({ address: isHex, topics: listOf(isHex), data: isHex })),
  },
)
const areRawFrames = listOf(isRawFrame)

/** A frame with what is known of it. */
export interface Frame {
  /** Position in the tree: `0`, `0.1`, … */
  readonly path: string
  readonly raw: RawFrame
  readonly decoded: DecodedItem | null
  /** Why it failed; absent when it did not. */
  readonly failure: string | undefined
  readonly events: readonly { readonly text: string; readonly isDecoded: boolean }[]
  readonly calls: readonly Frame[]
}

/** A call tree. */
export interface CallTree {
  readonly root: Frame
  /** Frames of the tree, and how many of them are left out of it. */
  readonly count: number
  readonly leftOut: number
}

/** Frames beyond this number are counted and not shown. */
const MOST_FRAMES = 1000

/** `CREATE` and `CREATE2`, whose input is init code. */
export function creates({ type }: RawFrame): boolean {
  return type.startsWith('CREATE')
}

function countFrames({ calls = [] }: RawFrame): number {
  return calls.reduce((sum, each) => sum + countFrames(each), 1)
}

/** The first frames in the order of execution. */
function firstFrames(root: RawFrame): Set<RawFrame> {
  const found = new Set<RawFrame>()
  const visit = (frame: RawFrame): void => {
    if (found.size >= MOST_FRAMES) return
    found.add(frame)
    for (const each of frame.calls ?? []) visit(each)
  }
  visit(root)
  return found
}

function failureText({ error, revertReason }: RawFrame, decoded: DecodedItem | null): string | undefined {
  if (error === undefined) return undefined
  if (decoded !== null) return decoded.name === 'Error' ? `"${decoded.text}"` : decoded.text
  return revertReason ?? frameFailureText(error)
}

/**
 * Traces a mined transaction with the options of `debug_traceTransaction`. Throws `RpcError`, and an Error with a
 * message for the user when it is no longer in a block: a reorganisation or a revert has removed it.
 */
export async function traceTransaction<Result>(
  isResult: Check<Result>,
  hash: Hex,
  options: object,
  signal?: AbortSignal,
): Promise<Result> {
  const result = await callFor(orNull(isResult), 'debug_traceTransaction', [hash, options], signal)
  if (result === null) throw new Error('The transaction is in no block')
  return result
}

/** Loads and decodes the tree of a mined transaction. */
export async function loadCallTree(hash: Hex, signal: AbortSignal): Promise<CallTree> {
  const options = { tracer: 'callTracer', tracerConfig: { withLog: true } }
  return decodeTree(await traceTransaction(isRawFrame, hash, options, signal), signal)
}

/** Decodes the calls, failures and events of a tree. */
export async function decodeTree(root: RawFrame, signal?: AbortSignal): Promise<CallTree> {
  const shown = firstFrames(root)
  const items: DecodeItem[] = []
  /** The place of each item among them. */
  const ask = (item: DecodeItem): number => items.push(item) - 1
  const asked = new Map(
    [...shown].map((frame) => {
      const { input, to, output, error, logs = [] } = frame
      const own = creates(frame)
        ? ask({ kind: 'creation', data: input })
        : ask({ kind: 'call', data: input, address: to, ...(error === undefined && { output }) })
      const failed =
        error === undefined || output === undefined
          ? undefined
          : ask({ kind: 'error', data: output, ...(creates(frame) ? {} : { address: to }) })
      return [frame, { own, failed, events: logs.map((log) => ask({ kind: 'event', ...log })) }] as const
    }),
  )
  const decoded = await decodeAll(items, signal)

  function frameOf(raw: RawFrame, path: string): Frame {
    const places = asked.get(raw)
    const failed = places?.failed === undefined ? null : (decoded[places.failed] ?? null)
    return {
      path,
      raw,
      decoded: decoded[places?.own ?? -1] ?? null,
      failure: failureText(raw, failed),
      events: (raw.logs ?? []).map(({ topics, data }, i) => {
        const event = decoded[places?.events[i] ?? -1]
        return event
          ? { text: event.text, isDecoded: true }
          : { text: [...topics, data].join(' '), isDecoded: false }
      }),
      calls: (raw.calls ?? [])
        .filter((each) => shown.has(each))
        .map((each, i) => frameOf(each, `${path}.${i}`)),
    }
  }

  const count = countFrames(root)
  return { root: frameOf(root, '0'), count, leftOut: count - shown.size }
}

/**
 * The frames from the top to the one where a failure began: a caller that returns the payload of its last call, or that
 * fails without a payload after a call failed, only passed the failure on. Empty for a transaction that succeeded.
 */
export function failurePath(root: Frame): readonly Frame[] {
  if (root.raw.error === undefined) return []
  const path = [root]
  for (;;) {
    const { raw, calls } = path.at(-1) as Frame
    const last = calls.at(-1)
    if (last?.raw.error === undefined) return path
    const own = raw.output ?? '0x'
    if (own !== (last.raw.output ?? '0x')) return path
    path.push(last)
  }
}
