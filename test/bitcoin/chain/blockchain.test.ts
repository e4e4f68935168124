/** Blocks and transactions of regtest: what is accepted, and Bitcoin Core's reason for what is not. */
import { createRequire } from 'node:module'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Bitcoin } from '../../../src/bitcoin/bitcoin.ts'
import { type Block, encodeBlock, idOf, transactionsRoot } from '../../../src/bitcoin/chain/block.ts'
import { outputKey } from '../../../src/bitcoin/chain/coin.ts'
import { mined } from '../../../src/bitcoin/chain/header.ts'
import { subsidyAt } from '../../../src/bitcoin/chain/regtest.ts'
import { bestBlock, blockAt } from '../../../src/bitcoin/chain/state.ts'
import type { Transaction } from '../../../src/bitcoin/transaction.ts'
import { newNode, type Spent, scriptOf, spend, spendable } from './test-chain.ts'

const { Block: LibraryBlock } = createRequire(import.meta.url)('bitcoinjs-lib')
const SCRIPT = scriptOf('bech32')

/** The block with other parts, and with a proof of work. */
function changed(block: Block, parts: Partial<Block['header']>, transactions = block.transactions): Block {
  const merkleRoot = transactionsRoot(transactions)
  return { header: mined({ ...block.header, merkleRoot, ...parts }), transactions }
}

function withCoinbase(block: Block, change: (coinbase: Transaction) => Transaction): Block {
  const [coinbase, ...others] = block.transactions
  return changed(block, {}, [change(coinbase as Transaction), ...others])
}

function reasonOf(action: () => unknown): string {
  try {
    action()
    return 'accepted'
  } catch (error) {
    return (error as Error).message
  }
}

describe('the chain', () => {
  let node: Bitcoin
  beforeEach(() => {
    node = newNode()
  })
  const first = (): Spent => spendable(node)[0] as Spent
  const paying = (value: bigint) => [{ value, script: SCRIPT }]
  const blockWith = (transaction: Transaction, fees: bigint): Block =>
    node.chain.assemble({ script: SCRIPT, transactions: { list: [transaction], fees } })

  it('begins with the first block of regtest', () => {
    expect(node.chain.state.best).toBe('0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206')
    expect(node.chain.state.coins.size).toBe(0)
  })

  it('mines blocks that bitcoinjs-lib reads, with their roots and commitments', () => {
    node.mine(101, SCRIPT)
    node.chain.accept(spend([first()], paying(49n * 10n ** 8n)))
    node.mine(1, SCRIPT)
    const { block, hash } = bestBlock(node.chain.state)
    expect(block.transactions).toHaveLength(2)
    const read = LibraryBlock.fromBuffer(Buffer.from(encodeBlock(block)))
    expect(read.getId()).toBe(hash)
    expect(read.checkTxRoots()).toBe(true)
    expect(read.checkProofOfWork()).toBe(true)
    expect(read.hasWitnessCommit()).toBe(true)
    expect(
      Buffer.from(block.transactions[0]?.outputs.at(-1)?.script.subarray(0, 6) ?? []).toString('hex'),
    ).toBe('6a24aa21a9ed')
  })

  it('halves the subsidy every 150 blocks', () => {
    expect([0, 149, 150, 299, 300, 9600].map(subsidyAt)).toEqual([
      5_000_000_000n,
      5_000_000_000n,
      2_500_000_000n,
      2_500_000_000n,
      1_250_000_000n,
      0n,
    ])
    node.mine(150, SCRIPT)
    expect(bestBlock(node.chain.state).block.transactions[0]?.outputs[0]?.value).toBe(2_500_000_000n)
  })

  it('refuses to spend a coinbase before 100 blocks', () => {
    node.mine(100, SCRIPT)
    const key = outputKey(blockAt(node.chain.state, 1)?.ids[0] as string, 0)
    const coin = node.chain.state.coins.get(key)
    const early = outputKey(blockAt(node.chain.state, 2)?.ids[0] as string, 0)
    expect(coin).toBeDefined()
    const transaction = spend(
      [{ key: early, coin: node.chain.state.coins.get(early) as Spent['coin'] }],
      paying(1000n),
    )
    expect(reasonOf(() => node.chain.accept(transaction))).toContain('bad-txns-premature-spend-of-coinbase')
    expect(reasonOf(() => node.chain.submit(blockWith(transaction, 0n)))).toContain(
      'bad-txns-premature-spend-of-coinbase',
    )
    node.chain.accept(spend([{ key, coin: coin as Spent['coin'] }], paying(4_999_990_000n)))
  })

  it.each(['legacy', 'p2sh-segwit', 'bech32'] as const)('verifies signatures of %s addresses', (type) => {
    node.mine(101, scriptOf(type))
    const spent = first()
    const good = spend([spent], paying(4_999_990_000n))
    const bad: Transaction = { ...good, outputs: paying(4_999_990_001n) }
    expect(reasonOf(() => node.chain.accept(bad))).toMatch(
      /^mandatory-script-verify-flag-failed|^non-mandatory/,
    )
    expect(reasonOf(() => node.chain.submit(blockWith(bad, 0n)))).toContain(
      'mandatory-script-verify-flag-failed',
    )
    node.chain.accept(good)
    node.mine(1, SCRIPT)
    expect(node.chain.state.places.has(idOf(good))).toBe(true)
  })

  it('refuses double spends, coins from nothing and missing inputs', () => {
    node.mine(101, SCRIPT)
    const spent = first()
    const one = spend([spent], paying(1_000_000_000n))
    expect(reasonOf(() => node.chain.accept(spend([spent], paying(5_000_000_001n))))).toContain(
      'bad-txns-in-belowout',
    )
    const missing = { ...spent, key: outputKey('ab'.repeat(32), 0) }
    expect(reasonOf(() => node.chain.accept(spend([missing], paying(1000n))))).toBe('missing-inputs')
    const two = spend([spent], paying(2_000_000_000n))
    const block = node.chain.assemble({ script: SCRIPT, transactions: { list: [one, two], fees: 0n } })
    expect(reasonOf(() => node.chain.submit(block))).toBe('bad-txns-inputs-missingorspent')
    node.chain.accept(one)
    node.mine(1, SCRIPT)
    expect(reasonOf(() => node.chain.accept(one))).toBe('txn-already-known')
  })

  it.each<[string, (block: Block) => Block]>([
    ['bad-txnmrklroot', (block) => changed(block, { merkleRoot: new Uint8Array(32) })],
    ['time-too-old', (block) => changed(block, { time: 1296688602 })],
    ['time-too-new', (block) => changed(block, { time: 1_800_000_000 })],
    ['bad-version(0x00000003)', (block) => changed(block, { version: 3 })],
    ['bad-diffbits', (block) => changed(block, { bits: 0x207ffffe })],
    ['prev-blk-not-found', (block) => changed(block, { previous: new Uint8Array(32).fill(9) })],
    ['bad-blk-length', (block) => changed(block, {}, [])],
    [
      'bad-cb-missing',
      (block) =>
        withCoinbase(block, (coinbase) => ({
          ...coinbase,
          inputs: coinbase.inputs.map((input) => ({ ...input, index: 0 })),
        })),
    ],
    [
      'bad-cb-multiple',
      (block) =>
        changed(block, {}, [
          ...block.transactions,
          { ...(block.transactions[0] as Transaction), version: 7 },
        ]),
    ],
    [
      'bad-cb-amount',
      (block) =>
        withCoinbase(block, (coinbase) => ({
          ...coinbase,
          outputs: coinbase.outputs.map((output, i) =>
            i === 0 ? { ...output, value: output.value + 1n } : output,
          ),
        })),
    ],
    [
      'bad-cb-height',
      (block) =>
        withCoinbase(block, (coinbase) => ({
          ...coinbase,
          inputs: coinbase.inputs.map((input) => ({ ...input, script: Uint8Array.of(0x53, 0x53) })),
        })),
    ],
    [
      'bad-witness-nonce-size',
      (block) =>
        withCoinbase(block, (coinbase) => ({
          ...coinbase,
          inputs: coinbase.inputs.map((input) => ({ ...input, witness: [] })),
        })),
    ],
    [
      'bad-witness-merkle-match',
      (block) =>
        withCoinbase(block, (coinbase) => ({
          ...coinbase,
          inputs: coinbase.inputs.map((input) => ({ ...input, witness: [new Uint8Array(32).fill(1)] })),
        })),
    ],
    [
      'unexpected-witness',
      (block) => withCoinbase(block, (coinbase) => ({ ...coinbase, outputs: coinbase.outputs.slice(0, 1) })),
    ],
  ])('refuses a block with %s', (reason, change) => {
    node.mine(3, SCRIPT)
    const block = node.chain.assemble({ script: SCRIPT })
    expect(reasonOf(() => node.chain.submit(change(block)))).toContain(reason)
    expect(node.chain.state.active.size).toBe(4)
    node.chain.submit(block)
    expect(reasonOf(() => node.chain.submit(block))).toBe('duplicate')
  })

  it('holds transactions to lock times and relative locks', () => {
    node.mine(101, SCRIPT)
    const spent = first()
    const at = (lockTime: number, sequence: number) =>
      spend([{ ...spent, sequence }], paying(4_999_990_000n), lockTime)
    expect(reasonOf(() => node.chain.accept(at(102, 0)))).toBe('non-final')
    expect(reasonOf(() => node.chain.accept(at(0, 102)))).toBe('non-BIP68-final')
    const late = at(0, 101)
    node.chain.checkTransaction(late)
    expect(reasonOf(() => node.chain.submit(blockWith(at(0, 103), 10_000n)))).toContain('bad-txns-nonfinal')
    node.chain.accept(late)
  })

  it('holds the mempool to fees, dust and replacement', () => {
    node.mine(102, SCRIPT)
    const spent = first()
    expect(reasonOf(() => node.chain.accept(spend([spent], paying(5_000_000_000n))))).toContain(
      'min relay fee not met',
    )
    expect(reasonOf(() => node.chain.accept(spend([spent], paying(200n))))).toBe('dust')
    expect(
      reasonOf(() =>
        node.chain.accept(spend([spent], [{ value: 1000n, script: new Uint8Array(60).fill(0x51) }])),
      ),
    ).toBe('scriptpubkey')
    const one = node.chain.accept(spend([spent], paying(4_999_990_000n)))
    expect(reasonOf(() => node.chain.accept(spend([spent], paying(4_999_989_999n))))).toContain(
      'insufficient fee',
    )
    const two = node.chain.accept(spend([spent], paying(4_999_980_000n)))
    expect([...node.chain.state.mempool.values()].map(({ id }) => id)).toEqual([two.id])
    expect(one.fee).toBe(10_000n)
  })

  it('keeps at most 25 unconfirmed transactions in a chain, mined parents first', () => {
    node.mine(101, SCRIPT)
    let spent = first()
    for (let i = 0; i < 25; i++) {
      const output = { value: spent.coin.value - 1000n - BigInt(i), script: SCRIPT }
      const { id } = node.chain.accept(spend([spent], [output]))
      spent = { key: outputKey(id, 0), coin: output }
    }
    expect(reasonOf(() => node.chain.accept(spend([spent], paying(1000n))))).toContain(
      'too-long-mempool-chain',
    )
    node.mine(1, SCRIPT)
    expect(bestBlock(node.chain.state).ids).toHaveLength(26)
    expect(node.chain.state.mempool.size).toBe(0)
  })
})
