/** Finds the storage slot behind the answer of a view function, such as the balance of a token. */
import { type Hex, toHex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { Vm } from '../../evm/rules.ts'
import { createAccessList } from '../../execution/access-list.ts'
import { messageCall } from '../../execution/message-call.ts'
import { overridden } from '../../execution/overrides.ts'
import type { CallRequest } from '../../execution/request.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import type { Lookup } from './lookup.ts'

/** Words that are tried one after another in a slot; no token answers them by chance. */
const PROBES = [0x1d2c_3b4a_5968_77n, 0x0f1e_2d3c_4b5a_69n]

/** A storage slot of an account. */
export interface StorageSlot {
  readonly address: Hex
  readonly slot: bigint
}

/** Searches for storage slots. */
export interface ValueSlots {
  /**
   * The slot, in any contract, whose word a message returns on the state after the head; `undefined` when there is
   * none, as where the answer is computed from several. Throws `limit-exceeded` at the time limit.
   */
  valueSlot(request: CallRequest, timeoutMs?: number): Promise<StorageSlot | undefined>
}

interface Parts extends ChainAccess {
  readonly lookup: Lookup
  readonly vm: Vm
  readonly callGasCap: bigint
  /** Time limit of searches without one of their own, milliseconds; 0 is no limit. */
  readonly timeoutMs: number
}

/** Makes the search of a node: the slots that the message reads are overridden one after another. */
export function createValueSlots(parts: Parts): ValueSlots {
  const { blockchain, lookup, vm } = parts
  return {
    async valueSlot(request, timeoutMs = parts.timeoutMs) {
      const end = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY
      const { head } = blockchain
      const common = {
        request,
        state: lookup.stateAfter(head),
        env: environmentAt(head.block.header, parts),
        vm,
        gasCap: parts.callGasCap,
      }
      const within = () => {
        const deadlineMs = end - performance.now()
        if (deadlineMs <= 0) throw new NodeError('limit-exceeded', 'the search takes too long')
        return Number.isFinite(deadlineMs) ? { deadlineMs } : {}
      }

      async function answers(address: Hex, slot: bigint, word: bigint): Promise<boolean> {
        const stateOverrides = new Map([[address, { stateDiff: new Map([[slot, word]]) }]])
        const place = overridden(common, { stateOverrides }, vm)
        const { failure, output } = await messageCall({ ...common, ...place, ...within() })
        return failure === undefined && output.length === 32 && BigInt(toHex(output)) === word
      }

      const { entries } = await createAccessList({ ...common, ...within() })
      for (const { address, slots } of entries) {
        for (const slot of slots) {
          let isFound = true
          for (const probe of PROBES) isFound &&= await answers(address, slot, probe)
          if (isFound) return { address, slot }
        }
      }
      return undefined
    },
  }
}
