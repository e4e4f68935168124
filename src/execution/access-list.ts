/** The accounts and storage slots that a message would read and write, as EIP-2930 lists them. */
import { ZERO_ADDRESS } from '../chain/account.ts'
import { contractAddress } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import { PRECOMPILES } from '../evm/precompiles/table.ts'
import type { StateReader } from '../state/model.ts'
import { messageCall, type Simulation, type SimulationParts } from './message-call.ts'

/** A touched account and its touched slots, in the order of first touch. */
export interface AccessEntry {
  readonly address: Hex
  readonly slots: readonly bigint[]
}

/** The accounts and slots that a message touched, and its result. */
export interface AccessList {
  readonly entries: readonly AccessEntry[]
  readonly simulation: Simulation
}

/** A reader that records its reads. An overlay reads each account and slot from it once, whatever frames revert. */
function recording(state: StateReader): { reader: StateReader; touched: Map<Hex, Set<bigint>> } {
  const touched = new Map<Hex, Set<bigint>>()
  const slotsOf = (address: Hex): Set<bigint> => {
    const known = touched.get(address) ?? new Set<bigint>()
    touched.set(address, known)
    return known
  }
  return {
    touched,
    reader: {
      account(address) {
        slotsOf(address)
        return state.account(address)
      },
      cell(address, slot) {
        slotsOf(address).add(slot)
        return state.cell(address, slot)
      },
      storage(address, slot) {
        slotsOf(address).add(slot)
        return state.storage(address, slot)
      },
      cells: (address) => state.cells(address),
      code: (hash) => state.code(hash),
    },
  }
}

/**
 * Runs a message and lists what it touched. Sender and receiver are named by the transaction itself, so they are listed
 * only for their slots; precompiled contracts and created ones are never listed. Throws as `messageCall` does.
 */
export async function createAccessList(parts: SimulationParts): Promise<AccessList> {
  const { reader, touched } = recording(parts.state)
  const simulation = await messageCall({ ...parts, state: reader })
  const { from = ZERO_ADDRESS, to } = parts.request
  const receiver = to ?? contractAddress(from, parts.state.account(from)?.nonce ?? 0n)
  const precompiles = parts.env.precompiles ?? PRECOMPILES
  const entries: AccessEntry[] = []
  for (const [address, slots] of touched) {
    const named = address === from || address === receiver
    if (precompiles.has(address) || (named && slots.size === 0)) continue
    entries.push({ address, slots: [...slots] })
  }
  return { entries, simulation }
}
