/**
 * Call objects as typed transactions (RSKIP-543, 545, 546). Where the next block takes none, the members that only these
 * have are ignored, as the reference node ignores them.
 */
import { isNamespaced, NAMESPACE, TYPE } from '../chain/transaction-types.ts'
import { type FeeFields, typedFields } from '../chain/typed-transaction.ts'
import type { Engine } from '../engine/engine.ts'
import { invalidParams } from '../errors.ts'
import type { CallArgument } from './wire/call.ts'
import {
  AccessListMember,
  AuthorizationsMember,
  type TypedMembers,
  TypedQuantity,
} from './wire/typed-call.ts'

/** Does the next block take typed transactions (RSKIP-543)? */
export function takesTyped(engine: Pick<Engine, 'config' | 'queries'>): boolean {
  return nextRules(engine).typedTransactions
}

function nextRules({ config, queries }: Pick<Engine, 'config' | 'queries'>) {
  return config.rulesAt(queries.head().block.header.number + 1)
}

/** The members of a typed transaction, read. */
interface Given extends FeeFields {
  readonly type: bigint | undefined
  readonly subtype: bigint | undefined
}

function readGiven(members: TypedMembers = {}, maxFeePerGas: bigint | undefined, name: string): Given {
  const { type, rskSubtype, maxPriorityFeePerGas, accessList, authorizationList } = members
  return {
    type: TypedQuantity.read(type, `${name}.type`),
    subtype: TypedQuantity.read(rskSubtype, `${name}.rskSubtype`),
    maxFeePerGas,
    maxPriorityFeePerGas: TypedQuantity.read(maxPriorityFeePerGas, `${name}.maxPriorityFeePerGas`),
    accessList:
      accessList === undefined ? undefined : AccessListMember.read(accessList, `${name}.accessList`),
    authorizations:
      authorizationList === undefined
        ? undefined
        : AuthorizationsMember.read(authorizationList, `${name}.authorizationList`),
  }
}

/** The type that the members stand for. */
function impliedType({ authorizations, maxFeePerGas, maxPriorityFeePerGas, accessList }: Given): number {
  if (authorizations !== undefined) return TYPE.setCode
  if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) return TYPE.feeMarket
  return accessList === undefined ? TYPE.legacy : TYPE.accessList
}

const TYPES: readonly number[] = Object.values(TYPE)

/** The type of a call object. Throws `invalid-params` for one that does not exist, in the reference node's words. */
function typeOf(given: Given): number {
  const { type, subtype } = given
  if (subtype !== undefined) {
    if (type === undefined) throw invalidParams('RSK subtype cannot be provided without a transaction type')
    if (type !== BigInt(TYPE.feeMarket)) {
      throw invalidParams(
        `rskSubtype can only be used with type 0x02 (RSK namespace), got type: 0x${type.toString(16)}`,
      )
    }
    if (subtype >= 0x80n) throw invalidParams(`Invalid RSK subtype: 0x${subtype.toString(16)}`)
    return NAMESPACE + Number(subtype)
  }
  if (type === undefined) return impliedType(given)
  const known = TYPES.find((one) => BigInt(one) === type)
  if (known === undefined) throw invalidParams(`Invalid transaction type: 0x${type.toString(16)}`)
  return known
}

/** Throws `invalid-params` for members that a transaction of the type does not have. */
function checkMembers(type: number, { accessList = [], authorizations }: Given, name: string): void {
  const has = { lists: type !== TYPE.legacy && !isNamespaced(type), authorizations: type === TYPE.setCode }
  if (!has.lists && accessList.length > 0) {
    throw invalidParams(`Invalid ${name}.accessList: expected type 0x1, 0x2 or 0x4.`)
  }
  if (!has.authorizations && authorizations !== undefined) {
    throw invalidParams(`Invalid ${name}.authorizationList: expected type 0x4.`)
  }
}

/** Maximum fee and priority fee, each by the other where it is absent, and both by `price` where both are. */
function feesOf({ maxFeePerGas, maxPriorityFeePerGas }: Given, price: bigint | undefined) {
  const most = maxFeePerGas ?? maxPriorityFeePerGas ?? price
  return { maxFeePerGas: most, maxPriorityFeePerGas: maxPriorityFeePerGas ?? most }
}

/**
 * The request of a call object, with the type of its transaction; `price` is that of a typed one which names none, and
 * `name` what messages call the object. Throws `invalid-params`.
 */
export function typedRequest(
  asked: CallArgument,
  engine: Pick<Engine, 'config' | 'queries'>,
  price: () => bigint | undefined,
  name = 'transaction',
): CallArgument {
  if (asked.typedMembers === undefined && asked.maxFeePerGas === undefined) return asked
  const { typedMembers, ...call } = asked
  const { maxFeePerGas } = call
  if (!takesTyped(engine)) return call
  const given = readGiven(typedMembers, maxFeePerGas, name)
  const type = typeOf(given)
  checkMembers(type, given, name)
  if (type === TYPE.legacy) return call
  if (isNamespaced(type)) return { ...call, type }
  const { accessList, authorizations } = given
  const fees = feesOf(given, call.gasPrice ?? price())
  const isMarket = type !== TYPE.accessList
  const typed = typedFields({ accessList, authorizations, ...(isMarket && fees) })
  const gasPrice = isMarket ? fees.maxPriorityFeePerGas : (call.gasPrice ?? fees.maxFeePerGas)
  return { ...call, ...(gasPrice !== undefined && { gasPrice }), type, typed }
}

/** A call object that names neither a type nor a price as one of type 2, where blocks take those (RSKIP-546): geth fills it so. */
export function asFeeMarket(call: CallArgument, engine: Pick<Engine, 'config' | 'queries'>): CallArgument {
  const { gasPrice, typedMembers } = call
  if (gasPrice !== undefined || typedMembers?.type !== undefined || !nextRules(engine).zeroBaseFee)
    return call
  if (typedMembers?.authorizationList !== undefined) return call
  return { ...call, typedMembers: { ...typedMembers, type: TYPE.feeMarket } }
}

/**
 * A message to simulate, with the type of its transaction; `name` is what messages call it. Its price is the lower of two,
 * and that of the simulation where it names none.
 */
export function simulatedRequest(
  call: CallArgument,
  engine: Pick<Engine, 'config' | 'queries'>,
  name?: string,
): CallArgument {
  return typedRequest(call, engine, () => undefined, name)
}
