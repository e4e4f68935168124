/** Decoded calls, events and errors, from the names that the node knows. */
import { call } from './client.ts'
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
export interface DecodedItem {
  readonly name: string
  readonly arguments: readonly { readonly name: string; readonly type: string; readonly value: string }[]
  readonly text: string
  readonly output?: string
}

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
      ? await call<(DecodedItem | null)[]>('evm_decode', [part], signal)
      : part.map(() => null)
    outcomes.push(...decoded)
  }
  return outcomes
}
