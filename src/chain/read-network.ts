/** Reads the JSON file of a network: those of the shipped ones (`networks/*.json`), and of any other of the family. */
import { z } from 'zod'
import { lowerCaseHex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import {
  CONSENSUS_RULES,
  RULE_NAMES,
  type RuleHeights,
  type RuleName,
  UPGRADES,
  type Upgrade,
} from './consensus-rules.ts'
import { BRIDGES, type Network, type NetworkFile } from './network.ts'
import { HIGHEST_RULE, RuleChoiceError, requireNeeded, unknownName } from './rule-names.ts'

/** Chain ids above it have a V that is no safe integer (EIP-155). */
const MOST_CHAIN_ID = 2 ** 47 - 19

/** A payout reads the uncles of the seven blocks above the one that it pays for, all of which are before its own. */
const LEAST_MATURITY = 8

const count = z.int().min(0)
const positive = z.int().min(1)
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address of 20 bytes in hex')
  .transform((text) => lowerCaseHex(text))

/** Heights by name; null, or absent: never. A name that is not known is refused with the nearest. */
function heights(names: readonly string[]) {
  return z.record(z.string(), z.int().min(0).max(HIGHEST_RULE).nullable()).superRefine((table, context) => {
    for (const name of Object.keys(table).filter((key) => !names.includes(key))) {
      context.addIssue({ code: 'custom', path: [name], message: unknownName('rules', name, names).message })
    }
  })
}

/** The file. */
const NetworkFileObject = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be up to 32 lower-case letters, digits and hyphens'),
  chainId: positive.max(MOST_CHAIN_ID),
  /** Whose Bridge it has. */
  bridge: z.enum(BRIDGES),
  /** The network whose genesis it begins with, or a genesis of its own (docs/internals/protocol.md#71-genesis-file). */
  genesis: z.union([z.enum(BRIDGES), z.record(z.string(), z.unknown())]),
  upgrades: heights(UPGRADES),
  /** Rules with another height than their upgrade. */
  rules: heights(RULE_NAMES).optional(),
  /** docs/internals/protocol.md#31-difficulty */
  difficulty: z.strictObject({
    minimum: positive,
    minimumSinceRskip290: positive.optional(),
    boundDivisor: positive,
    boundDivisorSinceRskip156: positive.optional(),
    goalSeconds: positive,
  }),
  /** docs/internals/protocol.md#41-block-gas-limit; `minimumSequential` is m of docs/internals/protocol.md#52-parallel-sublists */
  gasLimit: z.strictObject({ target: positive, minimum: positive, minimumSequential: positive }),
  /** T of docs/internals/protocol.md#17-validity; 0: timestamps are not checked. */
  maxSecondsInFuture: count,
  /** RSKIP-179, RSKIP-297 */
  parentChainSeconds: z.strictObject({ window: positive, windowSinceRskip297: positive.optional() }),
  /** docs/internals/protocol.md#54-remasc-payout */
  remasc: z.strictObject({
    maturity: z.int().min(LEAST_MATURITY),
    syntheticSpan: positive,
    labs: address,
    labsBeforeRskip218: address.optional(),
    federators: z.array(address).min(1),
  }),
}) satisfies z.ZodType<NetworkFile>

function heightIn(table: NetworkFile['upgrades'], name: RuleName | Upgrade): number | undefined {
  return table[name] ?? undefined
}

function heightsOf({ upgrades, rules = {} }: NetworkFile): RuleHeights {
  const entries = RULE_NAMES.map((rule) => {
    if (Object.hasOwn(rules, rule)) return [rule, heightIn(rules, rule)]
    const [upgrade] = CONSENSUS_RULES[rule]
    return [rule, upgrade === undefined ? undefined : heightIn(upgrades, upgrade)]
  })
  return Object.fromEntries(entries)
}

/** Reads a definition; `where` is what messages call it. Throws `invalid-options` with the path of the member that is wrong. */
export function readNetwork(json: unknown, where: string): Network {
  const parsed = NetworkFileObject.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const path = issue === undefined || issue.path.length === 0 ? '' : ` ${issue.path.join('.')}:`
    throw new NodeError('invalid-options', `${where}:${path} ${issue?.message ?? 'malformed'}`)
  }
  const network = { ...parsed.data, heights: heightsOf(parsed.data) }
  try {
    requireNeeded(network.heights)
  } catch (error) {
    if (!(error instanceof RuleChoiceError)) throw error
    throw new NodeError('invalid-options', `${where}: rules: ${error.message}`)
  }
  return network
}
