/** What stays of a call of the Bridge that writes before it fails, or that may not write (docs/internals/protocol.md#66-bridge). */

import { zeroHash } from 'viem'
import { describe, expect, it } from 'vitest'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { fromHex, toHex } from '../../src/encoding/hex.ts'
import { CELL, keyedSlot } from '../../src/state/bridge-cells.ts'
import { readBestHeader } from '../../src/state/bridge-headers.ts'
import type { Overlay } from '../../src/state/overlay.ts'
import { cellBytes } from '../../src/state/state-keys.ts'
import { CONTRACT, run, SENDER, world } from '../support/execution.ts'
import { dataOf } from './precompiles/bridge/calls.ts'

const BRIDGE = PRECOMPILE_ADDRESS.bridge
/** Reads headers, and then fails on its empty tree. */
const failing = fromHex(dataOf('registerBtcCoinbaseTransaction', '0x', zeroHash, '0x', zeroHash, zeroHash))
const reading = fromHex(dataOf('getBtcBlockchainBestChainHeight'))

const bytesOf = (state: Overlay, slot: bigint) => toHex(cellBytes(state.cell(BRIDGE, slot)))

/** Passes its call data to the Bridge by an opcode, and returns whether the call succeeded. */
function passing(call: string) {
  return `CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 ${call} GAS`
}
const called = `${passing('0 0x1000006')} CALL 0 MSTORE 32 0 RETURN`
const staticCalled = `${passing('0x1000006')} STATICCALL 0 MSTORE 32 0 RETURN`

describe('a call of the Bridge that fails after its first access of headers', () => {
  it('stores the genesis without its height when a transaction makes the call, and moves no value', async () => {
    const state = world({ [BRIDGE]: { balance: 1n } })
    const balance = state.account(SENDER)?.balance
    const result = await run(state, { to: BRIDGE, data: failing, value: 5n })
    expect(result).toMatchObject({ status: 'failed', precompileFailed: true })
    const best = readBestHeader({ bytes: (slot) => cellBytes(state.cell(BRIDGE, slot)) })
    if (best === undefined) throw new Error('no header is stored')
    expect(bytesOf(state, CELL.chainHead)).not.toBe('0x')
    expect(bytesOf(state, best.hash)).toBe(bytesOf(state, CELL.chainHead))
    expect(bytesOf(state, keyedSlot('btcBlockHeight', '0'))).toBe('0x')
    expect(state.account(BRIDGE)?.balance).toBe(1n)
    expect(state.account(SENDER)?.balance).toBe(balance)
  })

  it('stores nothing when code makes the call', async () => {
    const state = world({ [BRIDGE]: { balance: 1n }, [CONTRACT]: { code: called } })
    const result = await run(state, { data: failing })
    expect(result.status).toBe('succeeded')
    expect(toHex(result.output)).toBe(zeroHash)
    expect(bytesOf(state, CELL.chainHead)).toBe('0x')
  })
})

describe('a static call of the Bridge', () => {
  it('stores the genesis', async () => {
    const state = world({ [BRIDGE]: { balance: 1n }, [CONTRACT]: { code: staticCalled } })
    const result = await run(state, { data: reading })
    expect(toHex(result.output)).toBe(`0x${'1'.padStart(64, '0')}`)
    expect(bytesOf(state, CELL.chainHead)).not.toBe('0x')
    expect(bytesOf(state, keyedSlot('btcBlockHeight', '0'))).not.toBe('0x')
  })
})
