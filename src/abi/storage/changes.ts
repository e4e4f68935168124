/** Changed slots as changed variables. */
import type { StorageLayout } from './layout.ts'
import { VariableError } from './path.ts'
import { bytesIn, type ReadSlot, readPlace } from './read.ts'
import { nameSlots, type SearchBudget, type SlotName } from './slot-names.ts'

/** A variable's value, as it is shown: integers in decimal, bytes and addresses in hex. */
export type ShownValue = string | boolean

/** A variable, or a part of one, that differs. */
export interface VariableChange {
  readonly path: string
  readonly from: ShownValue
  readonly to: ShownValue
}

/** `undefined` for a text that is longer than what is read, as by a head that is no length. */
function valueAt(layout: StorageLayout, { place }: SlotName, read: ReadSlot): ShownValue | undefined {
  try {
    const value = readPlace(layout, place, read)
    return typeof value === 'boolean' ? value : String(value)
  } catch (error) {
    if (error instanceof VariableError) return undefined
    throw error
  }
}

function isChanged({ place: { slot, offset, type } }: SlotName, before: ReadSlot, after: ReadSlot): boolean {
  if (!('size' in type)) return true
  return bytesIn(before(slot), offset, type.size) !== bytesIn(after(slot), offset, type.size)
}

/**
 * The variables that stand in changed slots and differ; `words` and `budget` as in `nameSlots`. A slot that no known variable stands in
 * is left out.
 */
export function variableChanges(
  layout: StorageLayout,
  slots: Iterable<bigint>,
  words: readonly bigint[],
  before: ReadSlot,
  after: ReadSlot,
  budget?: SearchBudget,
): VariableChange[] {
  const names = [...nameSlots(layout, slots, words, after, budget).values()].flat()
  const changed = new Map(
    names.filter((name) => isChanged(name, before, after)).map((name) => [name.path, name]),
  )
  return [...changed.values()].flatMap((name) => {
    const [from, to] = [valueAt(layout, name, before), valueAt(layout, name, after)]
    // The content of a text may change behind its end.
    return from === undefined || to === undefined || from === to ? [] : { path: name.path, from, to }
  })
}
