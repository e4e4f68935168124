/** The members of call objects that only typed transactions have (RSKIP-543, 545, 546). */
import { z } from 'zod'
import type { AccessList } from '../../chain/access-list.ts'
import type { Authorization } from '../../chain/authorization.ts'
import { toHex } from '../../encoding/hex.ts'
import { arrayOf, mapped, named, object, orNull, type Parameter } from '../parameter.ts'
import { Address, Quantity, sizedData } from './scalars.ts'

/** A member that is read only where blocks take typed transactions. */
function deferred(description: string): Parameter<unknown> {
  return { schema: () => z.unknown().describe(description), read: (value) => value }
}

/** As the caller wrote them: where blocks take no typed transactions they are ignored, whatever they are. */
export const TYPED_MEMBERS = {
  type: deferred('QUANTITY: type of the transaction; ignored where the chain has legacy ones only'),
  rskSubtype: deferred("QUANTITY: second byte of a type of the chain's namespace, beside type 0x2"),
  maxPriorityFeePerGas: deferred('QUANTITY: wei per gas, of types 2 and 4'),
  accessList: deferred('array of { address, storageKeys }, of types 1, 2 and 4'),
  authorizationList: deferred('array of { chainId, address, nonce, yParity, r, s }, of type 4'),
}

/** These members. */
export type TypedMembers = Readonly<Partial<Record<keyof typeof TYPED_MEMBERS, unknown>>>

const quantity = named(Quantity, 'a number, in hex with 0x or in decimal digits')
const address = named(Address, 'an address')

/** A price or a type; nothing stands for itself. */
export const TypedQuantity: Parameter<bigint | undefined> = {
  schema: () => quantity.schema().nullish(),
  read: (value, name) => (value === undefined || value === null ? undefined : quantity.read(value, name)),
}

const Word = mapped(named(sizedData(32, 32), '32 bytes in hex'), toHex)
const Keys = orNull(arrayOf(Word, { indexed: true }), [])
const Entry = object({ address, storageKeys: Keys }, { required: ['address'] })

/** An access list; null is an empty one. */
export const AccessListMember: Parameter<AccessList> = mapped(
  orNull(arrayOf(Entry, { indexed: true }), []),
  (entries) => entries.map(({ address, storageKeys = [] }) => ({ address, storageKeys })),
)

const Tuple = object(
  { chainId: quantity, address, nonce: quantity, yParity: quantity, r: quantity, s: quantity },
  { required: ['chainId', 'address', 'nonce', 'yParity', 'r', 's'] },
)

/** Authorizations (EIP-7702); their bounds are those of the bytes that they become. */
export const AuthorizationsMember: Parameter<readonly Authorization[]> = mapped(
  arrayOf(Tuple, { indexed: true }),
  (tuples) => tuples.map((tuple) => ({ ...tuple, yParity: Number(tuple.yParity) })),
)
