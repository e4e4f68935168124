/** The record of a key: its name, its hash, the methods it allows, and its limits. */
import { z } from 'zod'

/** A number of calls in a number of seconds. */
export interface Allowance {
  readonly calls: number
  readonly seconds: number
}

const DAY_SECONDS = 86_400
const PERIODS: ReadonlyMap<string | undefined, number> = new Map([
  ['s', 1],
  ['min', 60],
  ['h', 3600],
  ['day', DAY_SECONDS],
])
const ALLOWANCE = /^([1-9]\d{0,8})\/(s|min|h|day)$/

/** Reads `50/s`, `1000/min`, `9000/h` or `25000/day`; `undefined` for anything else. */
export function parseAllowance(text: string): Allowance | undefined {
  const [, calls, period] = ALLOWANCE.exec(text) ?? []
  const seconds = PERIODS.get(period)
  return calls === undefined || seconds === undefined ? undefined : { calls: Number(calls), seconds }
}

/** The expected form of each member, for help texts and errors. */
export const FORMS = {
  name: 'up to 64 letters, digits, dots, dashes and underscores, the first a letter or digit',
  allow: 'namespaces and methods such as eth or eth_call, with a minus to close one',
  rate: 'calls in a second, minute or hour, such as 50/s, 1000/min or 9000/h',
  quota: 'calls in a day, such as 25000/day',
  burst: 'a whole number of calls from 1 to 999999999',
} as const

const Instant = z.iso.datetime()
const Hash = z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in hex')

/** One key, as the file holds it. */
export const KeyRecord = z.strictObject({
  /** The client that the key belongs to; shown in logs and metrics, and limits are counted by it. */
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, `expected ${FORMS.name}`),
  hash: Hash,
  created: Instant,
  /** As in `--methods`; the empty list allows every method that a key need not name. */
  allow: z.array(z.string().regex(/^-?[a-zA-Z0-9]+([._]\w+)?$/, `expected ${FORMS.allow}`)).default([]),
  stateOverride: z.boolean().default(false),
  rate: z
    .string()
    .refine((text) => (parseAllowance(text)?.seconds ?? DAY_SECONDS) < DAY_SECONDS, `expected ${FORMS.rate}`)
    .optional(),
  /** Calls allowed at once beyond those of one period of the rate; they refill at the rate. */
  burst: z.int(`expected ${FORMS.burst}`).min(1).max(999_999_999).optional(),
  quota: z
    .string()
    .refine((text) => parseAllowance(text)?.seconds === DAY_SECONDS, `expected ${FORMS.quota}`)
    .optional(),
  /** After a rotation: the old key, and until when it is valid. */
  previous: z.strictObject({ hash: Hash, until: Instant }).optional(),
  revoked: Instant.optional(),
})
/** One key, checked. */
export type KeyRecord = z.infer<typeof KeyRecord>

/** The whole file: every name once, every hash once. */
export const KeyFile = z
  .strictObject({ version: z.literal(1), keys: z.array(KeyRecord) })
  .refine(({ keys }) => new Set(keys.map(({ name }) => name)).size === keys.length, 'two keys have one name')
  .refine(({ keys }) => {
    const hashes = keys.flatMap(({ hash, previous }) =>
      previous === undefined ? [hash] : [hash, previous.hash],
    )
    return new Set(hashes).size === hashes.length
  }, 'two keys have one hash')
