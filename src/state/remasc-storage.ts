/**
 * The storage of REMASC (docs/internals/protocol.md#54-remasc-payout): cells named in ASCII, each held as a word.
 * Numbers are the minimal big-endian bytes of their word, and so is `siblings`, RLP of a list that is always empty.
 */
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { oneByte, toBigInt } from '../encoding/bytes.ts'
import type { Overlay } from './overlay.ts'
import { cellWord, storageValue } from './state-keys.ts'

function slotOf(name: string): bigint {
  return toBigInt(new TextEncoder().encode(name))
}

/** Slots of the contract: its name for the cell, left-padded. Balances are in wei. */
export const REMASC_SLOT = {
  /** The pot: fees of mature blocks that are not paid out yet. */
  rewardBalance: slotOf('rewardBalance'),
  /** What is never paid out; it stays in the contract's balance. */
  burnedBalance: slotOf('burnedBalance'),
  /** The federation's share, while it is too small to be paid. */
  federationBalance: slotOf('federationBalance'),
  /** A leftover that is always an empty list: siblings are found by walking the chain. */
  siblings: slotOf('siblings'),
  /** 1 when the block that was last rewarded should have lost against a sibling. */
  brokenSelectionRule: slotOf('brokenSelectionRule'),
} as const

/** What the cell `siblings` holds: RLP of an empty list, one byte. */
export const NO_SIBLINGS = 0xc0n

/** A cell's word; 0 when it is not there. */
export function readCell(state: Overlay, slot: bigint): bigint {
  return state.storage(PRECOMPILE_ADDRESS.remasc, slot)
}

/** Sets a flag: one byte, 01 or 00. */
export function writeFlag(state: Overlay, slot: bigint, flag: boolean): void {
  const value = storageValue(oneByte(flag ? 1 : 0))
  const known = state.cell(PRECOMPILE_ADDRESS.remasc, slot)
  if (known === 0n || cellWord(known) !== cellWord(value))
    state.putCell(PRECOMPILE_ADDRESS.remasc, slot, value)
}

/** Sets a cell. Where nothing changes nothing is written, so that idle blocks leave the contract's storage alone. */
export function writeCell(state: Overlay, slot: bigint, word: bigint): void {
  if (readCell(state, slot) !== word) state.putStorage(PRECOMPILE_ADDRESS.remasc, slot, word)
}
