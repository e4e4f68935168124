/** Overrides as rows of a form, one value each, and back. */

import { readJson } from '../abi.ts'
import { coins, entriesOf, type Hex, isHex, quantity, toBigInt } from '../format.ts'
import { addressOf, bytesOf, quantityOf, weiOf, wordOf } from '../input.ts'
import type { AccountOverrides, BlockOverrides, StateOverrides } from './scenario.ts'
import { JSON_VALUE, type Json, shaped } from './shapes.ts'

/** What a row of an account overrides, and its name on the page. */
export const ACCOUNT_MEMBERS = [
  ['balance', 'balance (coins)'],
  ['variables', 'variable'],
  ['stateDiff', 'slot'],
  ['state', 'slot, others empty'],
  ['nonce', 'nonce'],
  ['code', 'code'],
  ['movePrecompileToAddress', 'precompile moves to'],
] as const
export type AccountMember = (typeof ACCOUNT_MEMBERS)[number][0]

/** One override of an account, as it is typed. */
export interface AccountRow {
  readonly address: string
  readonly what: AccountMember
  /** The path of a variable, or a slot; unused by other members. */
  readonly name: string
  readonly value: string
}

/** Members that hold values by name. */
const NAMED: ReadonlySet<string> = new Set(['variables', 'stateDiff', 'state'])

/** Has the row a name beside its value? */
export function hasName({ what }: { readonly what: string }): boolean {
  return NAMED.has(what) || what === 'blockHash'
}

/** Runs a reader; its error gets the place before it. */
export function at<Value>(place: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new Error(`${place}: ${message.replace(/^E(?=xpected)/, 'e')}`)
  }
}

const isBlank = (row: {
  readonly address?: string
  readonly name: string
  readonly value: string
}): boolean => `${row.address ?? ''}${row.name}${row.value}`.trim() === ''

/** Texts that are JSON: lists and objects, and texts that begin as they do. */
const IS_JSON = /^\s*[[{"]/

/** The value of a variable: JSON for a list, an object or a quoted text, else the text itself. */
function variableOf(text: string): Json {
  return IS_JSON.test(text) ? shaped(JSON_VALUE, readJson(text, 'value')) : text
}

function variableText(value: Json): string {
  return typeof value === 'object' || IS_JSON.test(String(value)) ? JSON.stringify(value) : String(value)
}

function memberOf({ what, name, value }: AccountRow, before: AccountOverrides): AccountOverrides {
  switch (what) {
    case 'balance':
      if (value.trim() === '') throw new Error('expected an amount of coins, such as 1.5')
      return { ...before, balance: quantity(weiOf(value)) }
    case 'nonce':
      return { ...before, nonce: quantityOf(value) }
    case 'code':
      return { ...before, code: bytesOf(value) }
    case 'movePrecompileToAddress':
      return { ...before, movePrecompileToAddress: addressOf(value) }
    case 'variables': {
      const path = name.trim()
      if (path === '') throw new Error('expected the name of a variable, such as balances[0x…]')
      return { ...before, variables: { ...before.variables, [path]: variableOf(value) } }
    }
    default: {
      if (before[what === 'state' ? 'stateDiff' : 'state'] !== undefined) {
        throw new Error('an account has either all of its slots replaced or some of them, not both')
      }
      // Without a slot it empties the whole storage.
      const isEmpty = what === 'state' && `${name}${value}`.trim() === ''
      const slots = isEmpty ? {} : { [wordOf(name)]: wordOf(value) }
      return { ...before, [what]: { ...before[what], ...slots } }
    }
  }
}

/** The overrides that rows describe; absent where there are none. Throws an Error that names the row. */
export function overridesOf(rows: readonly AccountRow[], place: string): StateOverrides | undefined {
  const accounts = new Map<Hex, AccountOverrides>()
  for (const [i, row] of rows.entries()) {
    if (isBlank(row)) continue
    const where = `${place} ${i + 1}`
    const address = at(`${where}, account`, () => addressOf(row.address))
    accounts.set(
      address,
      at(where, () => memberOf(row, accounts.get(address) ?? {})),
    )
  }
  return accounts.size === 0 ? undefined : Object.fromEntries(accounts)
}

function rowsOfAccount(address: Hex, overrides: AccountOverrides): AccountRow[] {
  const { balance, nonce, code, movePrecompileToAddress: moved, variables, state, stateDiff } = overrides
  const row = (what: AccountMember, value: string, name = ''): AccountRow => ({ address, what, name, value })
  const slots = (what: 'state' | 'stateDiff', by: Readonly<Record<Hex, Hex>> = {}) =>
    entriesOf(by).map(([slot, value]) => row(what, value, slot))
  return [
    ...(balance === undefined ? [] : [row('balance', coins(toBigInt(balance)))]),
    ...(nonce === undefined ? [] : [row('nonce', toBigInt(nonce).toString())]),
    ...(code === undefined ? [] : [row('code', code)]),
    ...(moved === undefined ? [] : [row('movePrecompileToAddress', moved)]),
    ...Object.entries(variables ?? {}).map(([path, value]) => row('variables', variableText(value), path)),
    ...(state !== undefined && Object.keys(state).length === 0 ? [row('state', '')] : slots('state', state)),
    ...slots('stateDiff', stateDiff),
  ]
}

/** The rows that describe overrides. */
export function rowsOf(overrides: StateOverrides = {}): AccountRow[] {
  return entriesOf(overrides).flatMap(([address, account]) => rowsOfAccount(address, account))
}

/** What a row overrides of the block, and its name on the page. */
export const BLOCK_MEMBERS = [
  ['number', 'number'],
  ['time', 'time (Unix seconds)'],
  ['gasLimit', 'gas limit'],
  ['feeRecipient', 'fee recipient'],
  ['baseFeePerGas', 'minimum gas price (wei)'],
  ['difficulty', 'difficulty'],
  ['prevRandao', 'prevRandao'],
  ['blockHash', 'hash of a block'],
] as const
export type BlockMember = (typeof BLOCK_MEMBERS)[number][0]

/** One override of the block, as it is typed. */
export interface BlockRow {
  readonly what: BlockMember
  /** The height of a block hash. */
  readonly name: string
  readonly value: string
}

function blockMember({ what, name, value }: BlockRow, { blockHash }: BlockOverrides): BlockOverrides {
  switch (what) {
    case 'feeRecipient':
      return { feeRecipient: addressOf(value) }
    case 'prevRandao':
      return { prevRandao: wordOf(value) }
    case 'blockHash':
      return { blockHash: { ...blockHash, [quantityOf(name)]: wordOf(value) } }
    default:
      return { [what]: quantityOf(value) }
  }
}

/** The overrides of the block that rows describe; absent where there are none. Throws an Error that names the row. */
export function blockOverridesOf(rows: readonly BlockRow[]): BlockOverrides | undefined {
  let overrides: BlockOverrides | undefined
  for (const [i, row] of rows.entries()) {
    if (isBlank(row)) continue
    const before = overrides ?? {}
    overrides = { ...before, ...at(`Block override ${i + 1}`, () => blockMember(row, before)) }
  }
  return overrides
}

/** The rows that describe overrides of the block. */
export function blockRowsOf(overrides: BlockOverrides = {}): BlockRow[] {
  return BLOCK_MEMBERS.flatMap(([what]): BlockRow[] => {
    const value = overrides[what]
    if (value === undefined) return []
    if (typeof value === 'object') {
      return Object.entries(value).map(([height, hash]) => ({
        what,
        name: BigInt(height).toString(),
        value: hash,
      }))
    }
    const isBytes = what === 'feeRecipient' || what === 'prevRandao'
    return [{ what, name: '', value: isBytes || !isHex(value) ? value : toBigInt(value).toString() }]
  })
}
