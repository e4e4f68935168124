/** The node as a whole: determinism, stores, snapshots with wallets, addresses. */
import { describe, expect, it } from 'vitest'
import { type Bitcoin, type BitcoinStore, createBitcoin, encodeState } from '../../src/bitcoin/bitcoin.ts'
import { publicKeyOf } from '../../src/bitcoin/private-key.ts'
import { addressOf, scriptOfAddress } from '../../src/bitcoin/regtest-address.ts'
import { ADDRESS_TYPES, scriptForKey } from '../../src/bitcoin/wallet/model.ts'
import { balancesOf, walletCoins } from '../../src/bitcoin/wallet/wallet-coins.ts'
import { checksumOf } from '../../src/bitcoin-rpc/descriptor.ts'
import { KEY, newNode } from './chain/test-chain.ts'
import { library } from './library.ts'

const WALLET = {
  name: 'w',
  hasPrivateKeys: true,
  isBlank: false,
  avoidsReuse: false,
  hasDescriptors: true,
  passphrase: '',
}
const SOURCE = { label: 'mining', time: 0 }

/** A wallet that has mined; the script of its address. */
function mineToWallet(node: Bitcoin, blocks: number): Uint8Array {
  node.wallets.create(WALLET)
  const wallet = node.wallets.get('w')
  if (wallet === undefined) throw new Error('the wallet was not made')
  const { script } = node.wallets.newScript(wallet, 'bech32', false, SOURCE)
  node.mine(blocks, script)
  return script
}

function balance(node: Bitcoin): bigint {
  const wallet = node.wallets.get('w')
  if (wallet === undefined) return -1n
  return balancesOf(walletCoins(node.chain.state, node.wallets.state, wallet)).trusted
}

/** A store in memory, which can be told to fail. */
class MemoryStore implements BitcoinStore {
  readonly kept = new Map<string, Uint8Array>()
  isBroken = false

  entries() {
    return this.kept.entries()
  }

  write(changes: Parameters<BitcoinStore['write']>[0]): void {
    if (this.isBroken) throw new Error('the disk is full')
    for (const { key, value } of changes) {
      if (value === undefined) this.kept.delete(key)
      else this.kept.set(key, value)
    }
  }
}

describe('a node', () => {
  it('makes the same blocks and addresses with the same clock and seed, others with another seed', () => {
    const [one, two, other] = [newNode(), newNode(), newNode({ seed: new Uint8Array(32).fill(9) })]
    const scripts = [one, two, other].map((node) => mineToWallet(node, 5))
    expect(encodeState(one.snapshot())).toEqual(encodeState(two.snapshot()))
    expect(scripts[0]).not.toEqual(scripts[2])
  })

  it('continues where its store left it, with its wallets', () => {
    const store = new MemoryStore()
    const node = newNode({ store })
    mineToWallet(node, 103)
    const again = createBitcoin({ clock: () => 1_800_000_000, seed: new Uint8Array(32).fill(1), store })
    expect(again.chain.state.best).toBe(node.chain.state.best)
    expect(balance(again)).toBe(3n * 5_000_000_000n)
    expect(balance(again)).toBe(balance(node))
  })

  it('stays as it was when its store fails', () => {
    const store = new MemoryStore()
    const node = newNode({ store })
    const script = mineToWallet(node, 2)
    const before = node.snapshot()
    store.isBroken = true
    expect(() => node.mine(1, script)).toThrow('the disk is full')
    expect(() => node.wallets.create({ ...WALLET, name: 'x' })).toThrow('the disk is full')
    expect(node.snapshot()).toEqual(before)
    store.isBroken = false
    node.mine(1, script)
    expect(node.chain.state.active.size).toBe(4)
  })

  it('goes back to a snapshot and forth to a later one', () => {
    const node = newNode()
    const script = mineToWallet(node, 101)
    const first = node.snapshot()
    node.mine(5, script)
    node.wallets.create({ ...WALLET, name: 'later' })
    const second = node.snapshot()
    node.restore(first)
    expect(node.chain.state.active.size).toBe(102)
    expect(node.wallets.get('later')).toBeUndefined()
    node.mine(1, script)
    node.restore(second)
    expect(encodeState(node.snapshot())).toEqual(encodeState(second))
  })
})

describe('addresses', () => {
  it.each(ADDRESS_TYPES)('of type %s are those of bitcoinjs-lib', (type) => {
    const { script } = scriptForKey(publicKeyOf(KEY), type)
    const address = addressOf(script)
    expect(address).toBeDefined()
    const parsed = library.address.toOutputScript(address as string, library.networks.regtest)
    expect(new Uint8Array(parsed)).toEqual(script)
    expect(scriptOfAddress(address as string)).toEqual(script)
  })

  it('of other networks, with wrong checksums and of wrong lengths are none', () => {
    for (const text of [
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt081',
      '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
      '',
      'x'.repeat(10_000),
    ]) {
      expect(scriptOfAddress(text)).toBeUndefined()
    }
  })

  it('have the descriptor checksum of BIP-380', () => {
    expect(checksumOf('raw(deadbeef)')).toBe('89f8spxm')
  })
})
