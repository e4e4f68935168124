/**
 * Internal transactions: what the reference node records of the calls and creations that code makes. Only their hashes
 * are of use here: the Bridge names the one that called it (docs/internals/protocol.md#66-bridge). They are made when
 * they are asked for, from what the journal notes of each message.
 */
import { EMPTY_ACCOUNT } from '../chain/account.ts'
import { PRECOMPILE_ADDRESS as AT } from '../chain/config.ts'
import { EMPTY, fromBigInt, fromBigIntFixed, fromBigIntSigned } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import { fromHex, type Hex } from '../encoding/hex.ts'
import { frameStrings } from '../encoding/rlp-frame.ts'
import type { Session } from './frame.ts'
import type { Invocation } from './invocation.ts'
import { utf8 } from './precompiles/bridge/events.ts'

/** The precompiled contracts whose calls are recorded, also those that their gas does not pay for. */
export const RECORDED_PRECOMPILES: ReadonlySet<Hex> = new Set([
  AT.bridge,
  AT.remasc,
  AT.hdWalletUtils,
  AT.blockHeader,
  AT.environment,
])

/** A call or creation that code makes. */
export interface InternalTransaction {
  readonly type: 'call' | 'create'
  /** Of the sender, when it makes this; a creation has not raised it yet. */
  readonly nonce: bigint
  readonly sender: Hex
  /** The account whose storage the code uses; absent of a creation. */
  readonly receiver: Hex | undefined
  /** Wei; nothing of a DELEGATECALL. */
  readonly value: bigint
  /** The code that runs; empty of a precompiled contract. */
  readonly code: Uint8Array
  /** Depth of the frame that makes it: 0 of the code that a transaction starts. */
  readonly depth: number
  /** How many internal transactions the frame, and the calls that it made, recorded before; creations count as one each. */
  readonly index: number
}

/** A nonce as the reference node has it, which takes the bytes of a signed integer: none for zero. */
function nonceBytes(nonce: bigint): Uint8Array {
  return nonce === 0n ? EMPTY : fromBigIntSigned(nonce)
}

/**
 * The hash of the last of internal transactions of which each runs the code that makes the next (`getEncoded` of the
 * reference node's `InternalTransaction`). `origin` is the hash of the signed transaction.
 */
export function internalHash(
  path: readonly InternalTransaction[],
  origin: Hex,
  { gasPrice, env }: Pick<Session, 'gasPrice'> & { readonly env: { readonly gasLimit: bigint } },
): Hex {
  let parent = origin
  for (const { type, nonce, sender, receiver, value, code, depth, index } of path) {
    parent = keccakHex(
      frameStrings([
        nonceBytes(nonce),
        fromHex(parent),
        fromHex(sender),
        receiver === undefined ? EMPTY : fromHex(receiver),
        fromBigInt(value),
        fromBigInt(gasPrice),
        fromBigIntFixed(env.gasLimit, 32),
        code,
        utf8(type),
        fromBigInt(BigInt(depth)),
        fromBigInt(BigInt(index)),
        EMPTY,
      ]),
    )
  }
  return parent
}

/** The internal transaction of a message that has begun and not ended; a creation has raised the nonce before that. */
function internalOf({ message, frame }: Invocation, { journal }: Session): InternalTransaction {
  const isCall = 'target' in message
  const isDelegated = isCall && message.kind === 'delegatecall'
  const sender = isDelegated ? message.address : message.caller
  const { index, raised } = journal.placeOf(message.depth, sender)
  const nonce = (journal.state.account(sender) ?? EMPTY_ACCOUNT).nonce - BigInt(raised)
  return {
    type: isCall ? 'call' : 'create',
    nonce: isCall ? nonce : nonce - 1n,
    sender,
    receiver: isCall ? message.address : undefined,
    value: isDelegated ? 0n : message.value,
    code: isCall ? (frame?.code ?? EMPTY) : message.initcode,
    depth: message.depth - 1,
    index,
  }
}

/** The internal transactions of a message and of those above it, the first of which the transaction's own code made. */
export function internalPath(invocation: Invocation, session: Session): InternalTransaction[] {
  const path: InternalTransaction[] = []
  for (let current = invocation; current.parent !== undefined; current = current.parent) {
    path.push(internalOf(current, session))
  }
  return path.reverse()
}
