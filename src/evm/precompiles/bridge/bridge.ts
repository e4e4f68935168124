/** 0x01000006: the Bridge to the parent chain (docs/internals/protocol.md#66-bridge). */
import type { IsActive } from '../../../chain/activations.ts'
import { isFreeBridgeTransaction } from '../../../chain/bridge-senders.ts'
import { PRECOMPILE_ADDRESS } from '../../../chain/config.ts'
import { RULE_HEIGHTS } from '../../../chain/shipped-networks.ts'
import { EMPTY, toNumber } from '../../../encoding/bytes.ts'
import { keccak256 } from '../../../encoding/hash.ts'
import { NodeError } from '../../../errors.ts'
import type { MethodContract } from '../method-contract.ts'
import { type PrecompileEnvironment, PrecompileFailure } from '../precompile.ts'
import type { BridgeNetwork } from './constants/network.ts'
import { REGTEST } from './constants/regtest.ts'
import { FEDERATION_CHANGE_METHODS } from './federation/change.ts'
import { Federations } from './federation/federations.ts'
import { FEDERATION_METHODS } from './federation/methods.ts'
import { HeaderChain } from './headers/header-chain.ts'
import { HEADER_METHODS } from './headers/methods.ts'
import { Arguments, argumentReader, type BridgeMethod, type BridgeState } from './method.ts'
import { PEGIN_METHODS } from './pegin/methods.ts'
import { PEGOUT_METHODS } from './pegout/methods.ts'
import { RELEASE_METHOD } from './pegout/release.ts'
import { FederationCells } from './storage/federation-cells.ts'
import { PegCells } from './storage/peg-cells.ts'
import { BridgeStore } from './storage/store.ts'
import { UNION_METHODS } from './union/union.ts'
import { SETTING_METHODS } from './votes/settings.ts'
import { WHITELIST_METHODS } from './votes/whitelist.ts'

interface Entry {
  readonly method: BridgeMethod
  readonly readArguments: (data: Uint8Array) => Arguments
}

/** A call with its method and arguments. */
interface Prepared {
  readonly method: BridgeMethod
  readonly args: Arguments
}

function selectorOf(signature: string): number {
  return toNumber(keccak256(new TextEncoder().encode(signature)).subarray(0, 4))
}

const ENTRIES: ReadonlyMap<number, Entry> = new Map(
  [
    RELEASE_METHOD,
    ...HEADER_METHODS,
    ...PEGIN_METHODS,
    ...PEGOUT_METHODS,
    ...FEDERATION_METHODS,
    ...FEDERATION_CHANGE_METHODS,
    ...WHITELIST_METHODS,
    ...SETTING_METHODS,
    ...UNION_METHODS,
  ].map((method) => [
    selectorOf(method.signature),
    { method, readArguments: argumentReader(method.signature) },
  ]),
)

/** Gas of input that calls no method. */
const MISS_GAS = 23_000n
const GAS_PER_BYTE = 2n

function isOffered({ since, until }: BridgeMethod, isActive: IsActive): boolean {
  return (since === undefined || isActive(since)) && (until === undefined || !isActive(until))
}

function entryOf(input: Uint8Array): Entry | undefined {
  return input.length < 4 ? undefined : ENTRIES.get(toNumber(input.subarray(0, 4)))
}

/** `undefined` for data that call no method: unknown or not in force, or with malformed arguments. */
function prepare(input: Uint8Array, isActive: IsActive): Prepared | undefined {
  if (input.length === 0) return { method: RELEASE_METHOD, args: new Arguments([]) }
  const entry = entryOf(input)
  if (entry === undefined || !isOffered(entry.method, isActive)) return undefined
  try {
    return { method: entry.method, args: entry.readArguments(input.subarray(4)) }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function missMessage(input: Uint8Array, isActive: IsActive): string {
  const method = entryOf(input)?.method
  return method === undefined || isOffered(method, isActive)
    ? 'no such method, or malformed arguments'
    : `${method.signature} is switched off`
}

/** Throws PrecompileFailure for a way of calling that the method refuses. */
function checkKind(method: BridgeMethod, env: PrecompileEnvironment, isActive: IsActive): void {
  const { isLocalOnly = false, isView, signature } = method
  const isLocal = typeof isLocalOnly === 'string' ? !isActive(isLocalOnly) : isLocalOnly
  if (isLocal && isActive('rskip88') && !env.isLocal) {
    throw new PrecompileFailure(`${signature} answers simulations only`)
  }
  if (isActive('rskip417') && env.kind !== 'call' && !(env.kind === 'staticcall' && isView)) {
    throw new PrecompileFailure(`${signature} does not serve a ${env.kind}`)
  }
}

/** Throws PrecompileFailure for a caller that the method refuses. */
function checkCaller(
  { servesOnly, isPublic, signature }: BridgeMethod,
  env: PrecompileEnvironment,
  state: BridgeState,
): void {
  const { federations, isActive } = state
  if (servesOnly === undefined || isPublic?.(isActive)) return
  const served =
    servesOnly === 'signers' ? [...federations.live(), federations.proposed()] : federations.live()
  if (!federations.isMember(env.caller, served)) {
    throw new PrecompileFailure(`${signature} serves members of the federation only`)
  }
}

/** The Bridge as a call finds it. */
export function openBridge(
  env: Pick<PrecompileEnvironment, 'storage' | 'number'>,
  network: BridgeNetwork,
  isActive: IsActive,
): BridgeState {
  const store = new BridgeStore(env.storage)
  const federationCells = new FederationCells(store, { network, isActive })
  const peg = new PegCells(store, isActive)
  const federations = new Federations({ cells: federationCells, network, isActive, number: env.number })
  const headers = new HeaderChain({
    storage: env.storage,
    store,
    network,
    isActive,
    federations,
    number: env.number,
  })
  return { network, isActive, store, headers, peg, federationCells, federations }
}

/**
 * No result. Before RSKIP-417 it is none at all: code that calls cannot take it before RSKIP-150, and again since
 * RSKIP-197, and the call fails.
 */
function nothing(env: PrecompileEnvironment, isActive: IsActive): Uint8Array {
  const isTaken = isActive('rskip417') || (isActive('rskip150') && !isActive('rskip197'))
  if (!env.isTop && !isTaken)
    throw new PrecompileFailure('a method without a result cannot be called by code')
  return EMPTY
}

/** Runs what may find malformed data of the parent chain. Throws PrecompileFailure in place of a RangeError. */
function failing<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof RangeError) throw new PrecompileFailure(error.message)
    throw error
  }
}

/** Gas of a call without that of its data. Of cells that cannot be read it is that of a miss: the call fails on them. */
function priceOf({ method: { gas }, args }: Prepared, state: () => BridgeState): bigint {
  if (typeof gas === 'bigint') return gas
  try {
    return gas(args, state())
  } catch (error) {
    if (error instanceof RangeError) return MISS_GAS
    throw error
  }
}

/** Answers a view of the Bridge whose cells are another node's; throws PrecompileFailure where that fails. */
export type BridgeView = (input: Uint8Array, env: PrecompileEnvironment) => Uint8Array

const ALL_RULES: IsActive = (rule) => RULE_HEIGHTS.regtest[rule] !== undefined

/**
 * The contract on a fork: another node answers the views, whose cells cannot be fetched, and nothing is written. A write
 * throws `upstream`; where `isPast`, which is in a block of the other node, it fails with a notice, so that the
 * transactions behind it can be run.
 */
export function bridgeOver(
  view: BridgeView,
  isPast: (env: PrecompileEnvironment) => boolean,
): MethodContract {
  const refusal = ({ signature }: BridgeMethod, env: PrecompileEnvironment) => {
    const text = `${signature} cannot be simulated on a fork: the state of the Bridge is that of the upstream, which a fork only reads`
    return isPast(env)
      ? new PrecompileFailure(text, { isNotSimulated: true })
      : new NodeError('upstream', text)
  }
  return {
    methodGas(input) {
      const gas = prepare(input, ALL_RULES)?.method.gas ?? MISS_GAS
      return typeof gas === 'bigint' ? gas + GAS_PER_BYTE * BigInt(input.length) : MISS_GAS
    },
    run(input, env) {
      const call = prepare(input, ALL_RULES)
      if (call === undefined) throw new PrecompileFailure(missMessage(input, ALL_RULES))
      const { method } = call
      checkKind(method, env, ALL_RULES)
      if (!method.isView || typeof method.gas !== 'bigint') throw refusal(method, env)
      return view(input, env)
    },
  }
}

/**
 * The contract on a network while these rules are in force. A transaction of a federator or voter pays no gas while the
 * network is set up; a simulation has no signature to prove one.
 */
export function createBridge(network: BridgeNetwork, isActive: IsActive): MethodContract {
  /** The gas of a method may read cells before it runs: both see the same ones. */
  const states = new WeakMap<PrecompileEnvironment, BridgeState>()
  const stateOf = (env: PrecompileEnvironment): BridgeState => {
    const state = states.get(env) ?? openBridge(env, network, isActive)
    states.set(env, state)
    return state
  }
  const isFree = (env: PrecompileEnvironment): boolean =>
    env.isTop &&
    !env.isLocal &&
    !isActive('areBridgeTxsPaid') &&
    isFreeBridgeTransaction(env.caller, PRECOMPILE_ADDRESS.bridge, network.senders)
  return {
    methodGas(input, env) {
      if (isFree(env)) return 0n
      const call = prepare(input, isActive)
      if (call === undefined) return MISS_GAS
      return priceOf(call, () => stateOf(env)) + GAS_PER_BYTE * BigInt(input.length)
    },
    run(input, env) {
      const call = prepare(input, isActive)
      if (call === undefined) {
        if (!isActive('rskip88')) return nothing(env, isActive)
        throw new PrecompileFailure(missMessage(input, isActive))
      }
      const { method, args } = call
      checkKind(method, env, isActive)
      return failing(() => {
        const state = stateOf(env)
        checkCaller(method, env, state)
        const output = method.run({ ...state, args, env })
        state.store.save()
        return output.length === 0 ? nothing(env, isActive) : output
      })
    },
  }
}

/** The contract on the local network, with every rule that it has in force. */
export const bridge: MethodContract = createBridge(REGTEST, ALL_RULES)
