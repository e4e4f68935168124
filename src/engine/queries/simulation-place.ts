/** Where simulations run: the state and the environment of a block, or of a place among its transactions, with overrides. */
import { NodeError } from '../../errors.ts'
import type { Vm } from '../../evm/rules.ts'
import { type ExecutionPlace, overridden } from '../../execution/overrides.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import type { StateReader } from '../../state/model.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import type { BlockReference, BlockView, HeaderOverrides, SimulationOptions } from '../model.ts'
import type { Lookup } from './lookup.ts'
import type { Replays } from './replay.ts'

/** What finding a place needs. */
export interface PlaceParts extends ChainAccess {
  readonly lookup: Lookup
  readonly replays: Pick<Replays, 'replay'>
  readonly vm: Vm
}

/** The state and the environment in which a message runs. */
export interface SimulationPlace extends ExecutionPlace {
  /** The block by its hash; `pending` stays a tag. */
  readonly at: BlockReference
}

/** A gas cap, or the gas limit that a client has fixed for the next blocks if that is higher. */
export function raisedGasCap(cap: bigint, { gasLimit = 0n }: HeaderOverrides): bigint {
  return gasLimit > cap ? gasLimit : cap
}

/** What a sequence of simulations starts from. */
export interface SequenceStart extends SimulationPlace {
  /** When it has to end, by `performance.now()`, milliseconds. */
  readonly end: number
}

/** The place of a sequence, and its deadline: the time limit of its options, else the node's. Throws as `simulationPlace` does. */
export async function sequenceStart(
  parts: PlaceParts & { readonly timeoutMs: number },
  reference: BlockReference,
  options: SimulationOptions,
): Promise<SequenceStart> {
  const { timeoutMs = parts.timeoutMs } = options
  const end = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY
  return { ...(await simulationPlace(parts, reference, { ...options, timeoutMs })), end }
}

/** The place that a simulation names, at once where nothing waits. Throws `block-not-found`, and `invalid-params` for bad overrides. */
export function simulationPlace(
  parts: PlaceParts,
  reference: BlockReference,
  options: SimulationOptions,
): MaybePromise<SimulationPlace> {
  const { lookup } = parts
  const view = lookup.block(reference)
  const state =
    options.transactionCount === undefined
      ? lookup.state(reference)
      : andThen(view, (found) => stateWithin(parts, reference, found, options))
  if (!(view instanceof Promise) && !(state instanceof Promise)) {
    return placeIn(parts, reference, options, view, state)
  }
  return Promise.all([view, state]).then((found) => placeIn(parts, reference, options, ...found))
}

/** The state after the first transactions of a block; that after the block where it has no more. */
async function stateWithin(
  { lookup, replays }: PlaceParts,
  reference: BlockReference,
  view: BlockView | undefined,
  { transactionCount = 0, timeoutMs }: SimulationOptions,
): Promise<StateReader | undefined> {
  if (view === undefined) return undefined
  const { executed } = view
  if (transactionCount >= executed.block.transactions.length) return lookup.state(reference)
  const replay = await replays.replay(executed, () => undefined, {
    lastIndex: transactionCount - 1,
    timeoutMs,
  })
  return replay.state
}

function placeIn(
  parts: PlaceParts,
  reference: BlockReference,
  options: SimulationOptions,
  view: BlockView | undefined,
  state: StateReader | undefined,
): SimulationPlace {
  if (view === undefined || state === undefined) throw new NodeError('block-not-found', 'Block not found')
  const { hash, block } = view.executed
  const at = view.pending ? reference : { hash }
  const env = environmentAt(block.header, parts)
  if (options.stateOverrides === undefined && options.blockOverrides === undefined) return { state, env, at }
  const place = overridden({ state, env }, options, parts.vm)
  return { state: place.state, env: place.env, at }
}
