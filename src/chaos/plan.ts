/** A plan of chaos: which faults a node makes, how often and for how long. JSON, checked when it is set. */
import { z } from 'zod'
import { NodeError } from '../errors.ts'

/** From 0, never, to 1, always. */
const Probability = z.number().min(0).max(1)
/** Calls that a fault lasts, blocks, polls: both bounds included. A number stands for both. */
const range = (least: number, most: number) =>
  z.preprocess(
    (value) => (typeof value === 'number' ? [value, value] : value),
    z
      .tuple([z.int().min(least).max(most), z.int().min(least).max(most)])
      .refine(([low, high]) => low <= high, 'the first bound is above the second')
      .readonly(),
  )
const Calls = range(1, 10_000)
const Milliseconds = z.int().min(0).max(600_000)
/** Names of methods; one that ends in `*` stands for all that begin so. */
const Methods = z
  .array(
    z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_]*\*?$|^\*$/, 'expected the name of a method, or its beginning and *'),
  )
  .min(1)
  .readonly()
  .optional()

/** How long replies take, milliseconds. */
const Latency = z.discriminatedUnion('distribution', [
  z.strictObject({ methods: Methods, distribution: z.literal('uniform'), ms: range(0, 600_000) }),
  z.strictObject({
    methods: Methods,
    distribution: z.literal('normal'),
    mean: Milliseconds,
    deviation: Milliseconds,
  }),
  z.strictObject({
    methods: Methods,
    distribution: z.literal('lognormal'),
    median: Milliseconds,
    sigma: z.number().min(0).max(5),
    most: Milliseconds.default(60_000),
  }),
])

const Status = z.strictObject({
  methods: Methods,
  status: z.union([z.literal(429), z.literal(502), z.literal(503)], 'expected 429, 502 or 503'),
  probability: Probability,
  /** Messages in a row. */
  window: Calls.default([1, 1]),
  /** `Retry-After` of the reply, seconds. */
  retryAfter: z.int().min(0).max(3600).optional(),
})

const Connections = z.strictObject({
  /** Closed before the call is made, or after it, without a reply. */
  drop: z.strictObject({ methods: Methods, probability: Probability }).optional(),
  /** Half-open: no reply, and the connection stays open for `ms`. */
  stall: z
    .strictObject({ methods: Methods, probability: Probability, ms: Milliseconds.default(60_000) })
    .optional(),
  /** Closed in the middle of the reply. */
  truncate: z.strictObject({ methods: Methods, probability: Probability }).optional(),
})

const Transactions = z.strictObject({
  /** Stays in the pool, and no block takes it. */
  neverMined: z.strictObject({ probability: Probability }).optional(),
  /** Its hash is answered, and the pool forgets it: it can be sent again. */
  forgotten: z.strictObject({ probability: Probability }).optional(),
  /** The sender, where the node has its key, sends another one with the same nonce. */
  replaced: z
    .strictObject({
      probability: Probability,
      by: z.enum(['repriced', 'cancelled']).default('repriced'),
      /** Calls until then. */
      calls: range(0, 10_000).default([1, 4]),
    })
    .optional(),
  /** A block takes its transactions in another order; those of one sender stay in that of their nonces. */
  reordered: z.strictObject({ probability: Probability }).optional(),
})

const Blocks = z.strictObject({
  /** Calls until the block is mined; under mining on a timer the intervals that are left out. */
  late: z.strictObject({ probability: Probability, calls: Calls }).optional(),
  /** Takes no transaction of the pool. */
  empty: z.strictObject({ probability: Probability }).optional(),
  /** Has room for only so many transactions of the pool. */
  full: z.strictObject({ probability: Probability, transactions: range(0, 10_000) }).optional(),
})

/** The form of a plan; members that are absent do nothing. */
const Plan = z.strictObject({
  /** The first rule that fits a method decides. */
  latency: z.array(Latency).readonly().optional(),
  statuses: z.array(Status).readonly().optional(),
  connections: Connections.optional(),
  /** Answers of a node that is `blocks` behind, to so many reads in a row. */
  stale: z
    .strictObject({ probability: Probability, blocks: range(1, 1000), window: Calls.default([1, 1]) })
    .optional(),
  /** Receipts that are null for the first polls. */
  receipts: z.strictObject({ probability: Probability, polls: Calls }).optional(),
  transactions: Transactions.optional(),
  /** Answers about prices, times a factor, to so many calls in a row. */
  gasPrice: z
    .strictObject({
      probability: Probability,
      factor: range(1, 10_000),
      window: Calls.default([1, 1]),
    })
    .optional(),
  blocks: Blocks.optional(),
  /** After a block the last `depth` blocks are replaced by empty ones; each of their transactions is lost with `lost`. */
  reorganisations: z
    .strictObject({
      probability: Probability,
      depth: range(1, 100),
      uncles: z.boolean().default(true),
      lost: Probability.default(0),
      calls: range(0, 10_000).default([0, 3]),
    })
    .optional(),
  subscriptions: z
    .strictObject({
      gap: z.strictObject({ probability: Probability, window: Calls.default([1, 1]) }).optional(),
      duplicate: z.strictObject({ probability: Probability }).optional(),
    })
    .optional(),
  limits: z
    .strictObject({
      logBlocks: z.int().min(1).optional(),
      batch: z.int().min(1).optional(),
      bodyBytes: z.int().min(1).optional(),
    })
    .optional(),
  /** How long a block or a reorganisation that is due waits for further calls, milliseconds. */
  idleMs: z.int().min(1).max(600_000).default(5000),
})

/** A checked plan. */
export type ChaosPlan = z.infer<typeof Plan>

/** A plan as it is given: members with a default may be absent. */
export type ChaosPlanInput = z.input<typeof Plan>

/** `latency[0].ms` of a path. */
function textOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, '')
}

/** Checks a plan. Throws `invalid-params` with the path of the member that does not fit. */
export function readPlan(given: unknown): ChaosPlan {
  const outcome = Plan.safeParse(given)
  if (outcome.success) return outcome.data
  const [issue] = outcome.error.issues
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const path = textOf([...(issue?.path ?? []), ...unknown])
  const what = unknown.length > 0 ? 'there is no such member' : (issue?.message ?? 'it does not fit')
  throw new NodeError('invalid-params', `Invalid chaos plan: ${path === '' ? what : `${path}: ${what}`}`)
}
