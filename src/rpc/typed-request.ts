/**
 * Call objects as typed transactions (RSKIP-543, 545, 546). Where the block of a message takes none, the members that only
 * these have are ignored, as the reference node ignores them.
 */
import { isActive } from '../chain/activations.ts'
import type { ChainConfig } from '../chain/config.ts'
import { isNamespaced, NAMESPACE, TYPE, typeRefusal, typeRules } from '../chain/transaction-types.ts'
import { type FeeFields, typedFields } from '../chain/typed-transaction.ts'
import type { Engine } from '../engine/engine.ts'
import type { BlockReference, SimulationOptions } from '../engine/model.ts'
import { invalidParams } from '../errors.ts'
import type { CallArgument } from './wire/call.ts'
import {
  AccessListMember,
  AuthorizationsMember,
  type TypedMembers,
  TypedQuantity,
} from './wire/typed-call.ts'

/** What of an engine decides about types. */
type TypedEngine = Pick<Engine, 'config' | 'queries'>

/** Where a message is simulated. */
interface SimulatedAt {
  readonly reference: BlockReference
  readonly options: Pick<SimulationOptions, 'blockOverrides'>
}

/** Do blocks of this chain take typed transactions at some height (RSKIP-543)? Then their bytes can be read. */
export function readsTyped({ ruleHeights }: Pick<ChainConfig, 'ruleHeights'>): boolean {
  return ruleHeights.rskip543 !== undefined
}

function nextHeight({ queries }: Pick<Engine, 'queries'>): number {
  return queries.head().block.header.number + 1
}

/** Height of the block that a reference names; of the head where there is none, which the query then refuses. */
export function heightOf(reference: BlockReference, { queries }: Pick<Engine, 'queries'>): number {
  return queries.heightOf(reference) ?? queries.head().block.header.number
}

/** Height of the block in which transactions are simulated one after another: the one that overrides name, else the block itself. */
export function sequenceHeight(
  { reference, options: { blockOverrides } }: SimulatedAt,
  engine: Pick<Engine, 'queries'>,
): number {
  return blockOverrides?.number ?? heightOf(reference, engine)
}

/** Height of the block that a simulated message is for: the one that overrides name, else the one above the block whose state it finds. */
export function messageHeight(
  { reference, options: { blockOverrides } }: SimulatedAt,
  engine: Pick<Engine, 'queries'>,
): number {
  if (blockOverrides?.number !== undefined) return blockOverrides.number
  const isPending = 'tag' in reference && reference.tag === 'pending'
  return heightOf(reference, engine) + (isPending ? 0 : 1)
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

/** What a call object becomes a transaction by. */
interface Making {
  /** Of the block that it is for. */
  readonly height: number
  /** Of a typed one that names none, wei per gas. */
  readonly price: () => bigint | undefined
  /** What messages call the object. */
  readonly name: string
}

/** Throws `invalid-params` for a type that the block of a height does not take, in the reference node's words. */
function checkType(type: number, height: number, { ruleHeights }: ChainConfig): void {
  const rules = typeRules((rule) => isActive(ruleHeights, rule, height))
  const reason = typeRefusal(type, rules)
  if (reason !== undefined) throw invalidParams(reason)
}

/** The request of a call object with members of typed transactions, with the type of its transaction. Throws `invalid-params`. */
function madeRequest(
  asked: CallArgument,
  { config }: TypedEngine,
  { height, price, name }: Making,
): CallArgument {
  const { typedMembers, ...call } = asked
  const { maxFeePerGas } = call
  if (!config.rulesAt(height).typedTransactions) return call
  const given = readGiven(typedMembers, maxFeePerGas, name)
  const type = typeOf(given)
  checkMembers(type, given, name)
  checkType(type, height, config)
  if (type === TYPE.legacy) return call
  if (isNamespaced(type)) return { ...call, type }
  const { accessList, authorizations } = given
  const fees = feesOf(given, call.gasPrice ?? price())
  const isMarket = type !== TYPE.accessList
  const typed = typedFields({ accessList, authorizations, ...(isMarket && fees) })
  const gasPrice = isMarket ? fees.maxPriorityFeePerGas : (call.gasPrice ?? fees.maxFeePerGas)
  return { ...call, ...(gasPrice !== undefined && { gasPrice }), type, typed }
}

function isPlain({ typedMembers, maxFeePerGas }: CallArgument): boolean {
  return typedMembers === undefined && maxFeePerGas === undefined
}

/** The request of a call object for the next block, with the type of its transaction. Throws `invalid-params`. */
export function sentRequest(asked: CallArgument, engine: TypedEngine): CallArgument {
  if (isPlain(asked)) return asked
  const price = () => engine.queries.gasPrice()
  return madeRequest(asked, engine, { height: nextHeight(engine), price, name: 'transaction' })
}

/** A call object that names neither a type nor a price as one of type 2, where blocks take those (RSKIP-546): geth fills it so. */
export function asFeeMarket(call: CallArgument, engine: TypedEngine): CallArgument {
  const { gasPrice, typedMembers } = call
  const { zeroBaseFee } = engine.config.rulesAt(nextHeight(engine))
  if (gasPrice !== undefined || typedMembers?.type !== undefined || !zeroBaseFee) return call
  if (typedMembers?.authorizationList !== undefined) return call
  return { ...call, typedMembers: { ...typedMembers, type: TYPE.feeMarket } }
}

/**
 * A message to simulate, with the type of its transaction in the block of a height; `name` is what messages call it. Its
 * price is the lower of two, and that of the simulation where it names none.
 */
export function simulatedRequest(
  call: CallArgument,
  engine: TypedEngine,
  height: () => number,
  name = 'transaction',
): CallArgument {
  if (isPlain(call)) return call
  return madeRequest(call, engine, { height: height(), price: () => undefined, name })
}

/** `simulatedRequest` of a message that stands alone. */
export function placedRequest(
  call: CallArgument,
  engine: TypedEngine,
  place: SimulatedAt,
  name?: string,
): CallArgument {
  return simulatedRequest(call, engine, () => messageHeight(place, engine), name)
}
