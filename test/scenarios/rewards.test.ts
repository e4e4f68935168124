/** Rewards as a user of the local chain sees them: receipts, balances, and the contract itself. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'
import { replayFromGenesis } from '../support/replay.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
const REMASC = '0x0000000000000000000000000000000001000008'
const LABS = '0xdabadabadabadabadabadabadabadabadaba0001'
const FEDERATORS = [
  '0x6b045752f4d650a510a353bbf7e52988331e7f5b',
  '0x85845342b0d5260d516d6da5280a7df9a96d1925',
  '0x138161cda86b55c0de1bc3a0adef974633c85fbe',
]
const MINER = '0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d'
const PAYEES = [LABS, ...FEDERATORS, MINER]
/** The fee of a transfer at 1 gwei, wei: 21,000 × 10^9. */
const FEE = 21_000_000_000_000n

interface LogReply {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

let node: Node
const call = (method: string, ...params: unknown[]) => node.request({ method, params })
const mine = (blocks: number) => call('evm_mine', { blocks })
const balance = async (address: string) => BigInt((await call('eth_getBalance', address, 'latest')) as Hex)
const transfer = () =>
  call('eth_sendTransaction', { from: A, to: B, value: '0x1', gas: '0x5208', gasPrice: '0x3b9aca00' })

beforeEach(async () => {
  node = await createNode()
})

afterEach(() => node.close())

/** Logs of the transaction that ends a block. */
async function remascLogs(number: number): Promise<readonly LogReply[]> {
  const block = (await call('eth_getBlockByNumber', `0x${number.toString(16)}`, false)) as {
    transactions: readonly Hex[]
  }
  const receipt = (await call('eth_getTransactionReceipt', block.transactions.at(-1))) as {
    logs: readonly LogReply[]
  }
  return receipt.logs
}

describe('a chain without fees', () => {
  it('logs five payments of 0 from block 15 on: labs, federators, miner', async () => {
    await mine(17)
    expect(await remascLogs(14)).toEqual([])
    for (const number of [15, 16, 17]) {
      const logs = await remascLogs(number)
      const { hash } = (await call('eth_getBlockByNumber', `0x${(number - 10).toString(16)}`, false)) as {
        hash: Hex
      }
      expect(logs.map(({ address, topics, data }) => ({ address, topics, data }))).toEqual(
        PAYEES.map((payee) => ({
          address: REMASC,
          topics: [
            '0x000000000000000000000000000000006d696e696e675f6665655f746f706963',
            `0x${'0'.repeat(24)}${payee.slice(2)}`,
          ],
          data: `0xe2a0${hash.slice(2)}80`,
        })),
      )
    }
    expect(await Promise.all(PAYEES.map(balance))).toEqual(Array(5).fill(0n))
    expect(await replayFromGenesis(node)).toBe(18)
  })

  it('finds the payments of a payee by topic', async () => {
    await mine(20)
    const topics = [null, `0x${'0'.repeat(24)}${LABS.slice(2)}`]
    const logs = (await call('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest', topics })) as LogReply[]
    expect(logs).toHaveLength(6)
  })
})

describe('a chain with fees', () => {
  // A fee enters the pot ten blocks later, and each block from 15 on pays a fifth of the pot.
  it('pays out a fifth of the fees at a time, once they are mature', async () => {
    await mine(2)
    await transfer()
    await mine(11)
    expect(await balance(REMASC)).toBe(FEE)
    expect(await balance(MINER)).toBe(0n)
    await mine(1)
    const first = {
      labs: 840_000_000_000n,
      // 1% of 3,360,000,000,000 in three.
      federator: 11_200_000_000n,
      miner: 3_326_400_000_000n,
    }
    expect(await balance(LABS)).toBe(first.labs)
    for (const federator of FEDERATORS) expect(await balance(federator)).toBe(first.federator)
    expect(await balance(MINER)).toBe(first.miner)
    expect(await balance(REMASC)).toBe((FEE * 4n) / 5n)
    await mine(1)
    expect(await balance(MINER)).toBe(first.miner + (first.miner * 4n) / 5n)
    expect(await balance(REMASC)).toBe((FEE * 16n) / 25n)
    expect(await replayFromGenesis(node)).toBe(17)
  })

  it('reverts payments with their blocks', async () => {
    await transfer()
    await mine(13)
    const id = await call('evm_snapshot')
    await mine(3)
    expect(await balance(LABS)).not.toBe(0n)
    await call('evm_revert', id)
    expect(await balance(LABS)).toBe(0n)
    expect(await balance(REMASC)).toBe(FEE)
  })

  // The first payout of the case above: 3,326,400,000,000 for publishers, siblings and miner of block 5. A tenth for
  // who named the sibling, the rest halved; nobody was late, nothing was left over.
  it('pays a part to a sibling and to the block that includes it', async () => {
    await transfer()
    await mine(3)
    const parent = node.engine.queries.head().hash
    await mine(1)
    const [sibling] = await node.engine.commands.mine({ parent })
    expect(sibling?.block.header.number).toBe(5)
    await mine(10)
    const amounts = (await remascLogs(15)).map(({ topics, data }) => [
      `0x${topics[1]?.slice(26)}`,
      BigInt(`0x${data.slice(72)}`),
    ])
    expect(amounts.slice(4)).toEqual([
      [MINER, 332_640_000_000n],
      [MINER, 1_496_880_000_000n],
      [MINER, 1_496_880_000_000n],
    ])
    expect(await balance(MINER)).toBe(3_326_400_000_000n)
    expect(await replayFromGenesis(node)).toBe(16)
  })
})

describe('the contract, called by others', () => {
  // Pot 16,800,000,000,000 after the first payout: 0x0f478e084000 in six bytes.
  it('shows its state', async () => {
    await transfer()
    await mine(14)
    const output = await call('eth_call', { to: REMASC, data: '0x0d0cee93' }, 'latest')
    expect(output).toBe(
      `0x${'20'.padStart(64, '0')}${'0b'.padStart(64, '0')}${'ca860f478e08400080c000'.padEnd(64, '0')}`,
    )
  })

  it('pays nothing on request, and keeps no value', async () => {
    await transfer()
    await mine(13)
    const hash = await call('eth_sendTransaction', { from: A, to: REMASC, value: '0x5', gas: '0x186a0' })
    const receipt = await call('eth_getTransactionReceipt', hash)
    expect(receipt).toMatchObject({ status: '0x1', logs: [], gasUsed: '0x5208' })
    expect(await balance(REMASC)).toBe((FEE * 4n) / 5n)
  })
})
