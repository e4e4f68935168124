/** RLP lists of byte strings, which most of the Bridge's collections are. */
import { asBytes, asList, decodeRlp } from '../../../../encoding/rlp.ts'
import { frameStrings } from '../../../../encoding/rlp-frame.ts'

/** The strings of a list; none for no bytes. */
export function decodeStrings(bytes: Uint8Array | undefined): readonly Uint8Array[] {
  if (bytes === undefined || bytes.length === 0) return []
  return asList(decodeRlp(bytes), 'a cell of the Bridge').map((item) => asBytes(item, 'a member of a cell'))
}

/** RLP of a list of strings. */
export function encodeStrings(strings: readonly Uint8Array[]): Uint8Array {
  return frameStrings(strings)
}

/** The members of a flat list, `size` strings each. What is left at the end is dropped, as the reference node does. */
export function groupsOf(strings: readonly Uint8Array[], size: number): readonly (readonly Uint8Array[])[] {
  const count = Math.floor(strings.length / size)
  return Array.from({ length: count }, (_, i) => strings.slice(i * size, (i + 1) * size))
}
