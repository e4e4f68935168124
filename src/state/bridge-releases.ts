/** The peg-outs in the Bridge's storage that wait for signatures. */
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import { asBytes, asList, decodeRlp } from '../encoding/rlp.ts'
import { CELL } from './bridge-cells.ts'
import type { StateReader } from './model.ts'
import { cellBytes } from './state-keys.ts'

/** Hashes of the transactions that made them, in the order of their cell: a flat list of hash and release. */
export function releasesToSign(state: StateReader): readonly Hex[] {
  const bytes = cellBytes(state.cell(PRECOMPILE_ADDRESS.bridge, CELL.signingReleases))
  if (bytes.length === 0) return []
  const items = asList(decodeRlp(bytes), 'releases')
  return items.filter((_, i) => i % 2 === 0).map((hash) => toHex(asBytes(hash, 'hash')))
}
