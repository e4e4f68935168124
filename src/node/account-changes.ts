/** The changes of an account that a program in the node's process asks for, with the values of that language. */
import type { VariableValue } from '../abi/storage/value-type.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import type { AccountEdit } from '../engine/dev/state-edits.ts'
import { invalidParams } from '../errors.ts'
import type { LayoutAt } from '../execution/variables.ts'
import { AccountChangesObject, NamedAddress } from '../rpc/wire/overrides.ts'

/** An unsigned number: as such, or in hex. */
export type Amount = bigint | number | Hex

/** Words by slot: a number, or hex with `0x`. */
type Words = Readonly<Record<string, Amount>>

/** Changes of an account; what is absent stays. */
export interface AccountChanges {
  /** Wei. */
  readonly balance?: Amount | undefined
  /** At least the one that the account has. */
  readonly nonce?: Amount | undefined
  /** Empty removes the code. */
  readonly code?: Uint8Array | Hex | undefined
  /** Words by slot in place of all storage; not together with `stateDiff`. */
  readonly state?: Words | undefined
  /** Words by slot; all other slots stay. */
  readonly stateDiff?: Words | undefined
  /**
   * Values by path (`owner`, `balances[0x…]`, `point.x`), written last. The storage layout of the contract has to be known;
   * behind a proxy it is that of the implementation.
   */
  readonly variables?: Readonly<Record<string, VariableValue>> | undefined
}

/** Numbers and bytes in hex, as JSON has them; other values as they are. */
export function hexOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value)
  return typeof value === 'bigint' || typeof value === 'number' ? `0x${value.toString(16)}` : value
}

function wordsOf(words: Words | undefined): unknown {
  if (typeof words !== 'object' || words === null) return words
  return Object.fromEntries(Object.entries(words).map(([slot, word]) => [hexSlot(slot), hexOf(word)]))
}

/** Property names in decimal are those that JavaScript makes of numbers. */
const hexSlot = (slot: string): string => (/^\d{1,78}$/.test(slot) ? `0x${BigInt(slot).toString(16)}` : slot)

/** The changes as JSON-RPC has them, except for the values of variables. */
export function sentChanges({ balance, nonce, code, state, stateDiff, ...others }: AccountChanges): unknown {
  return {
    ...others,
    balance: hexOf(balance),
    nonce: hexOf(nonce),
    code: hexOf(code),
    state: wordsOf(state),
    stateDiff: wordsOf(stateDiff),
  }
}

/** The edit of an account. Throws `invalid-params` with the path of the member. */
export function editOf(address: Hex, changes: AccountChanges, layoutAt: LayoutAt): AccountEdit {
  const read = AccountChangesObject.read(sentChanges(changes), 'override')
  if (read.state !== undefined && read.stateDiff !== undefined) {
    throw invalidParams('override.state and override.stateDiff cannot be set at the same time')
  }
  const storage = read.state ?? read.stateDiff
  return {
    address: NamedAddress.read(address, 'address'),
    ...(read.balance !== undefined && { balance: read.balance }),
    ...(read.nonce !== undefined && { nonce: read.nonce }),
    ...(read.code !== undefined && { code: read.code }),
    ...(storage !== undefined && { storage }),
    ...(read.state !== undefined && { replacesStorage: true }),
    ...(read.variables && { variables: { values: read.variables, layoutAt, path: 'override.variables' } }),
  }
}
