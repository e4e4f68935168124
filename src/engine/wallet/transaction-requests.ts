/** Makes transactions from requests: fills in absent members, then signs. */
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
import type { TransactionRequest } from '../model.ts'
import type { Pool } from '../pool/pool.ts'
import type { Accounts } from './accounts.ts'

/** Gas limit of a request without one (docs/internals/rpc-reference.md#75-sending). */
const DEFAULT_SEND_GAS = 90_000n

interface Parts {
  readonly config: ChainConfig
  readonly pool: Pool
  readonly accounts: Accounts
  readonly impersonation: Impersonation
  readonly headState: () => StateReader
}

/** Makes transactions from requests. */
export interface Requests {
  /** Signs with a 32-byte key, that of the sender's account unless given. Throws `invalid-params` when there is none. */
  sign(request: TransactionRequest, key?: Uint8Array): Transaction
  /** Signs with the sender's key, or without one gives an impersonated sender a placeholder signature. Throws as `sign` does. */
  toSend(request: TransactionRequest): Transaction
  /** Signs with the sender's key where there is one; every other sender gets a placeholder signature. */
  toSendUnsigned(request: TransactionRequest): Transaction
}

/** Makes them for the accounts of a node. */
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
      type: request.type,
      typed: request.typed,
    }
  }

  function sign(request: TransactionRequest, key = accounts.key(request.from)): Transaction {
    if (key === undefined) throw invalidParams(`Could not find account for address: ${request.from}`)
    return signTransaction(filled(request), key, request.from)
  }

  return {
    sign,
    toSend(request) {
      const { from } = request
      const isImpersonated = accounts.key(from) === undefined && impersonation.covers(from)
      return isImpersonated ? impersonatedTransaction(filled(request), from) : sign(request)
    },
    toSendUnsigned(request) {
      const key = accounts.key(request.from)
      return key === undefined ? impersonatedTransaction(filled(request), request.from) : sign(request, key)
    },
  }
}
