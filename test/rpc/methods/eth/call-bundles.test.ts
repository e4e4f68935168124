/** Calls in bundles, and bundles of signed transactions, in a row on the state of a block. */
import { AbiCoder, concat, keccak256, Transaction, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../../src/index.ts'
import { A, B, COW_KEY } from '../../../support/fake-chain.ts'

const word = (value: bigint | number | string) => `0x${BigInt(value).toString(16).padStart(64, '0')}`
const account = (digits: string) => `0x${digits.padEnd(39, '0')}1`
const [C0, C1, C2, C3] = [account('c0'), account('c1'), account('c2'), account('c3')] as const
/** Returns the word that the opcodes push. */
const returning = (opcodes: string) => `0x${opcodes}60005260206000f3`
const REVERT = '0x60006000fd'
/** Adds one to slot 0 and returns what it has then. */
const COUNTER = returning('60005460010180600055')
/** Reverts with `Error("nope")`. */
const REASON = AbiCoder.defaultAbiCoder().encode(['string'], ['nope']).slice(2)
const REVERT_NOPE = (() => {
  const payload = `08c379a0${REASON}`
  const size = payload.length / 2
  // CODECOPY of what follows the ten bytes of code, REVERT.
  return `0x60${size.toString(16)}600a5f3960${size.toString(16)}5ffd${payload}`
})()

let node: Node
const ask = <T = unknown>(method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  await ask('evm_mine', 2_000_000_000)
})
afterAll(() => node.close())

describe('eth_callMany', () => {
  it('runs each call after the previous ones, each bundle in its own block', async () => {
    const overrides = {
      [C1]: { code: COUNTER },
      [C2]: { code: returning('43') },
      [C3]: { code: REVERT_NOPE },
    }
    const answers = await ask(
      'eth_callMany',
      [
        { transactions: [{ to: C1 }, { to: C1 }, { to: C2 }] },
        { transactions: [{ to: C1 }, { to: C2 }, { to: C3 }], blockOverride: { number: 50 } },
        { transactions: [{ to: C2 }, { from: C0, to: C1, value: '0x1' }] },
      ],
      { blockNumber: 'latest' },
      overrides,
    )
    expect(answers).toEqual([
      [{ value: word(1) }, { value: word(2) }, { value: word(1) }],
      [{ value: word(3) }, { value: word(50) }, { error: 'revert nope' }],
      [
        { value: word(51) },
        { error: `insufficient funds for gas * price + value: address ${C0} have 0 want 1` },
      ],
    ])
    await expect(ask('eth_callMany', [])).rejects.toMatchObject({ code: -32602 })
  })

  it('runs between the transactions of a block', async () => {
    const own = await createNode({ mining: 'manual' })
    try {
      const call = <T>(method: string, ...params: unknown[]) => own.request({ method, params }) as Promise<T>
      await call('hardhat_setCode', C1, COUNTER)
      for (let i = 0; i < 2; i++)
        await call('eth_sendTransaction', { from: A, to: C1, gas: '0xea60', gasPrice: '0x1' })
      await call('evm_mine')
      const counted = async (context: object | null) =>
        (await call<{ value: string }[][]>('eth_callMany', [{ transactions: [{ to: C1 }] }], context))[0]?.[0]
          ?.value
      expect(await counted({ transactionIndex: 0 })).toBe(word(1))
      expect(await counted({ transactionIndex: '0x1' })).toBe(word(2))
      expect(await counted({ transactionIndex: 2, blockNumber: '0x1' })).toBe(word(3))
      expect(await counted({ transactionIndex: -1 })).toBe(word(3))
      expect(await counted(null)).toBe(word(3))
    } finally {
      await own.close()
    }
  })
})

describe('eth_callBundle', () => {
  const wallet = new Wallet(`0x${Buffer.from(COW_KEY).toString('hex')}`)
  const sign = (nonce: number, fields: object) =>
    wallet.signTransaction({ type: 0, nonce, gasPrice: 2, gasLimit: 100_000, chainId: 33, ...fields })

  it('returns the results and payments of signed transactions', async () => {
    const coinbase = account('cb')
    const txs = [
      await sign(0, { to: coinbase, value: 500 }),
      await sign(1, { to: null, data: REVERT }),
      await sign(2, { to: B, value: 1 }),
    ]
    const hashes = txs.map((raw) => Transaction.from(raw).hash as string)
    const answer = await ask('eth_callBundle', {
      txs,
      blockNumber: '0x2',
      stateBlockNumber: 'latest',
      coinbase,
    })
    // A creation costs 53,000, 16 for each byte but zeros and 4 for zeros, 2 for its word; two pushes of 3.
    const failed = 53_000 + 3 * 16 + 2 * 4 + 2 + 6
    const gasUsed = 21_000 + failed + 21_000
    expect(answer).toMatchObject({
      bundleHash: keccak256(concat(hashes)),
      totalGasUsed: gasUsed,
      gasFees: String(2 * gasUsed),
      ethSentToCoinbase: '500',
      coinbaseDiff: String(2 * gasUsed + 500),
      bundleGasPrice: String(Math.floor((2 * gasUsed + 500) / gasUsed)),
      stateBlockNumber: 1,
      results: [
        {
          txHash: hashes[0],
          fromAddress: A,
          toAddress: coinbase,
          gasUsed: 21_000,
          ethSentToCoinbase: '500',
          value: '0x',
        },
        { txHash: hashes[1], toAddress: null, gasUsed: failed, gasPrice: '2', revert: '0x' },
        { txHash: hashes[2], gasUsed: 21_000, value: '0x' },
      ],
    })
    expect(await ask('eth_getTransactionCount', A, 'latest')).toBe('0x0')
  })

  it('refuses a bundle with a transaction that cannot be included', async () => {
    const raw = await sign(1, { to: B })
    const bundle = { txs: [raw], blockNumber: 2 }
    await expect(ask('eth_callBundle', bundle)).rejects.toMatchObject({
      code: -32010,
      message: `${keccak256(raw)}: nonce 1 is not the account's 0`,
    })
    await expect(ask('eth_callBundle', { txs: [], blockNumber: 2 })).rejects.toMatchObject({ code: -32602 })
    await expect(ask('eth_callBundle', { ...bundle, stateBlockNumber: '0x63' })).rejects.toMatchObject({
      code: -32602,
    })
  })
})
