/** The messages between the nodes of a cluster. Everything else that comes over NATS is refused. */
import { z } from 'zod'
import type { Hex } from '../encoding/hex.ts'
import { ERROR_KINDS } from '../errors.ts'
import type { Logger } from '../logger.ts'

/** Most characters of a name: a method, a key, a label. */
const LONGEST_NAME = 1_000
/** Most characters of a header field: those of a whole head. */
const LONGEST_FIELD = 16_384

const Name = z.string().max(LONGEST_NAME)
const Count = z.int().nonnegative()
const HexText = z.custom<Hex>((value) => typeof value === 'string' && /^0x([0-9a-f]{2})*$/.test(value))

/** A call of a method that another node answers. */
export const CallMessage = z.object({
  method: Name,
  params: z.unknown(),
  /** Name of the caller's key. */
  owner: Name,
  /** Label and id of the request, for logs. */
  label: Name,
  requestId: Name.optional(),
  entitlements: z.array(z.enum(['stateOverride', 'upstreamUrl'])).max(2),
  /** Header fields that name the trace it is a part of. */
  carrier: z.record(Name, z.string().max(LONGEST_FIELD)).optional(),
  /** Milliseconds within which it has to begin, and a call that changes nothing has to end. */
  timeoutMs: z.number().positive(),
  /**
   * `performance.now()` of the node that answers, beyond which it does not begin: the network may hold a request back
   * until its caller has been refused.
   */
  expiresAt: z.number().optional(),
})

/** The caller of an earlier call from the same inbox has gone. */
export const CancelMessage = z.object({ cancel: z.literal(true) })

/** What a node is asked. */
export const Request = z.union([CancelMessage, CallMessage])

const ErrorMessage = z.object({
  kind: z.enum(ERROR_KINDS),
  message: z.string(),
  data: z
    .union([
      HexText,
      z.object({
        rule: z.string(),
        height: z.exactOptional(z.int()),
        expected: z.exactOptional(z.string()),
        found: z.exactOptional(z.string()),
      }),
      z.object({ url: z.string(), attempt: z.int(), status: z.exactOptional(z.int()) }),
      z.object({ method: z.string(), nearest: z.string() }),
    ])
    .optional(),
  failure: z
    .object({
      kind: z.enum(['reverted', 'failed']),
      reason: z.string(),
      output: HexText,
      transactionHash: z.exactOptional(HexText),
    })
    .optional(),
})

/** The reply to a call; `error` takes the place of `result`. */
export const ReplyMessage = z.object({
  result: z.unknown().optional(),
  error: ErrorMessage.optional(),
  /** End of the log on the node that answered. */
  sequence: z.int(),
})

/** A sign of life: the call is waiting for its place, or runs. */
export const WorkingMessage = z.object({ working: z.literal(true) })

/** What a node answers. */
export const Answer = z.union([WorkingMessage, ReplyMessage])

/** What the leader announces. */
export const Beat = z.object({
  node: Name,
  term: Count,
  sequence: z.int(),
  /** `performance.now()` of the leader. */
  clock: z.number(),
})

/** A node as others see it. */
export const NodeEntry = z.object({
  id: Name,
  role: z.enum(['leader', 'follower']),
  /** Height of its head. */
  head: Count,
  /** Seconds. */
  lag: z.number().nonnegative(),
  term: Count,
})

/** The value of JSON bytes by a schema. Throws where they are not JSON, or do not match. */
export function read<T>(schema: z.ZodType<T>, bytes: Uint8Array): T {
  return schema.parse(JSON.parse(new TextDecoder().decode(bytes)))
}

/** Runs a step that reads a message; `undefined` where it throws, since the message is malformed. */
export type Reading = <T>(what: string, step: () => T) => T | undefined

/** Drops malformed messages, and logs the first of each kind. */
export function createReading(logger: Logger): Reading {
  const logged = new Set<string>()
  return (what, step) => {
    try {
      return step()
    } catch (error) {
      const level = logged.has(what) ? 'debug' : 'warn'
      logged.add(what)
      logger[level](`a malformed ${what} of the cluster was refused`, { error })
      return undefined
    }
  }
}
