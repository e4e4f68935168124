/** Asks the upstream for proofs of what it answered, and refuses what they contradict. */
import type { ChainConfig } from '../../chain/config.ts'
import { type Hex, toFixedHex } from '../../encoding/hex.ts'
import { messageOf } from '../../store/identity.ts'
import { type Asker, isUnserved } from './asker.ts'
import type { CacheRecord } from './cache/records.ts'
import { blockParameter, type Capabilities } from './capabilities.ts'
import type { RemoteBlockId, RemoteHeader, StateItem } from './model.ts'
import type { RpcCall, RpcOutcome } from './replies.ts'
import { contradiction, readEthereumProof, readOwnProof, slotsOf, WireProof } from './state-proofs.ts'
import { readAnswer, wrongAnswer } from './wire.ts'

/** What proving takes. */
export interface VerificationParts {
  readonly asker: Asker
  readonly config: ChainConfig
  readonly capabilities: Capabilities
  readonly isSameFamily: boolean
  /** A header of the upstream's chain; of this family one whose bytes hash to its hash. */
  headerByHash(hash: Hex): Promise<RemoteHeader | undefined>
  readonly notice: (message: string) => void
}

/** Makes the check. State that cannot be proven is taken as it was answered, which a notice states once. */
export function createVerification({
  asker,
  config,
  capabilities,
  isSameFamily,
  ...parts
}: VerificationParts) {
  let isNoted = false

  function noteUnproven(why: string): void {
    if (isNoted) return
    isNoted = true
    parts.notice(`The state of the fork is not proven by the upstream ${asker.origin()}: ${why}.`)
  }

  return async function verify(
    block: RemoteBlockId,
    items: readonly StateItem[],
    records: readonly CacheRecord[],
  ): Promise<void> {
    const stateRoot = (await parts.headerByHash(block.hash))?.header.stateRoot
    if (stateRoot === undefined || (isSameFamily && !config.rulesAt(block.number).unifiedTrie)) {
      return noteUnproven(`the header of block ${block.number} has no root of the present trie`)
    }
    const slots = [...slotsOf(items)]
    const at = blockParameter(block, capabilities.anchor)
    const calls = slots.map(([address, own]): RpcCall => {
      return { method: 'eth_getProof', params: [address, own.map((slot) => toFixedHex(slot, 32)), at] }
    })
    const outcomes = await asker.send(calls, `proofs of the state of block ${block.number}`)
    for (const [index, [address, own]] of slots.entries()) {
      const outcome = outcomes[index] as RpcOutcome
      if ('error' in outcome) {
        noteUnproven(isUnserved(outcome.error) ? 'it serves no eth_getProof' : outcome.error.message)
        continue
      }
      const proof = readAnswer(WireProof, outcome.result, 'eth_getProof', asker.origin())
      const read = isSameFamily ? readOwnProof : readEthereumProof
      const wrong = (what: string) => wrongAnswer(asker.origin(), `at block ${block.number} ${what}`)
      let proven: Awaited<ReturnType<typeof read>>
      try {
        proven = await read(stateRoot, address, own, proof)
      } catch (error) {
        throw wrong(
          `the proof of ${address} does not lead to the state root ${stateRoot} (${messageOf(error)})`,
        )
      }
      for (const record of records) {
        const isOfAccount = record.kind !== 'code' && record.kind !== 'answer' && record.address === address
        const what = isOfAccount ? contradiction(record, proven) : undefined
        if (what !== undefined) throw wrong(what)
      }
    }
  }
}
