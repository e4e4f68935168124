/** The parent chain's headers in the bridge: which are taken in, which lead, and how they are read. */
import { describe, expect, it } from 'vitest'
import { concat } from '../../../../src/encoding/bytes.ts'
import { doubleSha256, keccakHex } from '../../../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../../../src/encoding/hex.ts'
import { openBridge } from '../../../../src/evm/precompiles/bridge/bridge.ts'
import { REGTEST } from '../../../../src/evm/precompiles/bridge/constants/regtest.ts'
import {
  dataOf,
  FEDERATOR,
  freshBridge,
  GENESIS_HASH,
  hashOf,
  mineChain,
  mineHeader,
  texts,
} from './calls.ts'

const GENESIS: Hex =
  '0x0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000'

/** What the first access stores: the genesis, as header and as best one, and its hash by height (RSKIP-454). */
const GENESIS_CELLS = new Map(
  Object.entries({
    [GENESIS_HASH]: `0x${'00'.repeat(31)}0200000000${GENESIS.slice(2)}`,
    [toHex(new TextEncoder().encode('blockStoreChainHead'))]:
      `0x${'00'.repeat(31)}0200000000${GENESIS.slice(2)}`,
    [keccakHex(new TextEncoder().encode('btcBlockHeight-0'))]: `0xa0${GENESIS_HASH.slice(2)}`,
  }).map(([slot, bytes]) => [BigInt(slot), fromHex(bytes)]),
)

/** A bridge that has these headers. */
function holding(...chains: readonly Uint8Array[][]) {
  const bridge = freshBridge()
  for (const chain of chains) {
    expect(bridge.raw(dataOf('receiveHeaders', texts(chain)), { caller: FEDERATOR })).toBe('0x')
  }
  return bridge
}

describe('a bridge that knows the genesis only', () => {
  const bridge = freshBridge()

  it.each<[string, readonly unknown[], unknown]>([
    ['getBtcBlockchainBestChainHeight', [], 0n],
    ['getBtcBlockchainInitialBlockHeight', [], 0n],
    ['getBtcBlockchainBestBlockHeader', [], GENESIS],
    ['getBtcBlockchainBlockHeaderByHash', [GENESIS_HASH], GENESIS],
    ['getBtcBlockchainBlockHeaderByHash', [`0x${'ee'.repeat(32)}`], '0x'],
    ['getBtcBlockchainBlockHeaderByHeight', [0n], GENESIS],
    ['getBtcBlockchainBlockHeaderByHeight', [1n], '0x'],
    ['getBtcBlockchainBlockHeaderByHeight', [2n ** 256n - 1n], '0x'],
    ['getBtcBlockchainParentBlockHeaderByHash', [GENESIS_HASH], '0x'],
    ['getBtcBlockchainBlockHashAtDepth', [0n], GENESIS_HASH],
    ['getBtcBlockchainBlockHashAtDepth', [1n], 'failure'],
    ['getBtcBlockchainBlockHashAtDepth', [-1n], 'failure'],
  ])('%s %s', (name, args, expected) => {
    expect(bridge.call(name, args)).toBe(expected)
  })
})

describe('receiveHeader', () => {
  const first = mineHeader(GENESIS_HASH)
  const receive = (bridge: ReturnType<typeof freshBridge>, header: Uint8Array, timestamp = 1_000_000) =>
    bridge.call('receiveHeader', [toHex(header)], { timestamp })

  it('stores a header, and moves the head', () => {
    const bridge = freshBridge()
    expect(receive(bridge, first)).toBe(0n)
    expect(bridge.call('getBtcBlockchainBestChainHeight')).toBe(1n)
    expect(bridge.call('getBtcBlockchainBestBlockHeader')).toBe(toHex(first))
    expect(bridge.call('getBtcBlockchainBlockHeaderByHash', [hashOf(first)])).toBe(toHex(first))
    expect(bridge.call('getBtcBlockchainParentBlockHeaderByHash', [hashOf(first)])).toBe(GENESIS)
    expect(bridge.call('getBtcBlockchainBlockHashAtDepth', [1n])).toBe(GENESIS_HASH)
  })

  it('costs 10,600 gas and 2 for each byte', () => {
    const data = dataOf('receiveHeader', toHex(first))
    expect(freshBridge().gas(data)).toBe(BigInt(10_600 + data.length - 2))
  })

  it.each<[string, Uint8Array]>([
    ['79 bytes', first.subarray(1)],
    ['81 bytes', concat(first, Uint8Array.of(0))],
  ])('refuses %s and changes nothing', (_, header) => {
    const bridge = freshBridge()
    expect(receive(bridge, header)).toBe(-20n)
    expect(bridge.storage.cells.size).toBe(0)
  })

  it.each<[string, Uint8Array, bigint]>([
    ['an unknown parent', mineHeader(`0x${'ee'.repeat(32)}`), -3n],
    ['the genesis again', fromHex(GENESIS), -4n],
    ['a hash above the target', mineHeader(GENESIS_HASH, { lacksWork: true }), -99n],
    ['an easier target than the network has', mineHeader(GENESIS_HASH, { bits: 0x207ffffe }), -99n],
  ])('refuses %s and stores only the genesis', (_, header, code) => {
    const bridge = freshBridge()
    expect(receive(bridge, header)).toBe(code)
    expect(bridge.storage.cells).toEqual(GENESIS_CELLS)
  })

  it('refuses a known header', () => {
    const bridge = freshBridge()
    receive(bridge, first)
    expect(receive(bridge, first)).toBe(-4n)
  })

  it('accepts one header in five minutes', () => {
    const bridge = freshBridge()
    const [one, two] = mineChain(2) as [Uint8Array, Uint8Array]
    expect(receive(bridge, one, 5000)).toBe(0n)
    expect(receive(bridge, two, 5299)).toBe(-1n)
    expect(receive(bridge, two, 5300)).toBe(0n)
  })

  it('stores no time for a block with timestamp zero', () => {
    const bridge = freshBridge()
    const [one, two] = mineChain(2) as [Uint8Array, Uint8Array]
    expect(receive(bridge, one, 0)).toBe(0n)
    expect(receive(bridge, two, 299)).toBe(0n)
  })

  it('refuses a header more than 25 blocks below the best', () => {
    const chain = mineChain(30)
    const bridge = holding(chain)
    const branch = (height: number) => mineHeader(hashOf(chain[height - 2] as Uint8Array), { seed: 99 })
    expect(receive(bridge, branch(4))).toBe(-2n)
    expect(receive(bridge, branch(5))).toBe(0n)
  })

  it('writes nothing in a static call', () => {
    const bridge = freshBridge()
    expect(bridge.raw(dataOf('receiveHeader', toHex(first)), { kind: 'staticcall', isStatic: true })).toBe(
      'failure',
    )
    expect(bridge.storage.cells.size).toBe(0)
  })
})

describe('receiveHeaders', () => {
  it('is open to federators only', () => {
    expect(freshBridge().raw(dataOf('receiveHeaders', texts(mineChain(1))))).toBe('failure')
  })

  it('skips headers that are not accepted, and fails on a wrong length', () => {
    const [one, two] = mineChain(2) as [Uint8Array, Uint8Array]
    const bridge = holding([
      mineHeader(`0x${'ee'.repeat(32)}`),
      two,
      one,
      mineHeader(hashOf(one), { lacksWork: true }),
    ])
    expect(bridge.call('getBtcBlockchainBestChainHeight')).toBe(1n)
    const wrong = dataOf('receiveHeaders', [toHex(two), '0x00'])
    expect(bridge.raw(wrong, { caller: FEDERATOR })).toBe('failure')
    expect(bridge.call('getBtcBlockchainBestChainHeight')).toBe(1n)
    expect(holding([]).storage.cells).toEqual(GENESIS_CELLS)
  })
})

describe('branches', () => {
  const trunk = mineChain(3)
  const branch = mineChain(3, hashOf(trunk[0] as Uint8Array), 50)

  it('the first of equal work stays the best', () => {
    const bridge = holding(trunk, branch.slice(0, 2))
    expect(bridge.call('getBtcBlockchainBestBlockHeader')).toBe(toHex(trunk[2] as Uint8Array))
    expect(bridge.call('getBtcBlockchainBlockHeaderByHash', [hashOf(branch[1] as Uint8Array)])).toBe(
      toHex(branch[1] as Uint8Array),
    )
  })

  it('more work takes over, and heights name the new branch', () => {
    const bridge = holding(trunk, branch)
    const at = (height: bigint) => bridge.call('getBtcBlockchainBlockHeaderByHeight', [height])
    expect(bridge.call('getBtcBlockchainBestChainHeight')).toBe(4n)
    expect([1n, 2n, 3n, 4n].map(at)).toEqual(texts([trunk[0] as Uint8Array, ...branch]))
    expect(bridge.call('getBtcBlockchainBlockHashAtDepth', [2n])).toBe(hashOf(branch[0] as Uint8Array))
  })

  it('the former best branch can become the best again', () => {
    const more = mineChain(2, hashOf(trunk[2] as Uint8Array), 80)
    const bridge = holding(trunk, branch, more)
    const at = (height: bigint) => bridge.call('getBtcBlockchainBlockHeaderByHeight', [height])
    expect([1n, 2n, 3n, 4n, 5n].map(at)).toEqual(texts([...trunk, ...more]))
  })

  it('any order of arrival gives the branch with the most work', () => {
    const { headers: chain } = openBridge(freshBridge().env, REGTEST, () => true)
    for (const header of [...trunk, ...branch]) chain.add(header)
    expect(chain.best().work).toBe(2n * 5n)
  })
})

describe('heights in reach', () => {
  it.each([
    [7, [2, 7], [0, 1, 8]],
    [15, [10, 15], [9, 16]],
    [16, [10, 16], [0, 9, 17]],
  ])('with %i headers', (count, inside, outside) => {
    const chain = mineChain(count)
    const bridge = holding(chain)
    const at = (height: number) => bridge.call('getBtcBlockchainBlockHeaderByHeight', [BigInt(height)])
    for (const height of inside) expect(at(height), `${height}`).toBe(toHex(chain[height - 1] as Uint8Array))
    for (const height of outside) expect(at(height), `${height}`).toBe('0x')
  })
})

describe('getBtcTransactionConfirmations', () => {
  const hash = (byte: number) => new Uint8Array(32).fill(byte)
  const displayed = (raw: Uint8Array): Hex => toHex(raw.slice().reverse())
  // Four transactions; the third is ours: on the left at level 0, on the right at level 1.
  const leaves = [hash(1), hash(2), hash(3), hash(4)] as const
  const left = doubleSha256(concat(leaves[0], leaves[1]))
  const right = doubleSha256(concat(leaves[2], leaves[3]))
  const header = mineHeader(GENESIS_HASH, { merkleRoot: doubleSha256(concat(left, right)) })
  const chain = [header, ...mineChain(2, hashOf(header))]
  const bridge = holding(chain)
  const siblings = [displayed(leaves[3]), displayed(left)]
  const ask = (on: Hex, path = 2n, branch: readonly Hex[] = siblings, transaction = displayed(leaves[2])) => [
    transaction,
    on,
    path,
    branch,
  ]
  const confirmations = (args: readonly unknown[], from = bridge) =>
    from.call('getBtcTransactionConfirmations', args)

  it('counts the block and those above it', () => {
    expect(confirmations(ask(hashOf(header)))).toBe(3n)
  })

  it.each<[string, readonly unknown[], unknown]>([
    ['an unknown block', ask(`0x${'ee'.repeat(32)}`), -1n],
    ['another transaction', ask(hashOf(header), 2n, siblings, displayed(hash(9))), -5n],
    ['another path', ask(hashOf(header), 3n), -5n],
    ['a path longer than the branch', ask(hashOf(header), 4n), 'failure'],
    ['more than 32 siblings', ask(hashOf(header), 0n, Array(33).fill(siblings[0])), 'failure'],
  ])('%s', (_, args, expected) => {
    expect(confirmations(args)).toBe(expected)
  })

  it('refuses blocks on side branches and out of reach', () => {
    const beside = mineHeader(GENESIS_HASH, { seed: 40 })
    expect(confirmations(ask(hashOf(beside)), holding(chain, [beside]))).toBe(-2n)
    const buried = holding(chain, mineChain(5, hashOf(chain[2] as Uint8Array), 10))
    expect(confirmations(ask(hashOf(header)), buried)).toBe(-3n)
  })

  it('costs gas by depth and by the length of the branch', () => {
    const gas = (args: readonly unknown[]) => {
      const data = dataOf('getBtcTransactionConfirmations', ...args)
      return bridge.gas(data) - BigInt(data.length - 2)
    }
    expect(gas(ask(hashOf(header)))).toBe(27_000n + 2n * 315n + 2n * 144n)
    expect(gas(ask(`0x${'ee'.repeat(32)}`))).toBe(27_000n)
  })
})
