/** A comparison of rules as text. */
import pc from 'picocolors'
import type { z } from 'zod'
import type { ComparisonReport, RuleSetReport } from '../rpc/methods/comparison.ts'
import { plain } from './terminal-text.ts'

type EthereumReport = z.output<typeof ComparisonReport>
type Side = EthereumReport['chain']
type Step = NonNullable<z.output<typeof RuleSetReport>['firstPriceDifference']>['chain']

/** A comparison, whatever the other rules are. */
export interface Compared extends z.output<typeof RuleSetReport> {
  /** What the other rules are called, and the head of their column. */
  readonly by: string
  readonly column: string
  /** In whose code the first other price is, where that is known. */
  readonly priceIn?: string | undefined
  readonly ethereumBlock: EthereumReport['ethereumBlock']
}

/** The comparison with a fork of Ethereum. */
export function comparedWithEthereum(report: EthereumReport): Compared {
  const { fork, chain, ethereum, gas, firstPriceDifference: price, parting } = report
  return {
    by: `Ethereum's (${fork})`,
    column: 'ethereum',
    chain,
    other: ethereum,
    sameResult: report.sameResult,
    sameLogs: report.sameLogs,
    gas: gas.map(({ group, chain, ethereum }) => ({ group, chain, other: ethereum })),
    firstPriceDifference: price && { index: price.index, chain: price.chain, other: price.ethereum },
    priceIn: price?.address,
    divergence: parting && { index: parting.index, chain: parting.chain, other: parting.ethereum },
    ethereumBlock: report.ethereumBlock,
  }
}

/** A difference with its sign, red where the other rules charge more. */
export function difference(chain: number, other: number): string {
  const more = other - chain
  if (more === 0) return pc.dim('same')
  const share = chain === 0 ? '' : ` (${more > 0 ? '+' : ''}${((100 * more) / chain).toFixed(1)} %)`
  return more > 0 ? pc.red(`+${more}${share}`) : pc.green(`${more}${share}`)
}

function row(name: string, chain: string, other: string, last = ''): string {
  return `  ${name.padEnd(14)} ${chain.padStart(12)} ${other.padStart(12)}  ${last}`.trimEnd()
}

/** A row of gas by both rules. */
export function gasRow(name: string, chain: number, other: number): string {
  return row(name, `${chain}`, `${other}`, difference(chain, other))
}

function outcome({ status, reason }: Side): string {
  const text = plain(reason === null ? status : `${status}: ${reason}`)
  return status === 'succeeded' ? pc.green(text) : pc.red(text)
}

function step({ op, pc: position, depth, gasCost }: Step): string {
  return `${op} at ${position}, depth ${depth}, gas ${gasCost}`
}

/** One comparison in full. */
export function reportLines(hash: string, compared: Compared): string[] {
  const { chain, other, gas, sameResult, sameLogs, firstPriceDifference: price, divergence } = compared
  const { by, column, priceIn, ethereumBlock: block } = compared
  const lines = [
    `${pc.yellow(hash)} by this chain's rules and by ${by}`,
    row('', 'chain', column),
    ...gas
      .filter((group) => group.chain !== 0 || group.other !== 0)
      .map((group) => gasRow(group.group, group.chain, group.other)),
    gasRow('refund', -Number(chain.refund), -Number(other.refund)),
    gasRow('gas used', Number(chain.gasUsed), Number(other.gasUsed)),
    `  result         ${outcome(chain)}; ${outcome(other)}${sameResult ? '' : pc.red(', not the same')}`,
    `  events         ${chain.logs.length}; ${other.logs.length}, ${sameLogs ? 'the same' : pc.red('not the same')}`,
  ]
  if (price !== null) {
    const where = `opcode ${price.index}${priceIn === undefined ? '' : `, in ${priceIn}`}`
    lines.push(`  first price    ${step(price.chain)}; there gas ${price.other.gasCost} (${where})`)
  }
  if (divergence === null) lines.push('  execution      the same to the end')
  else {
    const side = (at: Step | null) => (at === null ? 'ended' : step(at))
    lines.push(
      `  ${pc.red('execution')}      diverges at opcode ${divergence.index}: ${side(divergence.chain)}; there ${side(divergence.other)}`,
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

/** One comparison in a line. */
export function summaryLine(
  hash: string,
  { chain, other, sameResult, sameLogs, divergence }: Compared,
): string {
  const [here, there] = [Number(chain.gasUsed), Number(other.gasUsed)]
  const marks = [
    ...(sameResult ? [] : [`${outcome(chain)} but ${outcome(other)}`]),
    ...(sameLogs ? [] : [pc.red('other events')]),
    ...(divergence === null ? [] : [pc.red(`diverges at opcode ${divergence.index}`)]),
  ]
  return [`${pc.yellow(hash)} ${here} → ${there} ${difference(here, there)}`, ...marks].join(', ')
}
