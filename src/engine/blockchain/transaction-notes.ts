/** Gathers what is heard of transactions only while they run: why they failed, and what they said. */
import { loadAbiCodec } from '../../abi/codec.ts'
import { consoleText } from '../../abi/console.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { ErrorNames } from '../error-names.ts'
import type { TransactionNotes } from '../events.ts'
import type { BlockWithState } from './blockchain.ts'

/** Console calls as text. The first time ever, the library that decodes is loaded. */
export async function consoleTexts(calls: readonly Uint8Array[]): Promise<string[]> {
  const codec = await loadAbiCodec()
  return calls.map((payload) => consoleText(payload, codec))
}

/** Notes of the transactions of these blocks by hash; `undefined` when none failed or said anything. */
export async function notesOf(
  branch: readonly BlockWithState[],
  named: ErrorNames,
): Promise<ReadonlyMap<Hex, TransactionNotes> | undefined> {
  let notes: Map<Hex, TransactionNotes> | undefined
  for (const { block, outcomes = [] } of branch) {
    for (let i = 0; i < outcomes.length; i++) {
      const outcome = outcomes[i]
      const transaction = block.block.transactions[i]
      if (outcome === undefined || transaction === undefined) continue
      const { failure, consoleCalls } = outcome
      if (failure === undefined && consoleCalls === undefined) continue
      notes ??= new Map()
      notes.set(transaction.hash, {
        ...(failure && { failure: named(failure, transaction.to) }),
        ...(consoleCalls && { console: await consoleTexts(consoleCalls) }),
      })
    }
  }
  return notes
}
