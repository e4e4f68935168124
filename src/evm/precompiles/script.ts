/** Scripts of the parent chain. */
import { concat } from '../../encoding/bytes.ts'

const OP_1 = 0x51
const OP_CHECKMULTISIG = 0xae

/** Pushes up to 75 bytes. */
export function push(data: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(data.length), data)
}

/** So many of the keys, at most 16, must sign (BIP-11). */
export function multisig(required: number, keys: readonly Uint8Array[]): Uint8Array {
  return concat(
    Uint8Array.of(OP_1 - 1 + required),
    ...keys.map(push),
    Uint8Array.of(OP_1 - 1 + keys.length, OP_CHECKMULTISIG),
  )
}
