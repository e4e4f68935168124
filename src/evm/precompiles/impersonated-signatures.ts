/** ECRECOVER with signatures that a development client declared to be those of an address. */
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import { padLeft } from '../../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../encoding/hex.ts'
import { inputSlice, type Precompile } from './precompile.ts'

/** Signers by signature: r, s and v (27 or 28) in hex, without regard to what was signed. */
export type ImpersonatedSignatures = ReadonlyMap<Hex, Hex>

/** Precompiled contracts, ECRECOVER looking at these signatures first. */
export function precompilesWith(
  precompiles: ReadonlyMap<Hex, Precompile>,
  signatures: ImpersonatedSignatures,
): ReadonlyMap<Hex, Precompile> {
  const own = precompiles.get(PRECOMPILE_ADDRESS.ecrecover)
  if (own === undefined) throw new Error('the chain has no ECRECOVER')
  const ecrecover: Precompile = {
    ...own,
    run(input, env) {
      if (signatures.size === 0) return own.run(input, env)
      const [r, s] = [inputSlice(input, 64, 32), inputSlice(input, 96, 32)]
      const v = inputSlice(input, 63, 1)
      const signer = signatures.get(`${toHex(r)}${toHex(s).slice(2)}${toHex(v).slice(2)}`)
      return signer === undefined ? own.run(input, env) : padLeft(fromHex(signer), 32)
    },
  }
  return new Map(precompiles).set(PRECOMPILE_ADDRESS.ecrecover, ecrecover)
}
