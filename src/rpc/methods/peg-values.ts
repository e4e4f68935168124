/** What the methods of the peg share. */
import { z } from 'zod'
import { NodeError } from '../../errors.ts'
import type { Peg } from '../../peg/peg.ts'
import { anyText, hex } from '../json-forms.ts'
import type { Context } from '../method.ts'
import { expected, type Parameter, scalar } from '../parameter.ts'

/** The peg of the node. Throws `method-not-found` where it runs no Bitcoin chain. */
export function pegOf({ peg }: Context): Peg {
  if (peg !== undefined) return peg
  throw new NodeError('method-not-found', 'This node runs no Bitcoin chain: start it with --bitcoin.')
}

/** Result: a hash of Bitcoin as its tools write it. */
export const BitcoinHash = z.string().regex(/^[0-9a-f]{64}$/)

/** Result: an amount of satoshi. */
export const SatoshiNumber = z.int().min(0)

export const BitcoinAddress: Parameter<string> = scalar({
  form: anyText(),
  description: 'Bitcoin address of regtest',
  decode: (value) => value,
  refusal: (_, name) => expected(name, 'a Bitcoin address'),
})

/** A hash of Bitcoin in lower case, without `0x`. */
export const BitcoinHashText: Parameter<string> = scalar({
  form: hex({ prefix: 'optional', least: 64, most: 64 }),
  description: 'hash of a Bitcoin transaction, 64 hex digits',
  decode: (value) => value.slice(-64).toLowerCase(),
  refusal: (_, name) => expected(name, 'a hash of 64 hex digits'),
})
