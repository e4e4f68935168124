/**
 * Finds the block that a caller named, or its state, with the reference node's refusals
 * (docs/internals/rpc-reference.md#31-block-parameters, docs/internals/rpc-reference.md#32-eip-1898).
 */
import type { Engine, Queries } from '../engine/engine.ts'
import type { BlockView } from '../engine/model.ts'
import { invalidParams, NodeError } from '../errors.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { StateReader } from '../state/model.ts'
import type { BlockArgument } from './wire/block-reference.ts'

function notFound(argument: BlockArgument): NodeError {
  return new NodeError('block-not-found', `${argument.label} not found`)
}

/** Throws `block-not-found` when there is no such block, or when it must be canonical and is not. Reads no block. */
export function requireKnown(argument: BlockArgument, queries: Queries): void {
  const { reference } = argument
  if ('number' in reference) {
    if (reference.number > queries.head().block.header.number) throw notFound(argument)
  } else if ('hash' in reference) {
    const canonical = queries.isCanonical(reference.hash)
    if (canonical === undefined) throw notFound(argument)
    if (!canonical && reference.requireCanonical === true) {
      throw new NodeError('block-not-found', `${argument.label} is not canonical and it is required`)
    }
  }
}

/** As `requireKnown`; calls refuse a height above the head with another message: `invalid-params`. */
export function requireCallable(block: BlockArgument, queries: Queries): void {
  const { reference } = block
  if ('number' in reference && reference.number > queries.head().block.header.number) {
    throw invalidParams(`Invalid block number ${reference.number}`)
  }
  requireKnown(block, queries)
}

/** As `requireKnown`, with the error of eth_simulateV1, which the reference node does not have: `base-not-found`. */
export function requireBase(block: BlockArgument, queries: Queries): void {
  try {
    requireKnown(block, queries)
  } catch (error) {
    if (!(error instanceof NodeError) || error.kind !== 'block-not-found') throw error
    throw new NodeError('base-not-found', `header not found (${error.message})`)
  }
}

/** The result of `read` on the state after a block, without a promise if the state is in memory. Throws, or rejects with, `block-not-found`. */
export function readState<T>(
  argument: BlockArgument,
  { queries }: Engine,
  read: (state: StateReader) => T,
): MaybePromise<T> {
  requireKnown(argument, queries)
  const readIn = (state: StateReader | undefined) => {
    if (state === undefined) throw notFound(argument)
    return read(state)
  }
  const state = queries.state(argument.reference)
  return andThen(state, readIn)
}

/** The state after a block. Throws `block-not-found`. */
export async function stateAt(argument: BlockArgument, engine: Engine): Promise<StateReader> {
  return readState(argument, engine, (state) => state)
}

/** A block. Throws `block-not-found`. */
export async function blockAt(argument: BlockArgument, engine: Engine): Promise<BlockView> {
  const view = await engine.queries.block(argument.reference)
  if (view === undefined) throw notFound(argument)
  return view
}
