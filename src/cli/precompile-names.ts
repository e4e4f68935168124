/** What the chain's native contracts are called in call trees (docs/protocol.md#65-precompiled-contracts). */
import type { Hex } from '../encoding/hex.ts'

const NAMES: ReadonlyMap<Hex, string> = new Map(
  Object.entries({
    '1': 'ecrecover',
    '2': 'sha256',
    '3': 'ripemd160',
    '4': 'identity',
    '5': 'modexp',
    '6': 'ecAdd',
    '7': 'ecMul',
    '8': 'ecPairing',
    '9': 'blake2f',
    '1000006': 'Bridge',
    '1000008': 'FeeCollector',
    '1000009': 'HDWalletUtils',
    '1000010': 'BlockHeader',
    '1000011': 'Environment',
    '1000016': 'secp256k1Add',
    '1000017': 'secp256k1Mul',
  }).map(([digits, name]) => [`0x${digits.padStart(40, '0')}`, name]),
)

/** The name of a native contract by its address; `undefined` for any other. */
export function precompileName(address: Hex): string | undefined {
  return NAMES.get(address)
}
