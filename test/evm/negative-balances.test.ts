/**
 * Balances below zero: free calls of the Bridge leave them to their senders, and the Bridge can pay more than it has (the
 * reference node's Repository.transfer checks nothing; its Program.getBalance reads Coin.getBytes as an unsigned word).
 */
import { encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { frameString } from '../../src/encoding/rlp-frame.ts'
import { CELL } from '../../src/state/bridge-cells.ts'
import { storageValue } from '../../src/state/state-keys.ts'
import {
  account,
  CONTRACT,
  OTHER,
  RETURN_TOP,
  run,
  SENDER,
  stepping,
  vms,
  word,
  world,
} from '../support/execution.ts'

describe('a balance below zero', () => {
  it.each([
    [-1n, 0xffn],
    [-5n, 0xfbn],
    [-128n, 0x80n],
    [-129n, 0xff7fn],
    [-256n, 0xff00n],
    [-(10n ** 18n), 2n ** 64n - 10n ** 18n],
  ])("of %d wei is a word of the bytes of its two's complement", async (balance, expected) => {
    for (const vm of [vms.own, stepping(vms.own)]) {
      const other = world({
        [CONTRACT]: { code: `PUSH20 ${OTHER} BALANCE ${RETURN_TOP}` },
        [OTHER]: { balance },
      })
      expect(word(await run(other, {}, { vm }))).toBe(expected)
      const own = world({ [CONTRACT]: { balance, code: `SELFBALANCE ${RETURN_TOP}` } })
      expect(word(await run(own, {}, { vm }))).toBe(expected)
    }
  })

  it('is what a Bridge without coins has after it has paid', async () => {
    const bridge: Hex = PRECOMPILE_ADDRESS.bridge
    const state = world({ [bridge]: { balance: 3n } })
    state.putCell(bridge, CELL.unionAddress, storageValue(frameString(fromHex(SENDER))))
    const before = account(state, SENDER).balance
    const data = encodeFunctionData({
      abi: parseAbi(['function requestUnionBridgeRbtc(uint256) returns (int256)']),
      args: [10n],
    })
    const result = await run(state, { to: bridge, data: fromHex(data) })
    expect(word(result)).toBe(0n)
    expect(account(state, bridge).balance).toBe(-7n)
    expect(account(state, SENDER).balance).toBe(before + 10n)
  })
})
