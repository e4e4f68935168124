/** Transactions of the parent chain: what is refused before a proof is looked at. */
import { zeroHash } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../../../../src/encoding/hex.ts'
import { dataOf, FEDERATOR, freshBridge, mineChain, texts } from '../calls.ts'

/** One hash and one byte of flags, as their counts say. */
const TREE: Hex = `0x0100000001${'11'.repeat(32)}0101`
const LONG_TREE: Hex = `${TREE}00`

function withHeaders() {
  const bridge = freshBridge()
  bridge.raw(dataOf('receiveHeaders', texts(mineChain(5))), { caller: FEDERATOR })
  return bridge
}

describe('registerBtcTransaction', () => {
  const data = (height: bigint, tree: Hex) => dataOf('registerBtcTransaction', '0x00', height, tree)

  it('returns no result below three confirmations', () => {
    const bridge = withHeaders()
    expect(bridge.raw(data(4n, LONG_TREE))).toBe('0x')
    expect(bridge.raw(data(-1n, LONG_TREE))).toBe('0x')
    expect(bridge.cell('btcTxHashesAP')).toBe('0xc0')
  })

  it('fails on a malformed tree, and ignores one about another transaction', () => {
    const bridge = withHeaders()
    for (const tree of [LONG_TREE, '0x', '0x01000000ff', `0x01000000ff${'ff'.repeat(8)}`] as const) {
      expect(bridge.raw(data(3n, tree))).toBe('failure')
    }
    expect(bridge.cell('btcTxHashesAP')).toBe('0x')
    expect(bridge.raw(data(3n, TREE))).toBe('0x')
    expect(bridge.cell('btcTxHashesAP')).toBe('0xc0')
  })
})

describe('registerBtcCoinbaseTransaction', () => {
  it('fails, and stores the genesis', () => {
    const bridge = freshBridge()
    const data = dataOf('registerBtcCoinbaseTransaction', '0x00', zeroHash, '0x', zeroHash, zeroHash)
    expect(bridge.raw(data)).toBe('failure')
    expect(bridge.cell('blockStoreChainHead')).not.toBe('0x')
    // The genesis and the best header; the index by height belongs to a call that succeeds.
    expect(bridge.storage.cells.size).toBe(2)
  })
})

describe('registerFastBridgeBtcTransaction', () => {
  const ADDRESS: Hex = `0x6f${'22'.repeat(20)}`

  function result({
    refund = ADDRESS,
    provider = ADDRESS,
    contract: named = undefined as Hex | undefined,
    height = 0n,
    isTop = false,
  }) {
    const bridge = withHeaders()
    const lbc = named ?? bridge.env.caller
    const args = ['0x00', height, LONG_TREE, zeroHash, refund, lbc, provider, false]
    return bridge.call('registerFastBridgeBtcTransaction', args, { isTop, isLocal: !isTop })
  }

  it.each([
    ['an address of the wrong length', { refund: '0x6f' as Hex }, -900n],
    ['an address of another network', { provider: `0x00${'22'.repeat(20)}` as Hex }, -900n],
    ['a transaction as caller', { isTop: true }, -300n],
    ['another contract', { contract: `0x${'44'.repeat(20)}` as Hex }, -301n],
    ['too few confirmations', { height: 4n }, -303n],
    ['a malformed tree', {}, -900n],
  ])('%s: %i', (_, parts, code) => {
    expect(result(parts)).toBe(code)
  })
})
