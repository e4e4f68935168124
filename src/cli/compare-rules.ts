/** `tandem drift`: transactions of a running node under this chain's rules and under Ethereum's. */
import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { z } from 'zod'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { counted } from '../counted.ts'
import { type Hex, toQuantity } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { ComparisonReport } from '../rpc/methods/comparison.ts'
import { AddressText, HashText, QuantityText } from '../rpc/wire/scalars.ts'
import { createRemote, DEFAULT_URL, type Remote } from './remote.ts'
import { hidden } from './secrets.ts'
import type { Writers } from './start.ts'
import { plain } from './terminal-text.ts'
import { checkHash } from './trace.ts'

type Report = z.output<typeof ComparisonReport>
type Side = Report['chain']

interface ComparisonOptions {
  readonly url: string
  readonly fork?: string
  readonly all?: true
  readonly json?: true
}

const BlockTransaction = z.object({ hash: HashText, to: AddressText.nullable(), gas: QuantityText })
const Block = z.object({ transactions: z.array(BlockTransaction) })
type BlockTransaction = z.output<typeof BlockTransaction>

/** A difference with its sign, red where Ethereum charges more. */
function difference(chain: number, ethereum: number): string {
  const more = ethereum - chain
  if (more === 0) return pc.dim('same')
  const share = chain === 0 ? '' : ` (${more > 0 ? '+' : ''}${((100 * more) / chain).toFixed(1)} %)`
  return more > 0 ? pc.red(`+${more}${share}`) : pc.green(`${more}${share}`)
}

function row(name: string, chain: string, ethereum: string, last = ''): string {
  return `  ${name.padEnd(14)} ${chain.padStart(12)} ${ethereum.padStart(12)}  ${last}`.trimEnd()
}

function gasRow(name: string, chain: number, ethereum: number): string {
  return row(name, `${chain}`, `${ethereum}`, difference(chain, ethereum))
}

function outcome({ status, reason }: Side): string {
  const text = plain(reason === null ? status : `${status}: ${reason}`)
  return status === 'succeeded' ? pc.green(text) : pc.red(text)
}

function step({
  op,
  pc: position,
  depth,
  gasCost,
}: NonNullable<Report['parting']>['chain'] & object): string {
  return `${op} at ${position}, depth ${depth}, gas ${gasCost}`
}

/** One report in full. */
export function reportLines(hash: string, report: Report): string[] {
  const { chain, ethereum, gas, fork, sameResult, sameLogs, firstPriceDifference } = report
  const { parting: divergence, ethereumBlock: block } = report
  const lines = [
    `${pc.yellow(hash)} by this chain's rules and by Ethereum's (${fork})`,
    row('', 'chain', 'ethereum'),
    ...gas
      .filter((group) => group.chain !== 0 || group.ethereum !== 0)
      .map((group) => gasRow(group.group, group.chain, group.ethereum)),
    gasRow('refund', -Number(chain.refund), -Number(ethereum.refund)),
    gasRow('gas used', Number(chain.gasUsed), Number(ethereum.gasUsed)),
    `  result         ${outcome(chain)}; ${outcome(ethereum)}${sameResult ? '' : pc.red(', not the same')}`,
    `  events         ${chain.logs.length}; ${ethereum.logs.length}, ${sameLogs ? 'the same' : pc.red('not the same')}`,
  ]
  if (firstPriceDifference !== null) {
    const { address, index } = firstPriceDifference
    const where = `opcode ${index}, in ${address}`
    const { chain: here, ethereum: there } = firstPriceDifference
    lines.push(`  first price    ${step(here)}; there gas ${there.gasCost} (${where})`)
  }
  if (divergence === null) lines.push('  execution      the same to the end')
  else {
    const side = (at: typeof divergence.chain) => (at === null ? 'ended' : step(at))
    lines.push(
      `  ${pc.red('execution')}      diverges at opcode ${divergence.index}: ${side(divergence.chain)}; there ${side(divergence.ethereum)}`,
    )
  }
  if (block !== null) {
    const rejected = block.rejected.length === 0 ? '' : pc.red(`, ${block.rejected.length} rejected`)
    lines.push(
      `  Ethereum block ${block.transactions} transactions, gas ${Number(block.gasUsed)}${rejected}`,
      `    transactions root ${block.transactionsRoot}`,
      `    receipts root     ${block.receiptsRoot}`,
    )
  }
  return lines
}

/** One report in a line. */
export function summaryLine(
  hash: string,
  { chain, ethereum, sameResult, sameLogs, parting: divergence }: Report,
): string {
  const [here, there] = [Number(chain.gasUsed), Number(ethereum.gasUsed)]
  const marks = [
    ...(sameResult ? [] : [`${outcome(chain)} but ${outcome(ethereum)}`]),
    ...(sameLogs ? [] : [pc.red('other events')]),
    ...(divergence === null ? [] : [pc.red(`diverges at opcode ${divergence.index}`)]),
  ]
  return [`${pc.yellow(hash)} ${here} → ${there} ${difference(here, there)}`, ...marks].join(', ')
}

async function compare(remote: Remote, hash: Hex, fork: string | undefined): Promise<Report | null> {
  const params = fork === undefined ? [hash] : [hash, fork]
  return remote.call('debug_compareRules', params, ComparisonReport.nullable())
}

/**
 * The REMASC transaction is the only one without gas. A node may hide it, so its position in the block proves nothing
 * (docs/internals/protocol.md#53-remasc-transaction).
 */
const isRemasc = ({ to, gas }: BlockTransaction): boolean =>
  to === PRECOMPILE_ADDRESS.remasc && BigInt(gas) === 0n

/** Hashes of the transactions of the canonical chain, oldest first, without the REMASC transactions. */
async function* transactionsOf(remote: Remote): AsyncGenerator<Hex> {
  const head = Number(await remote.call('eth_blockNumber', [], z.string()))
  for (let height = 1; height <= head; height++) {
    const block = await remote.call('eth_getBlockByNumber', [toQuantity(height), true], Block.nullable())
    for (const transaction of block?.transactions ?? []) if (!isRemasc(transaction)) yield transaction.hash
  }
}

async function comparisonOfAll(
  remote: Remote,
  options: ComparisonOptions,
  { output }: Writers,
): Promise<void> {
  const total = { count: 0, differing: 0, chain: 0, ethereum: 0 }
  for await (const hash of transactionsOf(remote)) {
    const report = await compare(remote, hash, options.fork)
    // A reorganisation has removed it since.
    if (report === null) continue
    output.write(options.json ? JSON.stringify({ hash, ...report }) : summaryLine(hash, report))
    total.count++
    if (!report.sameResult || !report.sameLogs) total.differing++
    total.chain += Number(report.chain.gasUsed)
    total.ethereum += Number(report.ethereum.gasUsed)
  }
  if (options.json) return
  const gas = `gas ${total.chain} → ${total.ethereum} ${difference(total.chain, total.ethereum)}`
  output.write(
    `${counted(total.count, 'transaction')}, ${total.differing} with another result or other events, ${gas}`,
  )
}

async function drift(hash: string | undefined, options: ComparisonOptions, writers: Writers): Promise<void> {
  if ((hash === undefined) === (options.all === undefined)) {
    throw new NodeError('invalid-options', 'Give the hash of a transaction to compare, or --all.')
  }
  const remote = createRemote(options.url)
  if (hash === undefined) return comparisonOfAll(remote, options, writers)
  const report = await compare(remote, checkHash(hash), options.fork)
  if (report === null) {
    throw new NodeError('internal', `The node at ${remote.shown} has mined no transaction ${hash}.`)
  }
  const { output } = writers
  for (const line of options.json ? [JSON.stringify(report)] : reportLines(hash, report)) output.write(line)
}

/** Adds arguments, options and action to the command. The action throws `NodeError`. */
export function fillCompareCommand(command: Command, writers: Writers): void {
  command
    .argument('[hash]', 'hash of a transaction')
    .option('--all', 'every transaction of the chain, a line each')
    .option(
      '--fork <name>',
      'petersburg, istanbul, berlin, london, paris, shanghai or cancun (default: the last)',
    )
    .addOption(hidden(new Option('--url <url>', 'URL of the node').default(DEFAULT_URL)))
    .option('--json', 'print JSON; with --all one object a line')
    .action((hash: string | undefined, options: ComparisonOptions) => drift(hash, options, writers))
}
