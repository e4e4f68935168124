/** Finds the bits of storage behind the answer of a view function, such as the balance of a token. */
import { type Hex, toHex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { Vm } from '../../evm/rules.ts'
import { createAccessList } from '../../execution/access-list.ts'
import { messageCall, type Simulation } from '../../execution/message-call.ts'
import { overridden } from '../../execution/overrides.ts'
import type { CallRequest, StateOverrides } from '../../execution/request.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import type { SimulationOptions } from '../model.ts'
import type { Lookup } from './lookup.ts'
import { findField, type WordField } from './word-field.ts'

/** Bits of a slot that hold a value. */
export interface ValueField extends WordField {
  readonly address: Hex
  readonly slot: bigint
  /** The word that the slot has now. */
  readonly word: bigint
}

/** What a message answers. */
export interface WordAnswer {
  /** Absent where it fails, or answers something else than a word. */
  readonly word?: bigint
  /** Why it fails. */
  readonly failure?: string
}

/** What a search found. */
export interface ValueSearch {
  /** Absent where no slot alone holds what is answered. */
  readonly field?: ValueField
  /** As the state is. */
  readonly answer: WordAnswer
}

type Options = Pick<SimulationOptions, 'stateOverrides' | 'timeoutMs'>

/** Searches for values in storage. */
export interface ValueFields {
  /**
   * The bits of storage that a message answers, in whatever contract they are, on the state after the head with the given
   * overrides. Nothing is written: the slots that the message reads are overridden one after another, in the order of
   * `from`. Throws `limit-exceeded` at the time limit.
   */
  valueField(request: CallRequest, from: 'first' | 'last', options?: Options): Promise<ValueSearch>
  /** What a message answers on the same state. */
  wordAnswer(request: CallRequest, options?: Options): Promise<WordAnswer>
}

interface Parts extends ChainAccess {
  readonly lookup: Lookup
  readonly vm: Vm
  readonly callGasCap: bigint
  /** Time limit of searches without one of their own, milliseconds; 0 is no limit. */
  readonly timeoutMs: number
}

function answerOf({ failure, output }: Simulation): WordAnswer {
  if (failure !== undefined) return { failure: failure.reason }
  return output.length === 32 ? { word: BigInt(toHex(output)) } : {}
}

const slotOverride = (address: Hex, slot: bigint, word: bigint): StateOverrides =>
  new Map([[address, { stateDiff: new Map([[slot, word]]) }]])

/** A message on a state, run again and again until the time limit. */
function openMessage(parts: Parts, request: CallRequest, options: Options = {}) {
  const { blockchain, lookup, vm } = parts
  const { stateOverrides, timeoutMs = parts.timeoutMs } = options
  const end = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY
  const { head } = blockchain
  const env = environmentAt(head.block.header, parts)
  const place = overridden({ state: lookup.stateAfter(head), env }, { stateOverrides }, vm)
  const message = { request, ...place, vm, gasCap: parts.callGasCap }
  const within = () => {
    const deadlineMs = end - performance.now()
    if (deadlineMs <= 0) throw new NodeError('limit-exceeded', 'the search takes too long')
    return Number.isFinite(deadlineMs) ? { deadlineMs } : {}
  }
  return {
    state: place.state,
    accessList: () => createAccessList({ ...message, ...within() }),
    async answer(overrides?: StateOverrides): Promise<WordAnswer> {
      const probed = overridden(place, { stateOverrides: overrides }, vm)
      return answerOf(await messageCall({ ...message, ...probed, ...within() }))
    },
  }
}

/** Makes the search of a node. */
export function createValueFields(parts: Parts): ValueFields {
  return {
    async valueField(request, from, options) {
      const message = openMessage(parts, request, options)
      const { entries, simulation } = await message.accessList()
      const answer = answerOf(simulation)
      const slots = entries.flatMap(({ address, slots: each }) => each.map((slot) => ({ address, slot })))
      for (const { address, slot } of from === 'first' ? slots : slots.reverse()) {
        const word = message.state.storage(address, slot)
        const ask = async (probe: bigint) => (await message.answer(slotOverride(address, slot, probe))).word
        const field = await findField(word, ask)
        if (field !== undefined) return { answer, field: { address, slot, word, ...field } }
      }
      return { answer }
    },
    wordAnswer: async (request, options) => openMessage(parts, request, options).answer(),
  }
}
