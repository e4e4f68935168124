/** Authorizations of a set-code transaction (RSKIP-545, EIP-7702): an account's consent to run the code of another address. */
import { fromBigInt, toBigInt } from '../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import type { RlpItem } from '../encoding/rlp.ts'
import { ADDRESS_BYTES } from './account.ts'
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
