/** The internal transactions of the library's messages that have begun (evm/internal-transaction.ts). */
import type { Message } from '@ethereumjs/evm'
import { EMPTY_ACCOUNT } from '../chain/account.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { type InternalTransaction, RECORDED_PRECOMPILES } from '../evm/internal-transaction.ts'
import type { Journal } from '../evm/journal.ts'

/** A message that has begun. `recorded` counts before its own internal transaction. */
interface Begun {
  readonly message: Message
  /** The library gives the message of a creation a receiver later. */
  readonly isCreation: boolean
  readonly recorded: number
  readonly nonce: bigint
}

function senderOf({ to, caller, delegatecall }: Message): Hex {
  return (delegatecall && to !== undefined ? to : caller).toString()
}

/** Counts internal transactions as they are recorded, and knows those of the messages that have begun. */
export class InternalPath {
  readonly #journal: Journal
  readonly #begun: Begun[] = []

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** A message begins; the nonce of a creation's sender has been raised. */
  begin(message: Message, isPrecompile: boolean): void {
    const { recorded, state } = this.#journal
    const isCreation = message.to === undefined
    const now = (state.account(senderOf(message)) ?? EMPTY_ACCOUNT).nonce
    this.#begun.push({ message, isCreation, recorded, nonce: isCreation ? now - 1n : now })
    if (!isPrecompile || RECORDED_PRECOMPILES.has(message.codeAddress.toString())) this.#journal.recorded++
  }

  /** The last message that has begun ends. `isCollision`: of a creation at an address that was taken. */
  end(isCollision: boolean): void {
    const begun = this.#begun.pop()
    if (begun?.isCreation !== true) return
    this.#journal.recorded = isCollision ? begun.recorded : begun.recorded + 1
  }

  /** The internal transactions down to the last message; none when the transaction itself has begun it. */
  path(): InternalTransaction[] {
    return this.#begun.slice(1).map(({ message, isCreation, recorded, nonce }, i) => {
      const { to, depth, value, delegatecall, code } = message
      return {
        type: isCreation ? 'create' : 'call',
        nonce,
        sender: senderOf(message),
        receiver: isCreation ? undefined : to?.toString(),
        value: delegatecall ? 0n : value,
        code: code instanceof Uint8Array ? code : EMPTY,
        depth: depth - 1,
        index: recorded - (this.#begun[i]?.recorded ?? 0) - 1,
      }
    })
  }
}
