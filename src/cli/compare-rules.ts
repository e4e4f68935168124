/** `tandem drift`: transactions of a running node under this chain's rules, and under Ethereum's or other rules of this chain. */
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { counted } from '../counted.ts'
import { type Hex, toQuantity } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { ruleTable, splitList } from '../options/kinds.ts'
import { ComparisonReport, RuleSetReport } from '../rpc/methods/comparison.ts'
import { AddressText, HashText, QuantityText } from '../rpc/wire/scalars.ts'
import {
  type Compared,
  comparedWithEthereum,
  difference,
  gasRow,
  reportLines,
  summaryLine,
} from './comparison-lines.ts'
import { createRemote, DEFAULT_URL, type Remote } from './remote.ts'
import { hidden } from './secrets.ts'
import type { Writers } from './start.ts'
import { checkHash } from './trace.ts'

interface ComparisonOptions {
  readonly url: string
  readonly fork?: string
  readonly rules?: string
  readonly activate?: string
  readonly deactivate?: string
  readonly all?: true
  readonly blocks?: string
  readonly json?: true
}

const BlockTransaction = z.object({ hash: HashText, to: AddressText.nullable(), gas: QuantityText })
const Block = z.object({ transactions: z.array(BlockTransaction) })
type BlockTransaction = z.output<typeof BlockTransaction>

/** A comparison as it was answered, and for the terminal. */
interface Answer {
  readonly report: object
  readonly compared: Compared
}

/** Asks for the comparison of a transaction; null for one that is not mined. */
type Compare = (remote: Remote, hash: Hex) => Promise<Answer | null>

function ethereumComparison(fork: string | undefined): Compare {
  return async (remote, hash) => {
    const params = fork === undefined ? [hash] : [hash, fork]
    const report = await remote.call('debug_compareRules', params, ComparisonReport.nullable())
    return report && { report, compared: comparedWithEthereum(report) }
  }
}

/** `by` is what the rules are called. */
function ruleSetComparison(choice: object, by: string): Compare {
  return async (remote, hash) => {
    const report = await remote.call('debug_compareRuleSets', [hash, choice], RuleSetReport.nullable())
    return report && { report, compared: { ...report, by, column: 'other', ethereumBlock: null } }
  }
}

/** The comparison that the options ask for. Throws `invalid-options`. */
function comparisonOf({ fork, rules, activate, deactivate }: ComparisonOptions): Compare {
  const changes = {
    ...(rules !== undefined && { rules: ruleTable.fromText(rules) }),
    ...(activate !== undefined && { activate: splitList(activate) }),
    ...(deactivate !== undefined && { deactivate: splitList(deactivate) }),
  }
  if (Object.keys(changes).length === 0) return ethereumComparison(fork)
  if (fork !== undefined) {
    throw new NodeError(
      'invalid-options',
      'Give --fork for rules of Ethereum, or --rules for rules of this chain.',
    )
  }
  const words = [rules, activate && `with ${activate}`, deactivate && `without ${deactivate}`]
  return ruleSetComparison(changes, `others (${words.filter(Boolean).join(' ')})`)
}

/**
 * The REMASC transaction is the only one without gas. A node may hide it, so its position in the block proves nothing
 * (docs/internals/protocol.md#53-remasc-transaction).
 */
const isRemasc = ({ to, gas }: BlockTransaction): boolean =>
  to === PRECOMPILE_ADDRESS.remasc && BigInt(gas) === 0n

/** The first and the last block of a range such as 10-20. Throws `invalid-options`. */
function rangeOf(blocks: string): readonly [first: number, last: number] {
  const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(blocks) ?? []
  if (first === undefined || Number(first) > Number(last)) {
    throw new NodeError('invalid-options', `--blocks expects a height, or two as in 10-20, not "${blocks}".`)
  }
  return [Number(first), Number(last)]
}

/** Hashes of transactions of the canonical chain, oldest first, without the REMASC transactions. */
async function* transactionsOf(remote: Remote, blocks: string | undefined): AsyncGenerator<Hex> {
  const head = Number(await remote.call('eth_blockNumber', [], z.string()))
  const [first, last] = blocks === undefined ? [1, head] : rangeOf(blocks)
  for (let height = first; height <= Math.min(last, head); height++) {
    const block = await remote.call('eth_getBlockByNumber', [toQuantity(height), true], Block.nullable())
    for (const transaction of block?.transactions ?? []) if (!isRemasc(transaction)) yield transaction.hash
  }
}

/** What was compared so far. */
class Totals {
  #count = 0
  #differing = 0
  readonly #used = { chain: 0, other: 0 }
  readonly #groups = new Map<string, { chain: number; other: number }>()

  add({ chain, other, gas, sameResult, sameLogs }: Compared): void {
    this.#count++
    if (!sameResult || !sameLogs) this.#differing++
    this.#used.chain += Number(chain.gasUsed)
    this.#used.other += Number(other.gasUsed)
    for (const { group, chain: here, other: there } of gas) {
      const sum = this.#groups.get(group) ?? { chain: 0, other: 0 }
      this.#groups.set(group, { chain: sum.chain + here, other: sum.other + there })
    }
  }

  /** The gas of the groups that differ, and a line for all. */
  lines(): string[] {
    const { chain, other } = this.#used
    const groups = [...this.#groups].filter(([, sum]) => sum.chain !== sum.other)
    const gas = `gas ${chain} → ${other} ${difference(chain, other)}`
    return [
      ...groups.map(([group, sum]) => gasRow(group, sum.chain, sum.other)),
      `${counted(this.#count, 'transaction')}, ${this.#differing} with another result or other events, ${gas}`,
    ]
  }
}

async function comparisonOfAll(
  remote: Remote,
  compare: Compare,
  { json, blocks }: ComparisonOptions,
  { output }: Writers,
): Promise<void> {
  const totals = new Totals()
  for await (const hash of transactionsOf(remote, blocks)) {
    const answer = await compare(remote, hash)
    // A reorganisation has removed it since.
    if (answer === null) continue
    const { report, compared } = answer
    output.write(json ? JSON.stringify({ hash, ...report }) : summaryLine(hash, compared))
    totals.add(compared)
  }
  if (!json) for (const line of totals.lines()) output.write(line)
}

async function drift(hash: string | undefined, options: ComparisonOptions, writers: Writers): Promise<void> {
  const compare = comparisonOf(options)
  const isMany = options.all !== undefined || options.blocks !== undefined
  if ((hash === undefined) !== isMany) {
    throw new NodeError(
      'invalid-options',
      'Give the hash of a transaction to compare, or --blocks, or --all.',
    )
  }
  const remote = createRemote(options.url)
  if (hash === undefined) return comparisonOfAll(remote, compare, options, writers)
  const answer = await compare(remote, checkHash(hash))
  if (answer === null) {
    throw new NodeError('internal', `The node at ${remote.shown} has mined no transaction ${hash}.`)
  }
  const { output } = writers
  const lines = options.json ? [JSON.stringify(answer.report)] : reportLines(hash, answer.compared)
  for (const line of lines) output.write(line)
}

/** Adds arguments, options and action to the command. The action throws `NodeError`. */
export function fillCompareCommand(command: Command, writers: Writers): void {
  command
    .argument('[hash]', 'hash of a transaction')
    .option('--all', 'every transaction of the chain, a line each')
    .option('--blocks <range>', 'those of a block, or of blocks such as 10-20')
    .option(
      '--fork <name>',
      'petersburg, istanbul, berlin, london, paris, shanghai or cancun (default: the last)',
    )
    .option('--rules <rules>', 'other rules of this chain instead: an upgrade, next, or heights as JSON')
    .option('--activate <rules>', 'rules of this chain that would hold as well, separated by commas')
    .option('--deactivate <rules>', 'rules of this chain that would not hold')
    .addOption(hidden(new Option('--url <url>', 'URL of the node').default(DEFAULT_URL)))
    .option('--json', 'print JSON; with --all and --blocks one object a line')
    .action((hash: string | undefined, options: ComparisonOptions) => drift(hash, options, writers))
}
