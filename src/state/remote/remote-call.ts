/** Calls that the upstream runs: their outputs, and what they touch. */
import { type Hex, lowerCaseHex, toHex, toQuantity } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { RpcCall, RpcFailure } from '../../upstream/replies.ts'
import { type Asker, isUnserved, keyOf } from './asker.ts'
import type { BlockCache } from './cache/block-cache.ts'
import { canonicalCall, checkCanonical } from './capabilities.ts'
import type { RemoteBlockId, RemoteCall, StateItem } from './model.ts'
import { Data, readAnswer, WireAccessList, WireHeader, WirePrestate } from './wire.ts'

/** Where a call runs. */
export interface CallPlace {
  readonly block: RemoteBlockId
  /** Names the block in a call. */
  readonly parameter: unknown
  /** Is the parameter a height, which is the block's only as long as the chain is not reorganised? */
  readonly isChecked: boolean
  readonly asker: Asker
  readonly cache: BlockCache
}

/** The methods that list what a call touches. The first call finds out which of them the upstream serves. */
export interface HintMethods {
  /** Those still to be tried, the cheaper first. */
  untried: ('eth_createAccessList' | 'debug_traceCall')[]
}

/** None was tried yet. */
export function untriedHints(): HintMethods {
  return { untried: ['eth_createAccessList', 'debug_traceCall'] }
}

/** The call object. Hints leave out the gas price, with which the call could fail for lack of balance. */
function callObject({ from, to, gas, gasPrice, value, data }: RemoteCall, withPrice: boolean): object {
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && to !== null && { to }),
    ...(gas !== undefined && withPrice && { gas: toQuantity(gas) }),
    ...(gasPrice !== undefined && withPrice && { gasPrice: toQuantity(gasPrice) }),
    ...(value !== undefined && { value: toQuantity(value) }),
    ...(data !== undefined && { data: toHex(data) }),
  }
}

/** The payload of a revert in an error: at its data, or below it as Hardhat and Parity have it. */
function revertData(data: unknown): Hex | undefined {
  const text = typeof data === 'object' && data !== null && 'data' in data ? data.data : data
  const [found] = typeof text === 'string' ? (/0x([0-9a-f]{2})*$/i.exec(text) ?? []) : []
  return found === undefined ? undefined : lowerCaseHex(found)
}

/** A call's error: a revert is the call's own outcome, anything else is the upstream's. */
function callFailure({ message, data }: RpcFailure, origin: string): NodeError {
  const payload = revertData(data)
  if (payload !== undefined || /revert|VM Exception|transaction failed/i.test(message)) {
    return new NodeError('reverted', message, payload)
  }
  return new NodeError('upstream', `The upstream ${origin} refused eth_call: ${message}`)
}

/** The output of a call after a block. Throws `reverted`, or `upstream`. */
export async function runCall(call: RemoteCall, place: CallPlace): Promise<Uint8Array> {
  const { block, asker, cache, parameter, isChecked } = place
  const request: RpcCall = { method: 'eth_call', params: [callObject(call, true), parameter] }
  const what = `the output of a call of ${call.to ?? 'new code'} at block ${block.number}`
  const known = cache.memory.answer(keyOf(request))
  const check = canonicalCall(block.number)
  const calls = isChecked && known === undefined ? [request, check] : [request]
  const [outcome, canonical] = known === undefined ? await asker.send(calls, what) : [{ result: known.value }]
  if (canonical !== undefined) {
    const found = 'result' in canonical && canonical.result !== null ? canonical.result : undefined
    const header = found && readAnswer(WireHeader, found, check.method, asker.origin())
    checkCanonical(block, header?.hash, asker.origin())
  }
  if (outcome !== undefined && 'error' in outcome) throw callFailure(outcome.error, asker.origin())
  const output = readAnswer(Data, outcome?.result, 'eth_call', asker.origin())
  cache.put([{ kind: 'answer', key: keyOf(request), value: outcome?.result }])
  return output
}

function fromAccessList(result: unknown, origin: string): StateItem[] {
  const { accessList } = readAnswer(WireAccessList, result, 'eth_createAccessList', origin)
  return accessList.flatMap(({ address, storageKeys }) => [
    { kind: 'account' as const, address },
    ...(storageKeys ?? []).map((slot) => ({ kind: 'cell' as const, address, slot })),
  ])
}

function fromPrestate(result: unknown, origin: string): StateItem[] {
  const accounts = readAnswer(WirePrestate, result, 'debug_traceCall', origin)
  return Object.entries(accounts).flatMap(([key, { storage }]) => {
    const address = lowerCaseHex(key)
    const slots = Object.keys(storage ?? {})
    return [
      { kind: 'account' as const, address },
      ...slots.map((slot) => ({ kind: 'cell' as const, address, slot: BigInt(slot) })),
    ]
  })
}

/** What a call touches after a block, by the first method that the upstream serves; nothing where it serves none. */
export async function hintOf(call: RemoteCall, place: CallPlace, methods: HintMethods): Promise<StateItem[]> {
  const { block, parameter, asker, cache } = place
  if (asker.isOffline) return []
  const object = callObject(call, false)
  for (;;) {
    const [method] = methods.untried
    if (method === undefined) return []
    const params =
      method === 'debug_traceCall' ? [object, parameter, { tracer: 'prestateTracer' }] : [object, parameter]
    const [outcome] = await asker.sendCached(
      [{ method, params }],
      cache,
      `what a call touches at block ${block.number}`,
    )
    if (outcome === undefined) return []
    if ('error' in outcome) {
      // A call that fails there may run here; only a method that is not served is not asked again.
      if (!isUnserved(outcome.error)) return []
      if (methods.untried[0] === method) methods.untried = methods.untried.slice(1)
      continue
    }
    const read = method === 'debug_traceCall' ? fromPrestate : fromAccessList
    return read(outcome.result, asker.origin())
  }
}
