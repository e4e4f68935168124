/** 0x01000006: the Bridge to the parent chain, with the local network's settings (docs/internals/protocol.md#66-bridge). */
import { FEDERATORS, isFreeBridgeTransaction } from '../../../chain/bridge-senders.ts'
import { PRECOMPILE_ADDRESS } from '../../../chain/config.ts'
import { toNumber } from '../../../encoding/bytes.ts'
import { keccak256 } from '../../../encoding/hash.ts'
import { NodeError } from '../../../errors.ts'
import type { MethodContract } from '../method-contract.ts'
import { type PrecompileEnvironment, PrecompileFailure } from '../precompile.ts'
import { FEDERATION_CHANGE_METHODS } from './federation-change.ts'
import { HeaderChain } from './header-chain.ts'
import { HEADER_METHODS } from './header-methods.ts'
import { Arguments, argumentReader, type BridgeMethod } from './method.ts'
import { REGISTRATION_METHODS } from './registration.ts'
import { RELEASE_METHOD } from './release.ts'
import { SETTING_METHODS } from './setting-votes.ts'
import { STATE_METHODS } from './state-methods.ts'
import { BridgeStore } from './store.ts'
import { UNION_METHODS } from './union.ts'
import { RETIRED_SIGNATURES, UNSIMULATED_METHODS } from './unsimulated-methods.ts'
import { WHITELIST_METHODS } from './whitelist.ts'

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
    ...STATE_METHODS,
    ...REGISTRATION_METHODS,
    ...FEDERATION_CHANGE_METHODS,
    ...WHITELIST_METHODS,
    ...SETTING_METHODS,
    ...UNION_METHODS,
    ...UNSIMULATED_METHODS,
  ].map((method) => [
    selectorOf(method.signature),
    { method, readArguments: argumentReader(method.signature) },
  ]),
)

const RETIRED: ReadonlyMap<number, string> = new Map(
  RETIRED_SIGNATURES.map((signature) => [selectorOf(signature), signature]),
)

/** Gas of input that calls no method. */
const MISS_GAS = 23_000n
const GAS_PER_BYTE = 2n

/** `undefined` for data that call no method: unknown or switched off, or with malformed arguments. */
function prepare(input: Uint8Array): Prepared | undefined {
  if (input.length === 0) return { method: RELEASE_METHOD, args: new Arguments([]) }
  if (input.length < 4) return undefined
  const entry = ENTRIES.get(toNumber(input.subarray(0, 4)))
  if (entry === undefined) return undefined
  try {
    return { method: entry.method, args: entry.readArguments(input.subarray(4)) }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function missMessage(input: Uint8Array): string {
  const retired = input.length < 4 ? undefined : RETIRED.get(toNumber(input.subarray(0, 4)))
  return retired === undefined ? 'no such method, or malformed arguments' : `${retired} is switched off`
}

/** Throws PrecompileFailure for a caller, or a way of calling, that the method refuses. */
function checkCaller(method: BridgeMethod, env: PrecompileEnvironment): void {
  if (method.isLocalOnly && !env.isLocal) {
    throw new PrecompileFailure(`${method.signature} answers simulations only`)
  }
  if (env.kind !== 'call' && !(env.kind === 'staticcall' && method.isView)) {
    throw new PrecompileFailure(`${method.signature} does not serve a ${env.kind}`)
  }
  if (method.isForFederators && !FEDERATORS.has(env.caller)) {
    throw new PrecompileFailure(`${method.signature} serves members of the federation only`)
  }
}

/** The cells and headers that one call reads and changes: the gas of a method may read them before it runs. */
interface CallState {
  readonly store: BridgeStore
  readonly headers: HeaderChain
}

const callStates = new WeakMap<PrecompileEnvironment, CallState>()

function stateOf(env: PrecompileEnvironment): CallState {
  let state = callStates.get(env)
  if (state === undefined) {
    const store = new BridgeStore(env.storage)
    state = { store, headers: new HeaderChain(env.storage, store) }
    callStates.set(env, state)
  }
  return state
}

/** Answers a view of the Bridge whose cells are another node's; throws PrecompileFailure where that fails. */
export type BridgeView = (input: Uint8Array, env: PrecompileEnvironment) => Uint8Array

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
      const gas = prepare(input)?.method.gas ?? MISS_GAS
      return typeof gas === 'bigint' ? gas + GAS_PER_BYTE * BigInt(input.length) : MISS_GAS
    },
    run(input, env) {
      const call = prepare(input)
      if (call === undefined) throw new PrecompileFailure(missMessage(input))
      const { method } = call
      checkCaller(method, env)
      if (!method.isView || typeof method.gas !== 'bigint') throw refusal(method, env)
      return view(input, env)
    },
  }
}

/** The contract. A transaction of a federator or voter pays no gas; a simulation has no signature to prove one. */
export const bridge: MethodContract = {
  methodGas(input, env) {
    if (env.isTop && !env.isLocal && isFreeBridgeTransaction(env.caller, PRECOMPILE_ADDRESS.bridge)) return 0n
    const call = prepare(input)
    if (call === undefined) return MISS_GAS
    const { gas } = call.method
    const price = typeof gas === 'bigint' ? gas : gas(call.args, stateOf(env).headers)
    return price + GAS_PER_BYTE * BigInt(input.length)
  },
  run(input, env) {
    const call = prepare(input)
    if (call === undefined) throw new PrecompileFailure(missMessage(input))
    const { method, args } = call
    checkCaller(method, env)
    if (method.run === undefined) {
      const notice = `the Bridge failed on ${method.signature}: transactions of the parent chain are not simulated`
      throw new PrecompileFailure(notice, { isNotSimulated: true })
    }
    const { store, headers } = stateOf(env)
    const output = method.run({ args, headers, store, env })
    store.save()
    return output
  },
}
