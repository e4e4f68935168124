/** `tandem drift`: transactions of a running node under this chain's rules, and under Ethereum's or other rules of this chain. */
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { type Hex, toQuantity } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { ruleTable, splitList } from '../options/kinds.ts'
import { ComparisonReport, RuleSetReport } from '../rpc/methods/comparison.ts'
import { AddressText, HashText, QuantityText } from '../rpc/wire/scalars.ts'
import { type Compared, comparedWithEthereum, reportLines, summaryLine } from './comparison-lines.ts'
import { type CompareMined, compareSuite } from './drift-suite.ts'
import { DriftTotals } from './drift-totals.ts'
import type { LineWriter } from './line-writer.ts'
import { createRemote, DEFAULT_URL, type Remote } from './remote.ts'
import { hidden } from './secrets.ts'
import type { NodeWriters, Writers } from './start.ts'
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

/** Calls a method of a node, whose result is checked. */
type Ask = Remote['call']

/** Asks for the comparison of a transaction; null for one that is not mined. */
type Compare = (ask: Ask, hash: Hex) => Promise<Answer | null>

function ethereumComparison(fork: string | undefined): Compare {
  return async (ask, hash) => {
    const params = fork === undefined ? [hash] : [hash, fork]
    const report = await ask('debug_compareRules', params, ComparisonReport.nullable())
    return report && { report, compared: comparedWithEthereum(report) }
  }
}

/** `by` is what the rules are called. */
function ruleSetComparison(choice: object, by: string): Compare {
  return async (ask, hash) => {
    const report = await ask('debug_compareRuleSets', [hash, choice], RuleSetReport.nullable())
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

/** Prints comparisons as they come, and their sums. */
class DriftReport {
  readonly #totals = new DriftTotals()
  readonly #output: LineWriter
  readonly #isJson: boolean

  constructor({ output }: Writers, { json }: ComparisonOptions) {
    this.#output = output
    this.#isJson = json === true
  }

  add(hash: Hex, { report, compared }: Answer): void {
    this.#output.write(this.#isJson ? JSON.stringify({ hash, ...report }) : summaryLine(hash, compared))
    this.#totals.add(hash, compared)
  }

  end(): void {
    if (!this.#isJson) for (const line of this.#totals.lines()) this.#output.write(line)
  }
}

async function comparisonOfAll(
  remote: Remote,
  compare: Compare,
  options: ComparisonOptions,
  writers: Writers,
): Promise<void> {
  const report = new DriftReport(writers, options)
  for await (const hash of transactionsOf(remote, options.blocks)) {
    const answer = await compare(asking(remote), hash)
    // A reorganisation has removed it since.
    if (answer !== null) report.add(hash, answer)
  }
  report.end()
}

function asking(remote: Remote): Ask {
  return (method, params, result) => remote.call(method, params, result)
}

async function comparisonOfSuite(
  words: readonly string[],
  compare: Compare,
  options: ComparisonOptions,
  writers: NodeWriters,
): Promise<void> {
  const report = new DriftReport(writers, options)
  const compareMined: CompareMined<Answer> = (node, hash) =>
    compare(async (method, params, result) => result.parse(await node.request({ method, params })), hash)
  const listener = {
    compared: (hash: Hex, answer: Answer) => report.add(hash, answer),
    failed: (hash: Hex, message: string) => writers.errors.write(`${hash} was not compared: ${message}`),
  }
  process.exitCode = await compareSuite(words, compareMined, listener, writers)
  report.end()
}

/** Is a word meant as the hash of a transaction? */
const isHashLike = (word: string): boolean => /^(0x|[0-9a-f]+$)/i.test(word)

async function drift(
  words: readonly string[],
  options: ComparisonOptions,
  writers: NodeWriters,
): Promise<void> {
  const compare = comparisonOf(options)
  const [first] = words
  const hash = words.length === 1 && first !== undefined && isHashLike(first) ? first : undefined
  const isMany = options.all !== undefined || options.blocks !== undefined
  if ((first === undefined) !== isMany) {
    throw new NodeError(
      'invalid-options',
      'Give the hash of a transaction to compare, or --blocks, or --all, or a command behind --.',
    )
  }
  if (first !== undefined && hash === undefined) return comparisonOfSuite(words, compare, options, writers)
  const remote = createRemote(options.url)
  if (hash === undefined) return comparisonOfAll(remote, compare, options, writers)
  const answer = await compare(asking(remote), checkHash(hash))
  if (answer === null) {
    throw new NodeError('internal', `The node at ${remote.shown} has mined no transaction ${hash}.`)
  }
  const { output } = writers
  const lines = options.json ? [JSON.stringify(answer.report)] : reportLines(hash, answer.compared)
  for (const line of lines) output.write(line)
}

const EXAMPLES = `
Examples:
  tandem drift --rules next --all            the chain of a running node
  tandem drift --rules next -- npm test      RPC_URL names the node, which has the settings of the environment`

/** Adds arguments, options and action to the command. The action throws `NodeError`. */
export function fillCompareCommand(command: Command, writers: NodeWriters): void {
  command
    .argument('[words...]', 'hash of a transaction; or, after --, a command to run beside a node')
    .usage('[options] [hash] | [options] -- <command...>')
    .option('--all', 'every transaction of the chain, a line each')
    .option('--blocks <range>', 'those of a block, or of blocks such as 10-20')
    .option(
      '--fork <name>',
      'petersburg, istanbul, berlin, london, paris, shanghai, cancun or prague (default: cancun)',
    )
    .option('--rules <rules>', 'other rules of this chain instead: an upgrade, next, or heights as JSON')
    .option('--activate <rules>', 'rules of this chain that would hold as well, separated by commas')
    .option('--deactivate <rules>', 'rules of this chain that would not hold')
    .addOption(hidden(new Option('--url <url>', 'URL of the node').default(DEFAULT_URL)))
    .option('--json', 'print JSON; with --all and --blocks one object a line')
    .addHelpText('after', EXAMPLES)
    .action((words: readonly string[], options: ComparisonOptions) => drift(words, options, writers))
}
