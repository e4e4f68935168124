/** Decoded calls, events and errors, from the names that the node knows. */
import { type Checked, isText, listOf, objectOf, orNull } from './checks.ts'
import { callFor } from './client.ts'
import type { Hex } from './format.ts'
import { may } from './store.ts'

/** `evm_decode`: something to decode. */
export interface DecodeItem {
  readonly kind: 'call' | 'creation' | 'error' | 'event'
  readonly data: Hex
  readonly address?: Hex | undefined
  readonly topics?: readonly Hex[]
  readonly output?: Hex | undefined
}

/** `evm_decode`: its name and arguments as text. */
export const isDecodedItem = objectOf(
  {
    name: isText,
    arguments: listOf(objectOf({ name: isText, type: isText, value: isText })),
    text: isText,
  },
  { output: isText },
)
export type DecodedItem = Checked<typeof isDecodedItem>

const MOST_ITEMS = 1000

/** Decodes in order; null for what no ABI names, and for all where the method is closed. */
export async function decodeAll(
  items: readonly DecodeItem[],
  signal?: AbortSignal,
): Promise<(DecodedItem | null)[]> {
  const outcomes: (DecodedItem | null)[] = []
  for (let at = 0; at < items.length; at += MOST_ITEMS) {
    const part = items.slice(at, at + MOST_ITEMS)
    const decoded = may('evm_decode')
      ? await callFor(listOf(orNull(isDecodedItem)), 'evm_decode', [part], signal)
      : part.map(() => null)
    outcomes.push(...decoded)
  }
  return outcomes
}
