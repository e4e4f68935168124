import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import golden from '../../fixtures/chain/genesis.json' with { type: 'json' }
import local from '../../fixtures/chain/local-accounts.json' with { type: 'json' }
import { type Account, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import type { ChainName } from '../../src/chain/activations.ts'
import { CHAINS, PRECOMPILE_ADDRESS, withBlockGasLimit, withMinimumGasPrice } from '../../src/chain/config.ts'
import { type Genesis, LOCAL_BALANCE, parseGenesis } from '../../src/chain/genesis.ts'
import { decodeHeader, encodeHeader, headerHash } from '../../src/chain/header.ts'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { saying } from '../support/refusals.ts'

const ROOT: Hex = `0x${'ab'.repeat(32)}`
const LOCAL = local.map(({ address }) => address as Hex).slice(0, 10)

function fileOf(chain: ChainName): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(`../../genesis/${chain}.json`, import.meta.url), 'utf8'))
}

function genesisOf(chain: ChainName): Genesis {
  return parseGenesis(fileOf(chain), CHAINS[chain])
}

/** State root of the accounts of a genesis, by this node's own trie. */
function rootOf(genesis: Genesis): Hex {
  const trie = new StateTrie({ node: () => undefined, code: () => undefined })
  const overlay = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
  genesis.apply(overlay)
  return trie.commit(EMPTY_TRIE_ROOT, overlay.changes()).root
}

describe('the header of block 0', () => {
  it.each(golden)('equals the one of $chain', ({ chain, hash, preimage }) => {
    const config = CHAINS[chain as ChainName]
    const genesis = genesisOf(chain as ChainName)
    expect(genesis.hasHistoricalRoot).toBe(chain === 'mainnet')
    const header = genesis.header(rootOf(genesis))
    expect(toHex(encodeHeader(header, 'hash', config.rulesAt(0)))).toBe(preimage)
    expect(headerHash(header, config)).toBe(hash)
  })

  it.each(Object.values(CHAINS))('is the same after it is encoded and decoded: $name', (config) => {
    const header = parseGenesis(fileOf(config.network.genesis as ChainName), config).header(ROOT)
    const bytes = encodeHeader(header, 'full', config.rulesAt(0))
    const again = decodeHeader(bytes, config)
    expect(encodeHeader(again, 'full', config.rulesAt(0))).toEqual(bytes)
    expect(headerHash(again, config)).toBe(headerHash(header, config))
  })

  it('has the root of our own state when the real one is not known', () => {
    const genesis = genesisOf('devnet')
    expect(genesis.hasHistoricalRoot).toBe(false)
    expect(genesis.header(ROOT)).toMatchObject({ stateRoot: ROOT, gasLimit: 6_800_000n })
  })

  it('follows the settings of gas limit and price', () => {
    const config = withMinimumGasPrice(withBlockGasLimit(CHAINS.regtest, 30_000_000n), 7n)
    const header = parseGenesis(fileOf('regtest'), config).header(ROOT)
    expect(header).toMatchObject({ gasLimit: 30_000_000n, minimumGasPrice: 7n })
    const again = decodeHeader(encodeHeader(header, 'full', config.rulesAt(0)), config)
    expect(again).toMatchObject({ gasLimit: 30_000_000n, minimumGasPrice: 7n })
  })
})

describe('the accounts of genesis', () => {
  it('on regtest are ten rich local accounts, the bridge and every precompiled contract', () => {
    const { accounts } = genesisOf('regtest')
    for (const address of LOCAL) expect(accounts.get(address)?.balance).toBe(LOCAL_BALANCE)
    expect(accounts.get(PRECOMPILE_ADDRESS.bridge)).toMatchObject({
      balance: 21_000_000n * 10n ** 18n,
      nonce: 0n,
      isContract: true,
    })
    expect(accounts.get(PRECOMPILE_ADDRESS.blake2f)).toEqual({ balance: 0n, nonce: 0n, isContract: true })
    expect(accounts.size).toBe(10 + Object.keys(PRECOMPILE_ADDRESS).length)
  })

  it('on testnet are the bridge and the precompiled contracts that are active at genesis', () => {
    const { accounts } = genesisOf('testnet')
    expect(accounts.has(PRECOMPILE_ADDRESS.hdWalletUtils)).toBe(true)
    expect(accounts.has(PRECOMPILE_ADDRESS.blake2f)).toBe(false)
    expect(accounts.size).toBe(9)
  })

  it('on mainnet are the bridge alone', () => {
    expect([...genesisOf('mainnet').accounts.keys()]).toEqual([PRECOMPILE_ADDRESS.bridge])
  })

  it('on devnet include those without balance', () => {
    const { accounts } = genesisOf('devnet')
    expect(accounts.get('0xbc0afa86de01ebb58f7fe83ef01de204d4f8ced6')).toEqual({
      balance: 0n,
      nonce: 0n,
      isContract: false,
    })
    expect(accounts.get(LOCAL[0] as Hex)?.balance).toBe(LOCAL_BALANCE)
  })

  it('stay unchanged when they include the funded ones', () => {
    const genesis = parseGenesis(fileOf('regtest'), CHAINS.regtest, { addresses: LOCAL })
    expect(genesis.accounts).toEqual(genesisOf('regtest').accounts)
    expect(rootOf(genesis)).toBe(rootOf(genesisOf('regtest')))
  })

  it('include other funded accounts, and are then marked as changed', () => {
    const stranger: Hex = `0x${'77'.repeat(20)}`
    const genesis = parseGenesis(fileOf('regtest'), CHAINS.regtest, { addresses: [stranger, ...LOCAL] })
    expect(genesis.accounts.get(stranger)).toEqual({ balance: LOCAL_BALANCE, nonce: 0n, isContract: false })
    expect(genesis.hasHistoricalRoot).toBe(false)
    expect(genesis.header(ROOT).stateRoot).toBe(ROOT)
  })

  it('may have nonce, code and storage, written into a state in that order', () => {
    const contract = { code: '6001', data: { '01': 'ff', [`${'00'.repeat(31)}02`]: '0100' } }
    const alloc = {
      '00': { balance: '5' },
      [`${'AB'.repeat(20)}`]: { balance: '12', nonce: '3', contract },
    }
    const genesis = parseGenesis({ ...fileOf('mainnet'), alloc }, CHAINS.mainnet)
    const written: unknown[] = []
    genesis.apply({
      putAccount: (address: Hex, { balance, nonce }: Account) => written.push([address, balance, nonce]),
      putCode: (address: Hex, code: Uint8Array) => written.push([address, toHex(code)]),
      putStorage: (address: Hex, slot: bigint, value: bigint) => written.push([address, slot, value]),
    })
    const address = `0x${'ab'.repeat(20)}`
    expect(written).toEqual([
      [address, 12n, 3n],
      [address, '0x6001'],
      [address, 1n, 255n],
      [address, 2n, 256n],
    ])
  })
})

describe('a file that is wrong', () => {
  it.each<[string, Record<string, unknown>, string]>([
    [
      'lacks a key',
      { difficulty: undefined },
      'genesis file: difficulty: Invalid input: expected string, received undefined',
    ],
    [
      'has hex without a prefix',
      { gasLimit: '989680' },
      'genesis file: gasLimit: must be 0x and an even number of hex digits',
    ],
    ['has a short address', { coinbase: '0x33' }, 'genesis file: coinbase: must hold 20 bytes'],
    ['has a short root', { stateRoot: '0x33' }, 'genesis file: stateRoot: must hold 32 bytes'],
    [
      'has a balance in hex',
      { alloc: { [`${'11'.repeat(20)}`]: { balance: '0x1' } } },
      'genesis file: alloc.1111111111111111111111111111111111111111.balance: must be a decimal number in quotes',
    ],
    [
      'has an invalid address',
      { alloc: { '0x11': { balance: '1' } } },
      'genesis file: alloc.0x11: Invalid key in record',
    ],
    [
      'has half a byte of code',
      oddCode(),
      'genesis file: alloc.1111111111111111111111111111111111111111.contract.code: must hold whole bytes',
    ],
  ])('%s', (_, changes, message) => {
    const parse = () => parseGenesis({ ...fileOf('regtest'), ...changes }, CHAINS.regtest)
    expect(parse).toThrow(expect.objectContaining({ kind: 'invalid-options', message }))
  })

  it('is refused when it is not an object', () => {
    expect(() => parseGenesis('genesis', CHAINS.regtest)).toThrow(
      saying('genesis file: Invalid input: expected object, received string'),
    )
  })
})

function oddCode(): Record<string, unknown> {
  return { alloc: { [`${'11'.repeat(20)}`]: { balance: '1', contract: { code: '600', data: {} } } } }
}
