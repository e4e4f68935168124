/** When transactions may be in a block: lock times (BIP-113) and relative locks (BIP-68). */
import { LOCKTIME_THRESHOLD, SEQUENCE } from '../interpreter/signature-checker.ts'
import { FINAL_SEQUENCE, type Transaction } from '../transaction.ts'

/** Seconds of a unit of a relative lock by time. */
const TIME_UNIT = 512

/** Is its lock time over in a block of a height whose parent has a median time? */
export function isFinal({ lockTime, inputs }: Transaction, height: number, medianTime: number): boolean {
  if (lockTime === 0 || lockTime < (lockTime < LOCKTIME_THRESHOLD ? height : medianTime)) return true
  return inputs.every(({ sequence }) => sequence === FINAL_SEQUENCE)
}

/** Where a coin is, or will be: the height of its block, and the median time of the parent of that block. */
export interface CoinTime {
  readonly height: number
  medianTime(): number
}

/** Are the relative locks of all inputs over in a block of a height whose parent has a median time? */
export function areSequencesOver(
  { version, inputs }: Transaction,
  coins: readonly CoinTime[],
  height: number,
  medianTime: number,
): boolean {
  // As unsigned, versions below zero are large.
  if (version >>> 0 < 2) return true
  return coins.every((coin, i) => {
    const sequence = inputs[i]?.sequence ?? FINAL_SEQUENCE
    if (sequence >= SEQUENCE.DISABLED) return true
    const length = sequence & SEQUENCE.MASK
    if ((sequence & SEQUENCE.IS_TIME) === 0) return coin.height + length <= height
    return coin.medianTime() + length * TIME_UNIT <= medianTime
  })
}
