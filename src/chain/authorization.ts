/** Authorizations of a set-code transaction (RSKIP-545, EIP-7702): an account's consent to run the code of another address. */
import { concat, fromBigInt, oneByte, toBigInt } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { encodeRlp, type RlpItem } from '../encoding/rlp.ts'
import { ADDRESS_BYTES } from './account.ts'
import { CURVE_ORDER, recoverAddress } from './signature.ts'
import { invalidTransaction } from './transaction-types.ts'

/** A tuple of the list; whether it holds is judged when the transaction runs. */
export interface Authorization {
  /** 0: any chain. */
  readonly chainId: bigint
  /** The code to run; the zero address ends a delegation. */
  readonly address: Hex
  /** Of the authorizing account. */
  readonly nonce: bigint
  /** 0 or 1 in a signature that holds. */
  readonly yParity: number
  readonly r: bigint
  readonly s: bigint
}

const EMPTY_LIST = 'Set-code transaction authorization_list must not be empty'
const FIELDS = 6
const WORD_BYTES = 32
const NONCE_BYTES = 8

/** The RLP items of a list. */
export function authorizationItems(list: readonly Authorization[]): RlpItem {
  return list.map(({ chainId, address, nonce, yParity, r, s }) => [
    fromBigInt(chainId),
    fromHex(address),
    fromBigInt(nonce),
    fromBigInt(BigInt(yParity)),
    fromBigInt(r),
    fromBigInt(s),
  ])
}

function readAuthorization(item: RlpItem): Authorization {
  if (item instanceof Uint8Array || item.length !== FIELDS) {
    throw invalidTransaction(`Authorization list tuple must have ${FIELDS} fields`)
  }
  const number = (at: number, name: string, most = WORD_BYTES): bigint => {
    const bytes = item[at]
    if (bytes instanceof Uint8Array && bytes.length <= most && bytes[0] !== 0) return toBigInt(bytes)
    throw invalidTransaction(`Authorization ${name} is not valid`)
  }
  const address = item[1]
  if (!(address instanceof Uint8Array) || address.length !== ADDRESS_BYTES) {
    throw invalidTransaction('Authorization address must be exactly 20 bytes')
  }
  return {
    chainId: number(0, 'chain_id'),
    address: toHex(address),
    nonce: number(2, 'nonce', NONCE_BYTES),
    yParity: Number(number(3, 'y_parity', 1)),
    r: number(4, 'signature r'),
    s: number(5, 'signature s'),
  }
}

/** Reads what `authorizationItems` makes of a list that is not empty. Throws `invalid-params` in the reference node's words. */
export function readAuthorizations(item: RlpItem | undefined): readonly Authorization[] {
  if (item === undefined || item instanceof Uint8Array || item.length === 0) {
    throw invalidTransaction(EMPTY_LIST)
  }
  return item.map(readAuthorization)
}

/** Before the tuple that an authority signs. */
const MAGIC = 5

/** The account that signed an authorization; `undefined` where no account did, or the signature is in the upper half (EIP-2). */
export function authorityOf({ chainId, address, nonce, yParity, r, s }: Authorization): Hex | undefined {
  if (yParity > 1 || s > CURVE_ORDER / 2n) return undefined
  const signed = encodeRlp([fromBigInt(chainId), fromHex(address), fromBigInt(nonce)])
  return recoverAddress(keccak256(concat(oneByte(MAGIC), signed)), r, s, yParity === 1 ? 1 : 0)
}

/** Before the address in the code of an account that delegates. */
const INDICATOR = Uint8Array.of(0xef, 0x01, 0x00)
const INDICATOR_BYTES = INDICATOR.length + ADDRESS_BYTES

/** The code of an account that delegates to an address. */
export function delegationTo(address: Hex): Uint8Array {
  return concat(INDICATOR, fromHex(address))
}

/** The address that code delegates to; `undefined` for any other code. */
export function delegateOf(code: Uint8Array): Hex | undefined {
  if (code.length !== INDICATOR_BYTES || INDICATOR.some((byte, at) => code[at] !== byte)) return undefined
  return toHex(code.subarray(INDICATOR.length))
}
