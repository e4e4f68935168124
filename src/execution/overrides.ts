/**
 * State and block overrides of a simulation, applied to a private overlay and to the environment of the code
 * (docs/internals/rpc-reference.md#74-calls-and-estimates).
 */
import { EMPTY_ACCOUNT } from '../chain/account.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'
import { passingCode } from '../evm/code-analysis.ts'
import type { BlockEnvironment } from '../evm/message.ts'
import type { Precompile } from '../evm/precompiles/precompile.ts'
import type { Vm } from '../evm/rules.ts'
import type { StateReader } from '../state/model.ts'
import { Overlay } from '../state/overlay.ts'
import type { AccountOverride, BlockOverrideValues, Overrides, StateOverrides } from './request.ts'
import { putVariables } from './variables.ts'

/** Where code runs: the state that it reads, and the block. */
export interface ExecutionPlace {
  readonly state: StateReader
  readonly env: BlockEnvironment
}

/** The same place with overrides; `state` is an overlay over the given one where a state override is made. Throws `invalid-params`. */
export function overridden(
  { state, env }: ExecutionPlace,
  { stateOverrides, blockOverrides }: Overrides,
  vm: Pick<Vm, 'rulesAt'>,
): ExecutionPlace {
  const block = blockOverrides === undefined ? env : overriddenBlock(env, blockOverrides)
  if (stateOverrides === undefined || stateOverrides.size === 0) return { state, env: block }
  const overlay = new Overlay(state)
  return { state: overlay, env: applyOverrides(overlay, block, stateOverrides, vm) }
}

/** A block with overrides. */
export function overriddenBlock(env: BlockEnvironment, overrides: BlockOverrideValues): BlockEnvironment {
  const { blockHashes, ...fields } = overrides
  if (blockHashes === undefined) return { ...env, ...fields }
  return { ...env, ...fields, ancestorHash: (height) => blockHashes.get(height) ?? env.ancestorHash(height) }
}

/**
 * Writes state overrides account by account in the order given. Returns the block with the precompiled contracts where
 * they stand then. `name` is what error messages call the overrides. Throws `invalid-params`.
 */
export function applyOverrides(
  overlay: Overlay,
  env: BlockEnvironment,
  overrides: StateOverrides,
  vm: Pick<Vm, 'rulesAt'>,
  name = 'stateOverrides',
): BlockEnvironment {
  const precompiles = movedPrecompiles(overrides, env.precompiles ?? vm.rulesAt(env.number).precompiles, name)
  for (const [address, override] of overrides) applyOverride(overlay, address, override)
  return precompiles === undefined ? env : { ...env, precompiles }
}

/** The precompiled contracts after the moves; `undefined` where nothing moves. */
function movedPrecompiles(
  overrides: StateOverrides,
  own: ReadonlyMap<Hex, Precompile>,
  name: string,
): ReadonlyMap<Hex, Precompile> | undefined {
  let moved: Map<Hex, Precompile> | undefined
  let targets: Set<Hex> | undefined
  for (const [address, { movePrecompileToAddress: target, code, replacesPrecompile }] of overrides) {
    const contract = own.get(address)
    if (target === undefined) {
      if (contract === undefined) continue
      if (replacesPrecompile === undefined) throw invalidParams('Precompiled contracts can not be overridden')
      if (code === undefined) continue
    }
    moved ??= new Map(own)
    moved.delete(address)
    if (target === undefined) continue
    const path = `${name}.${address}.movePrecompileToAddress`
    if (contract === undefined) throw invalidParams(`${path}: ${address} is not a precompiled contract`)
    if (overrides.has(target)) {
      throw invalidParams('Precompiled contracts can not be moved to an overridden address')
    }
    targets ??= new Set()
    if (targets.has(target)) throw invalidParams(`${path}: another one is moved to ${target} already`)
    targets.add(target)
    moved.set(target, { ...contract, account: contract.account ?? address })
  }
  return moved
}

function applyOverride(overlay: Overlay, address: Hex, override: AccountOverride): void {
  const { balance, nonce, code, state, stateDiff, variables } = override
  if (state !== undefined && stateDiff !== undefined) {
    throw invalidParams(`'state' and 'stateDiff' of ${address} can not be set at the same time`)
  }
  // An override without changes, and that of a contract which is only moved, makes no account.
  const slots = stateDiff?.size === 0 ? undefined : stateDiff
  if ((balance ?? nonce ?? code ?? state ?? slots ?? variables) === undefined) return
  const known = overlay.account(address)
  if (known === undefined || balance !== undefined || nonce !== undefined) {
    const account = known ?? EMPTY_ACCOUNT
    overlay.putAccount(address, {
      ...account,
      balance: balance ?? account.balance,
      nonce: nonce ?? account.nonce,
    })
  }
  if (code !== undefined) overlay.putCode(address, passingCode(code))
  if (state !== undefined) overlay.clearStorage(address)
  for (const [slot, value] of state ?? slots ?? []) overlay.putStorage(address, slot, value)
  if (variables !== undefined) putVariables(overlay, address, variables)
}
