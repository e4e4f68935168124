/** The variables of contracts that changed between two states. */
import { type VariableChange, variableChanges } from '../abi/storage/changes.ts'
import { VariableError } from '../abi/storage/path.ts'
import { SeenWords } from '../abi/storage/seen-words.ts'
import type { SearchBudget } from '../abi/storage/slot-names.ts'
import type { Hex } from '../encoding/hex.ts'
import type { CallFrame } from '../evm/tracing/call-frame.ts'
import type { StateReader } from '../state/model.ts'
import { type LayoutAt, layoutOf } from './variables.ts'

/** Hashes of all searches of one answer, some 35 ms. */
const MOST_HASHES = 16_384
/** Places that all searches of one answer enter, some 60 ms. */
const MOST_PLACES = 131_072
/** Slots that are read for all values of one answer. */
const MOST_READS = 65_536

/** What the searches of one answer may still do; they count it down. */
export interface NamingBudget extends SearchBudget {
  /** Slots. */
  reads: number
}

/** A budget for one answer. */
export function namingBudget(): NamingBudget {
  return { hashes: MOST_HASHES, places: MOST_PLACES, reads: MOST_READS }
}

/** The words of the calls and logs of a transaction. */
export function wordsOf(root: CallFrame | undefined): SeenWords {
  const words = new SeenWords()
  for (const open = root === undefined ? [] : [root]; open.length > 0; ) {
    const frame = open.shift()
    if (frame === undefined || words.isFull) break
    const { kind, from, to, input, logs, calls } = frame
    words.addAddress(from)
    words.addAddress(to)
    if (kind !== 'create' && kind !== 'create2') words.addCallData(input)
    for (const { log } of logs) words.addLog(log)
    open.push(...calls)
  }
  return words
}

/** Names the changed variables of accounts between two states, as far as the budget of the answer allows. */
export class VariableChanges {
  readonly #before: StateReader
  readonly #after: StateReader
  readonly #layoutAt: LayoutAt
  readonly #words: readonly bigint[]
  readonly #budget: NamingBudget

  /** `words` were seen in the calls that made the changes: possible keys of mappings. */
  constructor(
    before: StateReader,
    after: StateReader,
    layoutAt: LayoutAt,
    words: SeenWords,
    budget: NamingBudget = namingBudget(),
  ) {
    this.#budget = budget
    this.#before = before
    this.#after = after
    this.#layoutAt = layoutAt
    this.#words = words.list
  }

  /** The changed variables of an account in these slots; none where its layout is unknown, or its code is gone. */
  of(address: Hex, slots: Iterable<bigint>): readonly VariableChange[] {
    const changed = [...slots]
    const layout = changed.length === 0 ? undefined : layoutOf(this.#after, address, this.#layoutAt)
    if (layout === undefined) return []
    const readIn = (state: StateReader) => (slot: bigint) => {
      this.#budget.reads -= 1
      if (this.#budget.reads < 0) throw new VariableError(`more than ${MOST_READS} slots are read`)
      return state.storage(address, slot)
    }
    const [before, after] = [readIn(this.#before), readIn(this.#after)]
    try {
      return variableChanges(layout, changed, this.#words, before, after, this.#budget)
    } catch (error) {
      if (error instanceof VariableError) return []
      throw error
    }
  }
}
