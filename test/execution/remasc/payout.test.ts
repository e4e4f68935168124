import { describe, expect, it } from 'vitest'
import { CHAINS, PRECOMPILE_ADDRESS, REMASC_SENDER } from '../../../src/chain/config.ts'
import { type Header, headerHash } from '../../../src/chain/header.ts'
import type { Log } from '../../../src/chain/receipt.ts'
import { fromBigInt } from '../../../src/encoding/bytes.ts'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import { asBigInt, asBytes, asList, decodeRlp } from '../../../src/encoding/rlp.ts'
import { REMASC_SLOT } from '../../../src/state/remasc-storage.ts'
import { headerWith } from '../../chain/headers.ts'
import { fixture } from '../../support/fixture.ts'
import { RemascChain } from './chain.ts'

const config = CHAINS.regtest
const LABS: Hex = '0xdabadabadabadabadabadabadabadabadaba0001'
const FEDERATORS: readonly Hex[] = [
  '0x6b045752f4d650a510a353bbf7e52988331e7f5b',
  '0x85845342b0d5260d516d6da5280a7df9a96d1925',
  '0x138161cda86b55c0de1bc3a0adef974633c85fbe',
]

function miner(n: number): Hex {
  return `0x${'aa'.repeat(18)}${n.toString(16).padStart(4, '0')}`
}

function uncle(number: number, changes: Partial<Header> = {}): Header {
  return headerWith({ number, coinbase: `0x${'bb'.repeat(20)}`, ...changes })
}

/** Payee, amount and the block that a log is about. */
function read({ address, topics, data }: Log): { to: Hex; amount: bigint; block: Hex } {
  expect(address).toBe(PRECOMPILE_ADDRESS.remasc)
  expect(topics).toHaveLength(2)
  expect(topics[0]).toBe(`0x${Buffer.from('mining_fee_topic').toString('hex').padStart(64, '0')}`)
  expect(topics[1]?.slice(0, 26)).toBe(`0x${'0'.repeat(24)}`)
  const [block, amount, ...rest] = asList(decodeRlp(data), 'data')
  expect(rest).toEqual([])
  return {
    to: `0x${topics[1]?.slice(26)}`,
    amount: asBigInt(amount, 'amount'),
    block: toHex(asBytes(block, 'hash')),
  }
}

interface UncleFixture {
  readonly blocks: readonly {
    readonly number: number
    readonly coinbase: Hex
    readonly paidFees: string
    readonly minimumGasPrice: string
    readonly uncles: readonly { number: number; paidFees: string; uncleCount: number; coinbase: Hex }[]
    readonly payments: readonly (readonly [Hex, string])[]
    readonly cells: Readonly<Record<Exclude<keyof typeof REMASC_SLOT, 'siblings'>, string>>
  }[]
  readonly balances: Readonly<Record<Hex | 'remasc', string>>
}

describe('a chain with uncles (fixtures/remasc/uncles.json)', () => {
  const { blocks, balances } = fixture<UncleFixture>('remasc/uncles.json')

  it('makes the payments that were calculated by hand, in the same order, with the same balances', () => {
    const chain = new RemascChain(config)
    for (const { number, coinbase, paidFees, minimumGasPrice, uncles, payments, cells } of blocks) {
      const logs = chain.add({
        coinbase,
        paidFees: BigInt(paidFees),
        minimumGasPrice: BigInt(minimumGasPrice),
        uncles: uncles.map((u) => uncle(u.number, { ...u, paidFees: BigInt(u.paidFees) })),
      })
      const paid = logs.map(read)
      expect(
        paid.map(({ to, amount }) => [to, String(amount)]),
        `block ${number}`,
      ).toEqual(payments)
      for (const { block } of paid) expect(block).toBe(chain.blocks[number - 10]?.hash)
      for (const [name, value] of Object.entries(cells)) {
        expect(String(chain.cell(name as keyof typeof cells)), `${name} after block ${number}`).toBe(value)
      }
      expect(toHex(fromBigInt(chain.cell('siblings')))).toBe('0xc0')
    }
    for (const [holder, balance] of Object.entries(balances)) {
      const address = holder === 'remasc' ? PRECOMPILE_ADDRESS.remasc : (holder as Hex)
      expect(String(chain.balance(address)), holder).toBe(balance)
    }
    expect(chain.state.account(REMASC_SENDER)?.nonce).toBe(BigInt(blocks.length))
  })
})

describe('the payout', () => {
  it('writes five logs of 0 from block 15 on when no fees were collected, and creates the payees’ accounts', () => {
    const chain = new RemascChain(config)
    for (let n = 1; n <= 14; n++) expect(chain.add({ coinbase: miner(n) })).toEqual([])
    expect([LABS, ...FEDERATORS, miner(5)].map((payee) => chain.balance(payee))).toEqual(
      Array(5).fill(undefined),
    )
    const paid = chain.add().map(read)
    const block = chain.blocks[5]?.hash
    expect(paid).toEqual([LABS, ...FEDERATORS, miner(5)].map((to) => ({ to, amount: 0n, block })))
    expect([LABS, ...FEDERATORS, miner(5)].map((payee) => chain.balance(payee))).toEqual(Array(5).fill(0n))
  })

  it('writes an amount of 0 as an empty string', () => {
    const chain = new RemascChain(config)
    for (let n = 1; n <= 14; n++) chain.add()
    const [log] = chain.add()
    expect(toHex((log as Log).data)).toBe(`0xe2a0${chain.blocks[5]?.hash.slice(2)}80`)
  })

  it('writes a marker to storage from the first block on', () => {
    const chain = new RemascChain(config)
    chain.add()
    expect(
      chain.state.storage(PRECOMPILE_ADDRESS.remasc, BigInt(`0x${Buffer.from('siblings').toString('hex')}`)),
    ).toBe(0xc0n)
  })

  it('uses the names of the cells as slots', () => {
    for (const [name, slot] of Object.entries(REMASC_SLOT)) {
      expect(slot).toBe(BigInt(`0x${Buffer.from(name).toString('hex')}`))
    }
  })

  it('reads the block that matures and the seven above it, at any height', () => {
    const chain = new RemascChain(config)
    for (let n = 1; n < 60; n++) chain.add()
    for (let i = 0; i < 3; i++) {
      chain.add()
      expect(chain.asked.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    }
  })

  it('changes no storage and no payee when no fees were collected', () => {
    const chain = new RemascChain(config)
    for (let n = 1; n <= 20; n++) chain.add()
    chain.settle()
    expect(chain.add()).toHaveLength(5)
    const { accounts, storage } = chain.state.changes()
    expect([...accounts.keys()]).toEqual([PRECOMPILE_ADDRESS.remasc, REMASC_SENDER])
    expect(storage.size).toBe(0)
  })

  it.each([
    ['nothing but the sibling’s lower hash, fees being more than half', 10n, 6n, 'lower', 1n],
    ['a higher hash', 10n, 6n, 'higher', 0n],
    ['a lower hash with half of the fees', 10n, 5n, 'lower', 0n],
    ['twice the fees and a higher hash', 10n, 20n, 'higher', 0n],
    ['more than twice the fees and a higher hash', 10n, 21n, 'higher', 1n],
    ['a lower hash where nobody collected anything', 0n, 0n, 'lower', 0n],
  ] as const)('determines whether the selection rule is broken by %s', (_, own, others, hash, expected) => {
    const chain = new RemascChain(config)
    for (let n = 1; n <= 5; n++) chain.add({ paidFees: n === 5 ? own : 0n })
    const main = chain.blocks[5]?.hash as Hex
    const candidates = Array.from({ length: 64 }, (_, timestamp) => uncle(5, { timestamp, paidFees: others }))
    const sibling = candidates.find((header) => headerHash(header, config) < main === (hash === 'lower'))
    chain.add({ uncles: [sibling as Header] })
    for (let n = 7; n <= 15; n++) chain.add()
    expect(chain.cell('brokenSelectionRule')).toBe(expected)
  })

  it('ignores uncles of other heights', () => {
    const chain = new RemascChain(config)
    for (let n = 1; n <= 6; n++)
      chain.add({ uncles: n === 6 ? [uncle(4, { paidFees: 100n, uncleCount: 3 })] : [] })
    for (let n = 7; n <= 15; n++) chain.add()
    expect(chain.cell('brokenSelectionRule')).toBe(0n)
  })
})

describe('the networks', () => {
  it.each([
    ['regtest', 15, 3],
    ['devnet', 30, 3],
    ['testnet', 60, 4],
  ] as const)(
    '%s first pays out in block %i, to labs, %i federators and a miner',
    (name, first, federators) => {
      const chain = new RemascChain(CHAINS[name])
      for (let n = 1; n < first; n++) expect(chain.add()).toEqual([])
      const paid = chain.add().map(read)
      expect(paid).toHaveLength(federators + 2)
      expect(paid[0]?.to).toBe(CHAINS[name].reward.labsAddressAt(first))
    },
  )

  it('mainnet has 15 federators, its own labs address since RSKIP-218, and minimums since RSKIP-85', () => {
    const { reward } = CHAINS.mainnet
    expect(reward).toMatchObject({ maturity: 4000, syntheticSpan: 10 })
    expect(new Set(reward.federators).size).toBe(15)
    expect(reward.labsAddressAt(3_614_799)).toBe('0x14d3065c8eb89895f4df12450ec6b130049f8034')
    expect(reward.labsAddressAt(3_614_800)).toBe('0xdcb12179ba4697350f66224c959bdd9c282818df')
    expect(reward.minimumGasAt(728_999)).toEqual({ payout: 0n, federator: 0n })
    expect(reward.minimumGasAt(729_000)).toEqual({ payout: 200_000n, federator: 50_000n })
  })
})
