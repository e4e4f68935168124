/** What the bridge of a fresh local chain answers, against the reference node's local network. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, it } from 'vitest'
import { formatAddress, TEST_VERSIONS } from '../../../../src/bitcoin/address.ts'
import { toWitnessScript } from '../../../../src/bitcoin/output-script.ts'
import { decodeBase58Check } from '../../../../src/encoding/base58.ts'
import { keccak256, keccakHex } from '../../../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../../../src/encoding/hex.ts'
import { fixture } from '../../../support/fixture.ts'
import { freshBridge, GENESIS_HASH } from './calls.ts'

const bridge = freshBridge()
const HASH = 'ab'.repeat(32)
const KEYS: readonly Hex[] = [
  '0x02cd53fc53a07f211641a677d250f6de99caf620e8e77071e811a28b3bcddf0be1',
  '0x0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124',
  '0x03c5946b3fbae03a654237da863c9ed534e0878657175b132b8ca630f245df04db',
]
const REDEEM_SCRIPT = [
  '0x6452',
  ...KEYS.map((key) => `21${key.slice(2)}`),
  '53ae6702f401b27553',
  '21029cecea902067992d52c38b28bf0bb2345bda9b21eca76b16a17c477a64e43301',
  '2103284178e5fbcc63c54c3b38e3ef88adf2da6c526313650041b0ef955763634ebd',
  '2103ab0e2cd7ed158687fc13b88019990860cdb72b1f5777b58513312550ea1584bc',
  '2103b9fc46657cf72a1afa007ecf431de1cd27ff5cc8829fa625b66ca47b967e6b24',
  '54ae68',
].join('')

describe('a fresh bridge', () => {
  it.each<[string, readonly unknown[], unknown]>([
    ['getFederationSize', [], 3n],
    ['getFederationThreshold', [], 2n],
    ['getFederationCreationTime', [], BigInt(Date.UTC(2016, 0, 1) / 1000)],
    ['getFederationCreationBlockNumber', [], 1n],
    ['getActiveFederationCreationBlockHeight', [], 0n],
    ['getActivePowpegRedeemScript', [], REDEEM_SCRIPT],
    ['getFederatorPublicKeyOfType', [0n, 'btc'], KEYS[0]],
    ['getFederatorPublicKeyOfType', [1n, 'rsk'], KEYS[1]],
    ['getFederatorPublicKeyOfType', [2n, 'mst'], KEYS[2]],
    ['getFederatorPublicKeyOfType', [3n, 'btc'], 'failure'],
    ['getFederatorPublicKeyOfType', [-1n, 'btc'], 'failure'],
    ['getFederatorPublicKeyOfType', [0n, 'BTC'], 'failure'],
    ['getFeePerKb', [], 100_000n],
    ['getMinimumLockTxValue', [], 500_000n],
    ['getLockingCap', [], 100_000_000_000n],
    ['getUnionBridgeLockingCap', [], 10n ** 18n],
    ['getUnionBridgeContractAddress', [], `0x${'00'.repeat(20)}`],
    ['getPendingFederationHash', [], '0x'],
    ['getPendingFederationSize', [], -1n],
    ['getPendingFederatorPublicKeyOfType', [0n, 'rsk'], '0x'],
    ['getPendingFederatorPublicKeyOfType', [0n, 'eth'], 'failure'],
    ['getRetiringFederationAddress', [], ''],
    ['getRetiringFederationSize', [], -1n],
    ['getRetiringFederationThreshold', [], -1n],
    ['getRetiringFederationCreationTime', [], -1n],
    ['getRetiringFederationCreationBlockNumber', [], -1n],
    ['getRetiringFederatorPublicKeyOfType', [0n, 'mst'], '0x'],
    ['getProposedFederationAddress', [], ''],
    ['getProposedFederationSize', [], -1n],
    ['getProposedFederationCreationTime', [], -1n],
    ['getProposedFederationCreationBlockNumber', [], -1n],
    ['getProposedFederatorPublicKeyOfType', [0n, 'btc'], '0x'],
    ['getLockWhitelistSize', [], 0n],
    ['getLockWhitelistAddress', [0n], ''],
    ['getLockWhitelistEntryByAddress', ['2N7ZgQyhFKm17RbaLqygYbS7KLrQfapyZzu'], -1n],
    ['isBtcTxHashAlreadyProcessed', [HASH], false],
    ['isBtcTxHashAlreadyProcessed', [HASH.toUpperCase()], 'failure'],
    ['getBtcTxHashProcessedHeight', [HASH], -1n],
    ['getBtcTxHashProcessedHeight', [HASH.slice(2)], 'failure'],
    ['hasBtcBlockCoinbaseTransactionInformation', [GENESIS_HASH], false],
    ['getStateForBtcReleaseClient', [], '0xc1c0'],
    ['getStateForSvpClient', [], '0xc1c0'],
    ['getStateForDebugging', [], '0xcb8081c081c081c081c08180'],
    ['getNextPegoutCreationBlockNumber', [], 0n],
    ['getQueuedPegoutsCount', [], 0n],
    // 344 virtual bytes of two inputs and two outputs, 100,000 satoshi a thousand.
    ['getEstimatedFeesForNextPegOutEvent', [], 34_400n],
  ])('%s %s', (name, args, expected) => {
    expect(bridge.call(name, args)).toEqual(expected)
  })

  it('has the keys of the seeds federator1 to federator3', () => {
    const keys = ['federator1', 'federator2', 'federator3'].map((seed) =>
      toHex(secp256k1.getPublicKey(keccak256(new TextEncoder().encode(seed)), true)),
    )
    expect(keys.sort()).toEqual(KEYS)
  })

  it('returns a script address of the test networks', () => {
    const address = bridge.call('getFederationAddress') as string
    expect(address).toBe('2MvQSG61B4LtKLECeo1dRDeDWXgJfnr3fC7')
    expect(decodeBase58Check(address)).toHaveLength(21)
    expect(decodeBase58Check(address)[0]).toBe(196)
  })

  it('derives its address in the same way as a real federation', () => {
    const real = fixture<{ redeemScript: Hex; address: string }>('bridge/federation.json')
    expect(formatAddress(toWitnessScript(fromHex(real.redeemScript)), TEST_VERSIONS)).toBe(real.address)
  })

  it('stores the bytes that the reference node reads and writes back', () => {
    const names = ['blockStoreChainHead', 'lockingCap', 'newFederationBtcUTXOs', 'nextPegoutHeight']
    const requests = ['releaseRequestQueue', 'releaseRequestQueueWithTxHash']
    const releases = ['releaseTransactionSet', 'releaseTransactionSetWithTxHash', 'rskTxsWaitingFS']
    const lists = ['btcTxHashesAP', ...requests, ...releases]
    const slots = [...names, ...lists].map((name) => BigInt(toHex(new TextEncoder().encode(name))))
    const height = BigInt(keccakHex(new TextEncoder().encode('btcBlockHeight-0')))
    expect(new Set(bridge.storage.cells.keys())).toEqual(new Set([...slots, height, BigInt(GENESIS_HASH)]))
  })
})
