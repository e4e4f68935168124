/** What the comparisons of many transactions add up to: gas by group, and differences by their cause. */
import { counted } from '../counted.ts'
import type { Hex } from '../encoding/hex.ts'
import { type Compared, difference, gasRow } from './comparison-lines.ts'
import { plain } from './terminal-text.ts'

/** Causes that are printed; the rest is counted. */
const MOST_CAUSES = 50

/** A refusal without the numbers and addresses of its transaction. */
const withoutValues = (reason: string): string => reason.replace(/0x[0-9a-f]+|\d+/gi, '…')

/** Why a transaction differs under the other rules; `undefined` where it does not. */
export function causeOf(compared: Compared): string | undefined {
  const { chain, other, sameResult, sameLogs, divergence, firstPriceDifference: price } = compared
  if (other.status === 'rejected') return `refused: ${withoutValues(plain(other.reason ?? ''))}`
  const results = chain.status === other.status ? 'another result' : `${chain.status} → ${other.status}`
  const effects = [...(sameResult ? [] : [results]), ...(sameLogs ? [] : ['other events'])]
  if (divergence !== null) {
    const [here, there] = [divergence.chain?.op ?? 'the end', divergence.other?.op ?? 'the end']
    return [`execution diverges at ${here}${here === there ? '' : ` (there ${there})`}`, ...effects].join(
      ', ',
    )
  }
  if (effects.length > 0) return effects.join(', ')
  if (chain.gasUsed === other.gasUsed) return undefined
  const groups = compared.gas.filter((group) => group.chain !== group.other).map(({ group }) => group)
  const first = price === null ? '' : ` (first ${price.chain.op})`
  return `gas of ${groups.join(', ') || 'refunds'}${first}`
}

interface Sum {
  count: number
  chain: number
  other: number
}

/** The transactions that differ for one cause. */
interface Cause extends Sum {
  /** The first of them. */
  readonly first: Hex
}

function add(sum: Sum, chain: number, other: number): void {
  sum.count++
  sum.chain += chain
  sum.other += other
}

/** The sums of what was compared so far. */
export class DriftTotals {
  readonly #all: Sum = { count: 0, chain: 0, other: 0 }
  #differing = 0
  readonly #groups = new Map<string, Sum>()
  readonly #causes = new Map<string, Cause>()

  add(hash: Hex, compared: Compared): void {
    const { sameResult, sameLogs, gas } = compared
    const [here, there] = [Number(compared.chain.gasUsed), Number(compared.other.gasUsed)]
    if (!sameResult || !sameLogs) this.#differing++
    add(this.#all, here, there)
    for (const { group, chain, other } of gas) {
      const sum = this.#groups.get(group) ?? { count: 0, chain: 0, other: 0 }
      add(sum, chain, other)
      this.#groups.set(group, sum)
    }
    const cause = causeOf(compared)
    if (cause === undefined) return
    const known = this.#causes.get(cause) ?? { count: 0, chain: 0, other: 0, first: hash }
    add(known, here, there)
    this.#causes.set(cause, known)
  }

  /** The causes, the gas of the groups that differ, and a line for all. */
  lines(): string[] {
    const { count, chain, other } = this.#all
    const groups = [...this.#groups].filter(([, sum]) => sum.chain !== sum.other)
    const gas = `gas ${chain} → ${other} ${difference(chain, other)}`
    return [
      ...this.#causeLines(),
      ...groups.map(([group, sum]) => gasRow(group, sum.chain, sum.other)),
      `${counted(count, 'transaction')}, ${this.#differing} with another result or other events, ${gas}`,
    ]
  }

  #causeLines(): string[] {
    const sorted = [...this.#causes].sort(([, one], [, next]) => next.count - one.count)
    const lines = sorted
      .slice(0, MOST_CAUSES)
      .map(([cause, { count, chain, other, first }]) =>
        [
          `  ${counted(count, 'transaction')}: ${cause}`,
          `gas ${chain} → ${other} ${difference(chain, other)}`,
          `such as ${first}`,
        ].join(', '),
      )
    const more = sorted.length - lines.length
    return more > 0 ? [...lines, `  ${counted(more, 'further cause')}`] : lines
  }
}
