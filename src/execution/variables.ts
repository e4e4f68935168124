/** Variables of a contract, by name: its storage layout by the code that runs there, reads and writes. */
import type { StorageLayout } from '../abi/storage/layout.ts'
import { VariableError } from '../abi/storage/path.ts'
import { MOST_SLOTS, readVariable } from '../abi/storage/read.ts'
import type { VariableValue } from '../abi/storage/value-type.ts'
import { variableWrites } from '../abi/storage/write.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'
import type { StateReader } from '../state/model.ts'
import type { Overlay } from '../state/overlay.ts'
import { codeAt, codeChain } from './proxies.ts'

/** Finds the layout of the contract at an address; `code` is the code there. */
export type LayoutAt = (address: Hex, code?: Uint8Array) => StorageLayout | undefined

/** Variables to write. */
export interface NamedVariables {
  /** By path, as `balances[0x…]`; written in this order. */
  readonly values: ReadonlyMap<string, VariableValue>
  readonly layoutAt: LayoutAt
  /** What the caller calls the variables; errors begin with it. */
  readonly path: string
}

const WAYS = 'give its artifact with storageLayout by --abi or evm_setAbi'

/** The layout by which the storage of an account is used: behind a proxy the implementation's. `undefined` when unknown. */
export function layoutOf(state: StateReader, address: Hex, layoutAt: LayoutAt): StorageLayout | undefined {
  const registered = layoutAt(address)
  if (registered !== undefined) return registered
  const chain = codeChain(state, address)
  for (const contract of chain.toReversed()) {
    const layout = layoutAt(contract, codeAt(state, contract))
    // A proxy that keeps all its variables in slots of ERC-1967 has an empty layout.
    const isUsed = layout !== undefined && (layout.variables.length > 0 || chain.length === 1)
    if (isUsed) return layout
  }
  return undefined
}

/** The same. Throws `invalid-params` where it is unknown, with `path` in front. */
export function requireLayout(
  state: StateReader,
  address: Hex,
  layoutAt: LayoutAt,
  path: string,
): StorageLayout {
  const layout = layoutOf(state, address, layoutAt)
  if (layout !== undefined) return layout
  const implementation = codeChain(state, address).at(-1) ?? address
  if (codeAt(state, implementation) === undefined) {
    throw invalidParams(`${path}: there is no contract at ${implementation}`)
  }
  const of = implementation === address ? '' : `, the implementation of the proxy ${address},`
  throw invalidParams(`${path}: the storage layout of ${implementation}${of} is not known; ${WAYS}`)
}

/** Runs work on variables. Throws `invalid-params` in place of a `VariableError`, with `path` in front. */
function under<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof VariableError) throw invalidParams(`${path}.${error.message}`)
    throw error
  }
}

/**
 * Writes variables, one after another. Throws `invalid-params`, with part of them written, where the layout is unknown,
 * a name or a value does not fit it, or they take more than 65,536 slots.
 */
export function putVariables(state: Overlay, address: Hex, { values, layoutAt, path }: NamedVariables): void {
  if (values.size === 0) return
  const layout = requireLayout(state, address, layoutAt, path)
  let slots = 0
  for (const [name, value] of values) {
    const writes = under(path, () =>
      variableWrites(layout, name, value, (slot) => state.storage(address, slot)),
    )
    slots += writes.size
    if (slots > MOST_SLOTS) {
      throw invalidParams(`${path}: the variables take more than ${MOST_SLOTS} slots`)
    }
    for (const [slot, word] of writes) state.putStorage(address, slot, word)
  }
}

/** Whether variables have these values; the elements of a struct or mapping that are not given may have any. Throws as `putVariables`. */
export function haveValues(
  state: StateReader,
  address: Hex,
  { values, layoutAt, path }: NamedVariables,
): boolean {
  const layout = requireLayout(state, address, layoutAt, path)
  const read = (slot: bigint) => state.storage(address, slot)
  return [...values].every(([name, value]) => {
    const writes = under(path, () => variableWrites(layout, name, value, read))
    return [...writes].every(([slot, word]) => read(slot) === word)
  })
}

/**
 * The values of variables by path, in this order; all that a contract has, mappings left out, unless paths are given.
 * Throws `invalid-params` as `putVariables` does.
 */
export function readVariables(
  state: StateReader,
  address: Hex,
  {
    paths,
    layoutAt,
    path,
  }: { readonly paths?: readonly string[] | undefined } & Omit<NamedVariables, 'values'>,
): ReadonlyMap<string, VariableValue> {
  const layout = requireLayout(state, address, layoutAt, path)
  let slots = 0
  const read = (slot: bigint) => {
    slots += 1
    if (slots > MOST_SLOTS) throw new VariableError(`more than ${MOST_SLOTS} slots are read`)
    return state.storage(address, slot)
  }
  const named = paths ?? pathsOf(layout)
  return new Map(named.map((each) => [each, under(path, () => readVariable(layout, each, read))]))
}

/** The names of a layout that have a value: a name that is there twice means its last variable. */
function pathsOf({ variables, types }: StorageLayout): readonly string[] {
  const withValue = variables.filter(({ type }) => types.get(type)?.kind !== 'mapping')
  return [...new Set(withValue.map(({ name }) => name))]
}
