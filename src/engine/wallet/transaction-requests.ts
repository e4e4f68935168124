/** From what a caller asks to be sent to a transaction: what it left out is filled in, then it is signed. */
import type { ChainConfig } from '../../chain/config.ts'
import {
  impersonatedTransaction,
  signTransaction,
  type Transaction,
  type UnsignedTransaction,
} from '../../chain/transaction.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import { invalidParams } from '../../errors.ts'
import type { StateReader } from '../../state/model.ts'
import type { Impersonation } from '../dev/impersonation.ts'
import type { TransactionRequest } from '../engine.ts'
import type { Pool } from '../pool/pool.ts'
import type { Accounts } from './accounts.ts'

/** Gas of a transaction to send that names none (docs/rpc-reference.md#75-sending). */
const DEFAULT_SEND_GAS = 90_000n

interface Parts {
  readonly config: ChainConfig
  readonly pool: Pool
  readonly accounts: Accounts
  readonly impersonation: Impersonation
  readonly headState: () => StateReader
}

/** Makes transactions of requests. */
export interface Requests {
  /** Signed with a key, that of the sender's account unless given. Throws `invalid-params` where there is none. */
  sign(request: TransactionRequest, key?: Uint8Array): Transaction
  /** Signed where there is a key, else with a stand-in where the sender is impersonated. Throws as `sign` does. */
  toSend(request: TransactionRequest): Transaction
}

/** Makes them for the accounts of one node. */
export function createRequests({ config, pool, accounts, impersonation, headState }: Parts): Requests {
  function filled(request: TransactionRequest): UnsignedTransaction {
    return {
      nonce: request.nonce ?? pool.nextNonce(request.from, headState()),
      gasPrice: request.gasPrice ?? 0n,
      gasLimit: request.gas ?? DEFAULT_SEND_GAS,
      to: request.to ?? null,
      value: request.value ?? 0n,
      data: request.data ?? EMPTY,
      chainId: config.chainId,
    }
  }

  function sign(request: TransactionRequest, key = accounts.key(request.from)): Transaction {
    if (key === undefined) throw invalidParams(`Could not find account for address: ${request.from}`)
    return signTransaction(filled(request), key)
  }

  return {
    sign,
    toSend(request) {
      const { from } = request
      const standsIn = accounts.key(from) === undefined && impersonation.covers(from)
      return standsIn ? impersonatedTransaction(filled(request), from) : sign(request)
    },
  }
}
