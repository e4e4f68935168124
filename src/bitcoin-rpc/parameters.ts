/** Parameters that many methods have. */
import { z } from 'zod'
import { ByteReader } from '../bitcoin/byte-reader.ts'
import { transactionSizes } from '../bitcoin/chain/block.ts'
import { MAX_WEIGHT } from '../bitcoin/chain/regtest.ts'
import type { StoredBlock } from '../bitcoin/chain/state.ts'
import { fromDigits } from '../bitcoin/displayed-hash.ts'
import { decodeKey, type PrivateKey } from '../bitcoin/private-key.ts'
import { scriptOfAddress } from '../bitcoin/regtest-address.ts'
import { compressedKey } from '../bitcoin/signature.ts'
import { readTransaction, type Transaction } from '../bitcoin/transaction.ts'
import { ADDRESS_TYPES, type AddressType } from '../bitcoin/wallet/model.ts'
import { isHexDigits } from '../encoding/hex.ts'
import { satoshiOf } from './amount.ts'
import type { Context } from './method.ts'
import { CODE, RpcFailure } from './rpc-failure.ts'

export const text = z.string()
export const integer = z.number().int()
export const flag = z.boolean()
/** Coins, as a number or a text; satoshi. */
export const amount = z.union([z.number(), z.string()]).transform(satoshiOf)
/** False, true, or a level. */
export const level = z.union([z.boolean(), integer]).transform(Number)
/** Amounts by address, or a list of such objects; `data` is a data output. */
export const outputs = z.union([
  z.record(z.string(), z.unknown()),
  z.array(z.record(z.string(), z.unknown())),
])

/** A hash of 64 hex digits; `what` names it in messages. Throws a failure with code -8. */
export function hashOf(value: string, what: string): string {
  if (value.length !== 64)
    throw new RpcFailure(
      CODE.PARAMETER,
      `${what} must be of length 64 (not ${value.length}, for '${shown(value)}')`,
    )
  if (!isHexDigits(value))
    throw new RpcFailure(CODE.PARAMETER, `${what} must be hexadecimal string (not '${shown(value)}')`)
  return value.toLowerCase()
}

/** A text of a client in a message: not longer than a line. */
export function shown(value: string): string {
  return value.length > 100 ? `${value.slice(0, 100)}…` : value
}

/** Bytes of hex digits. Throws a failure with the code, -8 by default. */
export function bytesOf(value: string, what: string, code: number = CODE.PARAMETER): Uint8Array {
  if (value.length % 2 !== 0 || !isHexDigits(value))
    throw new RpcFailure(code, `${what} must be hexadecimal string (not '${shown(value)}')`)
  return fromDigits(value)
}

/** The transaction of hex digits. Throws a failure with code -22. */
export function transactionOf(value: string): Transaction {
  const failure = () =>
    new RpcFailure(CODE.DESERIALIZATION, 'TX decode failed. Make sure the tx has at least one input.')
  if (value.length % 2 !== 0 || !isHexDigits(value)) throw failure()
  const bytes = fromDigits(value)
  try {
    const { transaction, size } = readTransaction(bytes)
    if (size === bytes.length) return transaction
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  const transaction = readWithoutInputs(bytes)
  if (transaction === undefined) throw failure()
  return transaction
}

/** The same for a transaction that is shown or signed, and has to fit into a block. Throws a failure with code -22. */
export function includableOf(value: string): Transaction {
  const transaction = transactionOf(value)
  if (transactionSizes(transaction).weight > MAX_WEIGHT)
    throw new RpcFailure(CODE.DESERIALIZATION, 'TX decode failed. The transaction is larger than a block.')
  return transaction
}

/** A transaction without inputs, which looks like one with witness. */
function readWithoutInputs(bytes: Uint8Array): Transaction | undefined {
  const reader = new ByteReader(bytes)
  try {
    const version = reader.uint32()
    if (reader.byte() !== 0) return undefined
    const outputs = Array.from({ length: reader.count(9) }, () => ({
      value: reader.int64(),
      script: reader.string(),
    }))
    const transaction = { version, inputs: [], outputs, lockTime: reader.uint32() }
    return reader.remaining === 0 ? transaction : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The block of a hash. Throws a failure with code -5. */
export function blockOf({ bitcoin }: Context, hash: string): StoredBlock {
  const block = bitcoin.chain.state.blocks.get(hashOf(hash, 'blockhash'))
  if (block === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Block not found')
  return block
}

/** The script of an address. Throws a failure with code -5. */
export function scriptFor(address: string, message = 'Invalid Bitcoin address'): Uint8Array {
  const script = scriptOfAddress(address)
  if (script === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, message)
  return script
}

/** A private key in text form. Throws a failure with code -5. */
export function privateKeyOf(value: string): PrivateKey {
  const key = decodeKey(value)
  if (key === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Invalid private key')
  return key
}

/** A public key in hex digits. Throws a failure with code -5. */
export function publicKey(value: string): Uint8Array {
  const isOfLength = value.length === 66 || value.length === 130
  if (!isOfLength || !isHexDigits(value))
    throw new RpcFailure(CODE.ADDRESS_OR_KEY, `Pubkey must be a hex string: ${shown(value)}`)
  const key = fromDigits(value)
  if (compressedKey(key) === undefined)
    throw new RpcFailure(CODE.ADDRESS_OR_KEY, `Invalid public key: ${shown(value)}`)
  return key
}

/** A kind of address. Throws a failure with code -5. */
export function addressTypeOf(value: string | undefined): AddressType {
  if (value === undefined || value === '') return 'bech32'
  const type = ADDRESS_TYPES.find((name) => name === value)
  if (type === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, `Unknown address type '${shown(value)}'`)
  return type
}
