/** Votes on the federation, the whitelist, fees and caps: who may, what comes of them, and how they are stored. */
import { encodeAbiParameters, keccak256, parseAbiParameters, toHex as text } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressOf } from '../../../../src/chain/signature.ts'
import { keccak256 as hashOfBytes } from '../../../../src/encoding/hash.ts'
import { type Hex, toHex } from '../../../../src/encoding/hex.ts'
import { encodeRlp } from '../../../../src/encoding/rlp.ts'
import { freshBridge } from './calls.ts'

const utf8 = new TextEncoder()
const sender = (seed: string) => ({ caller: addressOf(hashOfBytes(utf8.encode(seed))) })
const rlp = (item: Parameters<typeof encodeRlp>[0]) => toHex(encodeRlp(item))
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))

/** Public keys of this chain's documents: the emergency keys of the local network. */
const KEYS = [
  '029cecea902067992d52c38b28bf0bb2345bda9b21eca76b16a17c477a64e43301',
  '03284178e5fbcc63c54c3b38e3ef88adf2da6c526313650041b0ef955763634ebd',
] as const

describe('votes for a federation', () => {
  const voters = ['auth-a', 'auth-b', 'auth-c', 'auth-d', 'auth-e'].map(sender)
  const add = (key: string) => [`0x${key}`, `0x${key}`, `0x${key}`]

  /** The results of three voters. */
  function decide(bridge: ReturnType<typeof freshBridge>, name: string, args: readonly unknown[] = []) {
    return voters.slice(0, 3).map((voter) => bridge.call(name, args, voter))
  }

  function pending(...keys: readonly string[]) {
    const bridge = freshBridge()
    decide(bridge, 'createFederation')
    for (const key of keys) decide(bridge, 'addFederatorPublicKeyMultikey', add(key))
    return bridge
  }

  it('are counted once for each voter, and pass with three of five', () => {
    const bridge = freshBridge()
    const [a, b, c] = voters as [(typeof voters)[0], (typeof voters)[0], (typeof voters)[0]]
    expect(bridge.call('createFederation', [], a)).toBe(1n)
    expect(bridge.call('createFederation', [], a)).toBe(-10n)
    expect(bridge.call('createFederation', [], b)).toBe(1n)
    expect(bridge.call('getPendingFederationSize')).toBe(-1n)
    const addresses = [a, b].map(({ caller }) => bytes(caller.slice(2))).sort(Buffer.compare)
    expect(bridge.cell('federationElection')).toBe(rlp([[utf8.encode('create'), []], addresses]))
    expect(bridge.call('createFederation', [], c)).toBe(1n)
    expect(bridge.call('getPendingFederationSize')).toBe(0n)
    expect(bridge.cell('federationElection')).toBe('0xc0')
    expect(bridge.cell('pendingFederation')).toBe('0xc0')
    expect(bridge.cell('pendingFederationFormatVersion')).toBe('0x8203e8')
    expect(bridge.call('createFederation', [], a)).toBe(-1n)
  })

  it('are refused from other senders, and then store nothing', () => {
    const bridge = freshBridge()
    for (const [name, args] of [
      ['createFederation', []],
      ['addFederatorPublicKeyMultikey', add(KEYS[0])],
      ['commitFederation', ['0x']],
      ['rollbackFederation', []],
    ] as const) {
      expect(bridge.call(name, args), name).toBe(-10n)
    }
    expect(bridge.storage.cells.size).toBe(0)
  })

  it('add members in the order of their keys', () => {
    const bridge = pending(KEYS[1], KEYS[0])
    expect(bridge.call('getPendingFederationSize')).toBe(2n)
    const member = (key: string) => [bytes(key), bytes(key), bytes(key)]
    expect(bridge.cell('pendingFederation')).toBe(rlp(KEYS.map(member)))
    expect(bridge.call('getPendingFederatorPublicKeyOfType', [0n, 'rsk'])).toBe(`0x${KEYS[0]}`)
    expect(bridge.call('getPendingFederatorPublicKeyOfType', [2n, 'rsk'])).toBe('failure')
  })

  it.each([
    ['addFederatorPublicKeyMultikey', add(KEYS[0]), [], -1n],
    ['addFederatorPublicKeyMultikey', add(KEYS[0]), [KEYS[0]], -2n],
    ['addFederatorPublicKeyMultikey', ['0x01', '0x', '0x'], [KEYS[0]], -10n],
    ['commitFederation', [`0x${'00'.repeat(32)}`], [], -1n],
    ['commitFederation', [`0x${'00'.repeat(32)}`], [KEYS[0]], -2n],
    ['commitFederation', [`0x${'00'.repeat(32)}`], KEYS, -3n],
    ['commitFederation', ['0x00'], KEYS, 'failure'],
    ['rollbackFederation', [], [], -1n],
  ] as const)('%s %s of %s: %s', (name, args, keys, result) => {
    const bridge = keys.length === 0 ? freshBridge() : pending(...keys)
    expect(bridge.call(name, args, voters[3])).toBe(result)
  })

  it('commit a federation, which is then proposed', () => {
    const bridge = pending(...KEYS)
    const hash = toHex(hashOfBytes(encodeRlp(KEYS.map(bytes))))
    expect(bridge.call('getPendingFederationHash')).toBe(hash)
    expect(decide(bridge, 'commitFederation', [hash])).toEqual([1n, 1n, 1n])
    expect(bridge.call('getPendingFederationSize')).toBe(-1n)
    expect(bridge.call('getProposedFederationSize')).toBe(2n)
    expect(bridge.call('getProposedFederationCreationTime')).toBe(1_000_000n)
    expect(bridge.call('getProposedFederationCreationBlockNumber')).toBe(1n)
    expect(bridge.call('getProposedFederatorPublicKeyOfType', [1n, 'btc'])).toBe(`0x${KEYS[1]}`)
    expect(bridge.cell('proposedFederationFormatVersion')).toBe('0x820fa0')
    expect(bridge.cell('pendingFederation')).toBe('0x')
    const active = ['btc', 'btc', 'btc'].map((type, i) =>
      (bridge.call('getFederatorPublicKeyOfType', [BigInt(i), type]) as string).slice(2),
    )
    const address = bridge.call('getProposedFederationAddress') as string
    expect(address).toMatch(/^2/)
    expect(bridge.logs).toEqual([
      {
        topics: [keccak256(text('commit_federation(bytes,string,bytes,string,int256)'))],
        data: encodeAbiParameters(parseAbiParameters('bytes, string, bytes, string, int256'), [
          `0x${active.join('')}`,
          bridge.call('getFederationAddress') as string,
          `0x${KEYS.join('')}`,
          address,
          151n,
        ]),
      },
    ])
    expect(bridge.call('createFederation', [], voters[0])).toBe(-4n)
  })

  it('roll a federation back', () => {
    const bridge = pending(KEYS[0])
    expect(decide(bridge, 'rollbackFederation')).toEqual([1n, 1n, 1n])
    expect(bridge.call('getPendingFederationSize')).toBe(-1n)
    expect(bridge.cell('pendingFederation')).toBe('0x')
  })
})

describe('the whitelist', () => {
  const voter = sender('auth-lock-whitelist')
  const ADDRESS = '2N7ZgQyhFKm17RbaLqygYbS7KLrQfapyZzu'

  it('is changed by one voter', () => {
    const bridge = freshBridge()
    expect(bridge.call('addOneOffLockWhitelistAddress', [ADDRESS, 5n])).toBe(-10n)
    expect(bridge.storage.cells.size).toBe(0)
    expect(bridge.call('addOneOffLockWhitelistAddress', [ADDRESS, 5n], voter)).toBe(1n)
    expect(bridge.call('addUnlimitedLockWhitelistAddress', [ADDRESS], voter)).toBe(-1n)
    expect(bridge.call('getLockWhitelistSize')).toBe(1n)
    expect(bridge.call('getLockWhitelistEntryByAddress', [ADDRESS])).toBe(5n)
    expect(bridge.cell('lockWhitelist')).toMatch(/^0xdb94[0-9a-f]{40}05847fffffff$/)
    expect(bridge.cell('unlimitedLockWhitelist')).toBe('0xc0')
    expect(bridge.call('removeLockWhitelistAddress', [ADDRESS], voter)).toBe(1n)
    expect(bridge.call('removeLockWhitelistAddress', [ADDRESS], voter)).toBe(-1n)
    expect(bridge.call('addUnlimitedLockWhitelistAddress', [ADDRESS], voter)).toBe(1n)
    expect(bridge.call('getLockWhitelistEntryByAddress', [ADDRESS])).toBe(0n)
    expect(bridge.call('getLockWhitelistAddress', [0n])).toMatch(/^[mn]/)
    expect(bridge.call('getLockWhitelistAddress', [1n])).toBe('')
  })

  it('refuses invalid addresses before it checks the sender', () => {
    const bridge = freshBridge()
    for (const caller of [voter, {}]) {
      expect(bridge.call('addOneOffLockWhitelistAddress', ['1', 5n], caller)).toBe(-2n)
      expect(bridge.call('addUnlimitedLockWhitelistAddress', ['x'.repeat(5000)], caller)).toBe(-2n)
    }
    expect(bridge.call('removeLockWhitelistAddress', ['1'], voter)).toBe(-2n)
    expect(bridge.call('removeLockWhitelistAddress', ['1'])).toBe(-10n)
    expect(bridge.call('addOneOffLockWhitelistAddress', [ADDRESS, 2n ** 63n], voter)).toBe('failure')
  })

  it('is disabled once, from a height on', () => {
    const bridge = freshBridge()
    const set = (delay: bigint) => bridge.call('setLockWhitelistDisableBlockDelay', [delay], voter)
    expect(bridge.call('setLockWhitelistDisableBlockDelay', [5n])).toBe(-10n)
    expect(set(0n)).toBe(-2n)
    expect(bridge.cell('lockWhitelist')).toBe('0xc5847fffffff')
    expect(set(2n ** 31n)).toBe('failure')
    expect(set(5n)).toBe(1n)
    expect(bridge.cell('lockWhitelist')).toBe('0xc105')
    expect(set(5n)).toBe(-1n)
  })
})

describe('the fee of peg-outs', () => {
  const voter = sender('auth-fee-per-kb')

  it.each([
    [1n, 1n, 1n],
    [5_000_000n, 1n, 5_000_000n],
    [5_000_001n, -2n, 100_000n],
    [0n, -1n, 100_000n],
    [2n ** 63n, -10n, 100_000n],
  ])('%i: %i', (fee, result, after) => {
    const bridge = freshBridge()
    expect(bridge.call('voteFeePerKbChange', [fee], voter)).toBe(result)
    expect(bridge.call('getFeePerKb')).toBe(after)
    expect(bridge.cell('feePerKbElection')).toBe(result === 1n ? '0xc0' : '0x')
  })

  it('is refused from other senders', () => {
    expect(freshBridge().call('voteFeePerKbChange', [1n])).toBe(-10n)
  })
})

describe('the locking cap', () => {
  const voter = sender('auth-increase_locking_cap')
  const CAP = 100_000_000_000n

  it.each<[bigint, unknown, Hex]>([
    [CAP, true, '0x85174876e800'],
    [2n * CAP, true, '0x852e90edd000'],
    [2n * CAP + 1n, false, '0x85174876e800'],
    [CAP - 1n, false, '0x85174876e800'],
    [0n, 'failure', '0x'],
    [2n ** 63n, 'failure', '0x'],
  ])('%i: %s', (cap, result, cell) => {
    const bridge = freshBridge()
    expect(bridge.call('increaseLockingCap', [cap], voter)).toBe(result)
    expect(bridge.cell('lockingCap')).toBe(cell)
  })

  it('is not increased by other senders', () => {
    const bridge = freshBridge()
    expect(bridge.call('increaseLockingCap', [2n * CAP])).toBe(false)
    expect(bridge.call('increaseLockingCap', [0n])).toBe('failure')
    expect(bridge.cell('lockingCap')).toBe('0x')
  })
})
