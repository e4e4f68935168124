/** Headers of Bitcoin's networks, as the Bridge was given them and as the reference node has them. */
import { describe, expect, it } from 'vitest'
import { fromDigits } from '../../../../src/bitcoin/displayed-hash.ts'
import { BRIDGE_SENDERS } from '../../../../src/chain/bridge-senders.ts'
import { CHAINS, PRECOMPILE_ADDRESS } from '../../../../src/chain/config.ts'
import { decodeParentHeader, hashValue } from '../../../../src/chain/merged-mining/parent-header.ts'
import { concat, fromBigIntFixed, toBigInt } from '../../../../src/encoding/bytes.ts'
import { doubleSha256 } from '../../../../src/encoding/hash.ts'
import { type Hex, toHex } from '../../../../src/encoding/hex.ts'
import { MAINNET } from '../../../../src/evm/precompiles/bridge/constants/mainnet.ts'
import { TESTNET } from '../../../../src/evm/precompiles/bridge/constants/testnet.ts'
import {
  decodeTarget,
  parentRules,
  workOf,
} from '../../../../src/evm/precompiles/bridge/headers/parent-chain.ts'
import { vmRulesOf } from '../../../../src/evm/rules.ts'
import { gzippedFixture } from '../../../support/fixture.ts'
import { gasOf, outcome } from '../vectors.ts'
import { dataOf, FEDERATOR, freshBridge, mineChain, texts } from './calls.ts'

interface Vectors {
  readonly block457: string
  readonly last: string
  readonly regtest: readonly string[]
  readonly head: string
  readonly checkpoints: Readonly<Record<'main' | 'test', readonly string[]>>
}

const vectors = gzippedFixture<Vectors>('bridge/real-headers.json.gz')
/** A header takes so many blocks of Bitcoin to the next checkpoint. */
const INTERVAL = 2016

const named = (name: string) => BigInt(toHex(new TextEncoder().encode(name)))

/** A Bridge of the main network, called by a member of its first federation at a height. */
function mainnetBridge(height: number) {
  const contract = vmRulesOf(CHAINS.mainnet)(height).precompiles.get(PRECOMPILE_ADDRESS.bridge)
  const [caller] = BRIDGE_SENDERS.mainnet.federators
  if (contract === undefined || caller === undefined) throw new Error('no Bridge')
  const { env, storage } = freshBridge({ isLocal: false, isTop: true, caller, number: height })
  /** Height and hash of the best header. */
  const best = () => {
    const stored = storage.bytes(named('blockStoreChainHead'))
    if (stored.length === 0) return undefined
    const header = stored.subarray(-80)
    return [Number(toBigInt(stored.subarray(-84, -80))), hashValue(doubleSha256(header)).toString(16)]
  }
  return { contract, env, best, raw: (data: Hex) => outcome(contract, data, env) }
}

describe('the first call of the Bridge on the main network', () => {
  const data: Hex = `0x${vectors.block457}`

  it('gave it 500 headers in block 457, each with a byte behind it', () => {
    const bridge = mainnetBridge(457)
    expect(bridge.raw(data)).toBe('0x')
    expect(bridge.best()).toEqual([499_968 + 500, vectors.last.replace(/^0+/, '')])
    expect(gasOf(bridge.contract, data, { ...bridge.env, caller: FEDERATOR })).toBe(
      22_000n + 2n * BigInt(data.length / 2 - 1),
    )
  })

  it('would have failed under later rules', () => {
    const bridge = mainnetBridge(1_700_000)
    expect(bridge.raw(data)).toBe('failure')
    expect(bridge.best()).toBeUndefined()
  })

  it.each([
    ['no transactions in three bytes', [0xfd, 0, 0], '0x'],
    ['no transactions, and bytes behind them', [0, 1, 2, 3, 4], '0x'],
    ['a transaction', [1], 'failure'],
    ['a number that is cut off', [0xfd, 0], 'failure'],
    ['six more bytes', [0, 0, 0, 0, 0, 0], 'failure'],
  ] as const)('before RSKIP-124: a header with %s', (_, more, result) => {
    const [header] = mineChain(1)
    if (header === undefined) throw new Error('no header')
    const bytes = texts([concat(header, Uint8Array.from(more))])
    expect(mainnetBridge(457).raw(dataOf('receiveHeaders', bytes))).toBe(result)
  })
})

describe('block 5,148,285 of the test network', () => {
  const HASH: Hex = '0x00000000e8e7b540df01a7067e020fd7e2026bf86289def2283a35120c1af379'
  /** The header of block 2,817,200 of Bitcoin's test network. */
  const HEAD =
    '0000642d6b8df2c8ae4a20e20a10ae3b34e485701b8ae7e80ede0828040000000000000063a17c3e5063da2f8f952e496beee729932d35f62c0765baaf12f32931f01c9b49354f66ecd410190f25f402'

  /** Confirmations and gas beside that of the data, with that head. BridgeSupportTest of the reference node has the figures. */
  function asked(number: number) {
    const contract = vmRulesOf(CHAINS.testnet)(number).precompiles.get(PRECOMPILE_ADDRESS.bridge)
    if (contract === undefined) throw new Error('no Bridge')
    const { env, storage } = freshBridge({ isLocal: false, isTop: false, number })
    const head = concat(fromBigIntFixed(1n, 12), fromBigIntFixed(2_817_200n, 4), fromDigits(HEAD))
    storage.setBytes(named('blockStoreChainHead'), head)
    const data = dataOf('getBtcTransactionConfirmations', HASH, HASH, 0n, [])
    const gas = gasOf(contract, data, env) - BigInt(data.length - 2)
    return { gas, result: BigInt.asIntN(256, BigInt(outcome(contract, data, env))) }
  }

  it('knows a header of Bitcoin that no cell has, and others do not', () => {
    expect(asked(5_148_284)).toEqual({ gas: 27_000n, result: -1n })
    expect(asked(5_148_286)).toEqual({ gas: 27_000n, result: -1n })
    const { gas, result } = asked(5_148_285)
    expect(gas).toBe(27_000n + 75n * 315n)
    // It is not on the best chain, of which no other header is stored here.
    expect(result).toBe(-2n)
  })
})

describe('a chain of bitcoind on regtest', () => {
  it('is taken in to its last block', () => {
    const bridge = freshBridge({ isTop: true, caller: FEDERATOR })
    const list = vectors.regtest.map((header) => `0x${header}`)
    for (let at = 0; at < list.length; at += 100)
      expect(bridge.raw(dataOf('receiveHeaders', list.slice(at, at + 100)))).toBe('0x')
    expect(bridge.call('getBtcBlockchainBestChainHeight')).toBe(613n)
    expect(bridge.call('getBtcBlockchainBlockHashAtDepth', [0n])).toBe(`0x${vectors.head}`)
    // The genesis and 613 blocks of two hashes each.
    expect(toBigInt(bridge.storage.bytes(named('blockStoreChainHead')).subarray(0, 32))).toBe(2n * 614n)
  })
})

describe('the checkpoints of a public network', () => {
  const read = (entry: string) => {
    const bytes = fromDigits(entry)
    const header = decodeParentHeader(bytes.subarray(16))
    return {
      work: toBigInt(bytes.subarray(0, 12)),
      height: Number(toBigInt(bytes.subarray(12, 16))),
      target: decodeTarget(header.bits),
      hash: hashValue(doubleSha256(bytes.subarray(16))),
    }
  }

  it.each([
    ['main', MAINNET],
    ['test', TESTNET],
  ] as const)('%s: are one in 2,016 blocks, and have the work that they claim', (name, network) => {
    const entries = vectors.checkpoints[name].map(read)
    expect(entries.map(({ height }) => height)).toEqual(entries.map((_, i) => (i + 1) * INTERVAL))
    expect(entries.filter(({ hash, target }) => hash > target)).toEqual([])
    const { checkpoint } = parentRules(network.parent)
    expect(entries.at(-1)?.height).toBe(checkpoint?.newestHeight)
    const first = entries.find(({ height }) => height === checkpoint?.first.height)
    expect([first?.hash, first?.work]).toEqual([checkpoint?.first.hash, checkpoint?.first.work])
  })

  it('main: have work that grows with the difficulty of each interval', () => {
    const entries = vectors.checkpoints.main.map(read)
    for (const [i, { work, target }] of entries.entries()) {
      const next = entries[i + 1]
      if (next === undefined) continue
      expect(next.work - work).toBe(BigInt(INTERVAL - 1) * workOf(target) + workOf(next.target))
    }
  })
})
