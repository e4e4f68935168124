/** Failures and console calls of executed code as text, decoded with the registered ABIs. */
import { loadAbiCodec } from '../abi/codec.ts'
import { consoleText } from '../abi/console.ts'
import { type AbiRegistry, decodedText } from '../abi/registry.ts'
import type { Hex } from '../encoding/hex.ts'
import { type Failure, REVERTED } from '../evm/failure-message.ts'
import type { BlockWithState } from './blockchain/blockchain.ts'
import type { TransactionNotes } from './model.ts'

/** Adds the name and arguments of a custom error to the reason of a failed message to `to`; unchanged when its ABI is not registered. */
export type NameFailure = (failure: Failure, to: Hex | null) => Failure

/** Names failures by a registry: appended to the reference node's text, which clients match. */
export function createFailureNaming(names: AbiRegistry): NameFailure {
  return (failure, to) => {
    if (failure.reason !== REVERTED || names.isEmpty) return failure
    const error = names.error(failure.output, to ?? undefined)
    return error === undefined ? failure : { ...failure, reason: `${REVERTED}: ${decodedText(error)}` }
  }
}

/** Payloads of console calls as text. The first call loads the decoding library. */
export async function consoleTexts(calls: readonly Uint8Array[]): Promise<string[]> {
  const codec = await loadAbiCodec()
  return calls.map((payload) => consoleText(payload, codec))
}

/** Notes on the transactions of these blocks by hash; `undefined` when none failed or wrote to the console. */
export async function notesOf(
  branch: readonly BlockWithState[],
  nameFailure: NameFailure,
): Promise<ReadonlyMap<Hex, TransactionNotes> | undefined> {
  let notes: Map<Hex, TransactionNotes> | undefined
  for (const { block, result } of branch) {
    const outcomes = result?.outcomes ?? []
    for (let i = 0; i < outcomes.length; i++) {
      const outcome = outcomes[i]
      const transaction = block.block.transactions[i]
      if (outcome === undefined || transaction === undefined) continue
      const { failure, consoleCalls } = outcome
      if (failure === undefined && consoleCalls === undefined) continue
      notes ??= new Map()
      notes.set(transaction.hash, {
        ...(failure && { failure: nameFailure(failure, transaction.to) }),
        ...(consoleCalls && { console: await consoleTexts(consoleCalls) }),
      })
    }
  }
  return notes
}
