/** The variables of contracts that changed between two states. */
import { type VariableChange, variableChanges } from '../abi/storage/changes.ts'
import { VariableError } from '../abi/storage/path.ts'
import type { SeenWords } from '../abi/storage/seen-words.ts'
import type { Hex } from '../encoding/hex.ts'
import type { StateReader } from '../state/model.ts'
import { type LayoutAt, layoutOf } from './variables.ts'

/** Hashes of all searches of one answer, some 35 ms. */
const MOST_HASHES = 16_384
/** Slots that are read for all values of one answer. */
const MOST_READS = 65_536

/** Names the changed variables of the accounts of one answer, as far as its bounds allow. */
export class VariableChanges {
  readonly #before: StateReader
  readonly #after: StateReader
  readonly #layoutAt: LayoutAt
  readonly #words: readonly bigint[]
  readonly #budget = { hashes: MOST_HASHES }
  #reads = 0

  /** `words` were seen in the calls that made the changes: possible keys of mappings. */
  constructor(before: StateReader, after: StateReader, layoutAt: LayoutAt, words: SeenWords) {
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
      this.#reads += 1
      if (this.#reads > MOST_READS) throw new VariableError(`more than ${MOST_READS} slots are read`)
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
