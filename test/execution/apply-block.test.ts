import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT } from '../../src/chain/account.ts'
import { ZERO_BLOOM } from '../../src/chain/bloom.ts'
import { CHAINS, PRECOMPILE_ADDRESS, REMASC_SENDER } from '../../src/chain/config.ts'
import type { Header } from '../../src/chain/header.ts'
import { remascTransaction, type Transaction } from '../../src/chain/transaction.ts'
import { EMPTY } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { applyBlock, BlockExecution } from '../../src/execution/apply-block.ts'
import { TransactionRejected } from '../../src/execution/apply-transaction.ts'
import type { Overlay } from '../../src/state/overlay.ts'
import { bloomMightContain } from '../support/bloom.ts'
import {
  account,
  CONTRACT,
  ENVIRONMENT,
  OTHER,
  SENDER,
  transaction,
  vms,
  world,
} from '../support/execution.ts'
import { saying } from '../support/refusals.ts'

const config = CHAINS.regtest
/** Too low for anything to have matured: REMASC only collects. */
const NUMBER = 10
const env = { ...ENVIRONMENT, number: NUMBER }
const vm = vms.own

function open(state: Overlay, sequentialGasLimit = 6_800_000n): BlockExecution {
  return new BlockExecution({ config, vm, state, env, sequentialGasLimit })
}

describe('a block to which transactions are added', () => {
  it('counts gas, fees and bloom, and ends with the REMASC transaction', async () => {
    const state = world({ [CONTRACT]: { code: '7 0 0 LOG1' } })
    const block = open(state)
    await block.add(transaction({ value: 1n }))
    await block.add(transaction({ nonce: 2n, to: CONTRACT }))
    const result = block.finish()
    expect(result.transactions).toHaveLength(3)
    expect(result.transactions[2]).toEqual(remascTransaction(NUMBER))
    expect(result.receipts.map((receipt) => receipt.gasUsed)).toEqual([21_000n, 21_759n, 0n])
    expect(result.receipts.map((receipt) => receipt.cumulativeGasUsed)).toEqual([21_000n, 42_759n, 42_759n])
    expect(result).toMatchObject({ gasUsed: 42_759n, paidFees: 4_275_900n })
    expect(bloomMightContain(result.logsBloom, fromHex(CONTRACT))).toBe(true)
    expect(result.receipts[0]?.logsBloom).toEqual(ZERO_BLOOM)
    expect(account(state, PRECOMPILE_ADDRESS.remasc).balance).toBe(4_275_900n)
  })

  it('without transactions still increments the nonce of the REMASC sender', () => {
    const state = world({ [PRECOMPILE_ADDRESS.remasc]: { balance: 5n } })
    state.putAccount(REMASC_SENDER, { ...EMPTY_ACCOUNT, nonce: 999n })
    const result = open(state).finish()
    expect(result).toMatchObject({ gasUsed: 0n, paidFees: 0n })
    expect(result.receipts[0]).toMatchObject({ succeeded: true, gasUsed: 0n, cumulativeGasUsed: 0n })
    expect(account(state, REMASC_SENDER).nonce).toBe(1000n)
    expect(account(state, PRECOMPILE_ADDRESS.remasc).balance).toBe(5n)
  })

  it('cannot be completed without the ancestor whose fees mature', () => {
    const execution = new BlockExecution({
      config,
      vm,
      state: world(),
      env: ENVIRONMENT,
      sequentialGasLimit: 6_800_000n,
    })
    expect(() => execution.finish()).toThrow(saying('block 1000 lacks its ancestor at height 990'))
  })

  it('refuses a transaction that no longer fits and accepts later ones', async () => {
    const block = open(world(), 130_000n)
    await block.add(transaction())
    await expect(block.add(transaction({ nonce: 2n, gasLimit: 109_001n }))).rejects.toThrow(
      TransactionRejected,
    )
    await block.add(transaction({ nonce: 2n, gasLimit: 109_000n }))
    expect(block.finish().gasUsed).toBe(42_000n)
  })
})

describe('CREATE at the address of a destroyed contract', () => {
  const salt = '0 0 0 0 CREATE2'
  // Makes an empty contract by CREATE2 and returns its address, or 0.
  const factory = `${salt} PUSH1 0 SSTORE`
  // Init code: SELFDESTRUCT to the caller at once.
  const selfDestructing = `0x33ff 0 MSTORE 0 2 30 0 CREATE2 PUSH1 0 SSTORE`

  it('collides within the list, not after it', async () => {
    const state = world({ [CONTRACT]: { code: selfDestructing, nonce: 1n } })
    const block = open(state)
    const gasLimit = 200_000n
    const first = await block.add(transaction({ to: CONTRACT, gasLimit }))
    expect(first.destroyed).toHaveLength(1)
    const address = state.storage(CONTRACT, 0n)
    expect(address).not.toBe(0n)
    const second = await block.add(transaction({ nonce: 2n, to: CONTRACT, gasLimit }))
    expect(second).toMatchObject({ succeeded: false, gasUsed: gasLimit })
    block.openList(1_000_000n)
    const third = await block.add(transaction({ nonce: 3n, to: CONTRACT, gasLimit }))
    expect(third.destroyed).toEqual(first.destroyed)
    expect(state.storage(CONTRACT, 0n)).toBe(address)
  })

  it('does not affect other addresses', async () => {
    const state = world({
      [CONTRACT]: { code: selfDestructing, nonce: 1n },
      [OTHER]: { code: factory, nonce: 1n },
    })
    const block = open(state)
    await block.add(transaction({ to: CONTRACT, gasLimit: 200_000n }))
    await block.add(transaction({ nonce: 2n, to: OTHER, gasLimit: 200_000n }))
    expect(state.storage(OTHER, 0n)).not.toBe(0n)
  })
})

describe('a foreign block', () => {
  const second: Hex = '0x1000000000000000000000000000000000000002'
  const third: Hex = '0x1000000000000000000000000000000000000003'

  function foreign(transactions: readonly Transaction[], edges: readonly number[]) {
    const header: Header = {
      version: 2,
      parentHash: `0x${'00'.repeat(32)}`,
      unclesHash: `0x${'00'.repeat(32)}`,
      coinbase: ENVIRONMENT.coinbase,
      stateRoot: `0x${'00'.repeat(32)}`,
      transactionsRoot: `0x${'00'.repeat(32)}`,
      receiptsRoot: `0x${'00'.repeat(32)}`,
      logsBloom: ZERO_BLOOM,
      difficulty: 1n,
      number: NUMBER,
      gasLimit: 7_500_000n,
      gasUsed: 0n,
      timestamp: 1,
      extraData: EMPTY,
      paidFees: 0n,
      minimumGasPrice: 0n,
      uncleCount: 0,
      ummRoot: EMPTY,
      edges,
      baseEvent: EMPTY,
      bitcoinHeader: EMPTY,
      merkleProof: EMPTY,
      coinbaseTransaction: EMPTY,
    }
    return applyBlock({
      block: { header, transactions, uncles: [] },
      config,
      vm,
      parentState: world({ [second]: { balance: 10n ** 20n }, [third]: { balance: 10n ** 20n } }),
      env,
    })
  }

  const reward = remascTransaction(NUMBER)

  it('counts cumulative gas separately in each sublist', async () => {
    const own = { nonce: 0n }
    const transactions = [
      transaction(),
      transaction({ from: second, ...own }),
      transaction({ from: second, nonce: 1n }),
      transaction({ from: third, ...own }),
      reward,
    ]
    const { result, state } = await foreign(transactions, [1, 3])
    expect(result.receipts.map((receipt) => receipt.cumulativeGasUsed)).toEqual([
      21_000n,
      21_000n,
      42_000n,
      21_000n,
      21_000n,
    ])
    expect(result.gasUsed).toBe(84_000n)
    expect(account(state, SENDER).nonce).toBe(2n)
  })

  it('ends in an empty sequential list when only parallel ones have transactions (docs/internals/protocol.md#52-parallel-sublists)', async () => {
    const { result } = await foreign([transaction({ gasLimit: 350_000n }), reward], [1])
    expect(result.receipts.map((receipt) => receipt.cumulativeGasUsed)).toEqual([21_000n, 0n])
    const { result: sequential } = await foreign([transaction({ gasLimit: 400_000n }), reward], [])
    expect(sequential.receipts.map((receipt) => receipt.cumulativeGasUsed)).toEqual([21_000n, 21_000n])
  })

  it.each([
    [
      'more gas than a parallel list has',
      [transaction({ gasLimit: 350_001n }), reward],
      [1],
      'transaction 0: gas limit 350001 exceeds the 350000 left in the block',
    ],
    [
      'a nonce out of turn',
      [transaction({ nonce: 9n }), reward],
      [],
      "transaction 0: nonce 9 is not the account's 1",
    ],
    [
      'a REMASC transaction in the middle',
      [reward, reward],
      [],
      'transaction 0 is a REMASC transaction before the end',
    ],
    ['no REMASC transaction', [transaction()], [], 'the last transaction is not the REMASC transaction'],
  ])('is refused for %s', async (_, transactions, edges, reason) => {
    await expect(foreign(transactions, edges)).rejects.toMatchObject({
      kind: 'invalid-block',
      message: reason,
    })
  })
})
