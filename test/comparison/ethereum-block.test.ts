import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { decodeTransaction } from '../../src/chain/transaction.ts'
import { type EthereumBlockParts, executeBlockByEthereumRules } from '../../src/comparison/ethereum-block.ts'
import type { EthereumFork } from '../../src/comparison/ethereum-forks.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { asList, decodeRlp, encodeRlp } from '../../src/encoding/rlp.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { CONTRACT, ENVIRONMENT, NOTHING, SENDER, transaction, world } from '../support/execution.ts'
import { fixture } from '../support/fixture.ts'

interface OfficialAccount {
  readonly balance: Hex
  readonly nonce: Hex
  readonly code: Hex
  readonly storage: Readonly<Record<Hex, Hex>>
}

/** A block of https://github.com/ethereum/tests; the file names the commit. */
interface OfficialBlock {
  readonly name: string
  readonly fork: EthereumFork
  readonly pre: Readonly<Record<Hex, OfficialAccount>>
  readonly header: Readonly<
    Record<
      | 'number'
      | 'timestamp'
      | 'coinbase'
      | 'mixHash'
      | 'gasLimit'
      | 'gasUsed'
      | 'baseFeePerGas'
      | 'parentHash'
      | 'transactionsTrie'
      | 'receiptTrie',
      Hex
    >
  >
  readonly rlp: Hex
}

const { blocks } = fixture<{ blocks: OfficialBlock[] }>('comparison/ethereum-blocks.json')

function stateOf(accounts: OfficialBlock['pre']): Overlay {
  const state = new Overlay(NOTHING)
  for (const [address, { balance, nonce, code, storage }] of Object.entries(accounts) as [
    Hex,
    OfficialAccount,
  ][]) {
    state.putAccount(address, { ...EMPTY_ACCOUNT, balance: BigInt(balance), nonce: BigInt(nonce) })
    if (code !== '0x') state.putCode(address, fromHex(code))
    for (const [slot, word] of Object.entries(storage)) state.putStorage(address, BigInt(slot), BigInt(word))
  }
  return state
}

function partsOf({ fork, pre, header, rlp }: OfficialBlock): EthereumBlockParts {
  const raw = asList(asList(decodeRlp(fromHex(rlp)), 'block')[1], 'transactions')
  return {
    transactions: raw.map((item) => decodeTransaction(encodeRlp(item))),
    state: stateOf(pre),
    env: {
      ...ENVIRONMENT,
      number: Number(header.number),
      timestamp: Number(header.timestamp),
      coinbase: header.coinbase,
      difficulty: BigInt(header.mixHash),
      gasLimit: BigInt(header.gasLimit),
      minimumGasPrice: BigInt(header.baseFeePerGas),
      ancestorHash: (height) => (height === Number(header.number) - 1 ? header.parentHash : undefined),
    },
    chainId: 1,
    fork,
  }
}

describe('blocks of the official tests', () => {
  it.each(blocks)('$name has the roots of its header', async (block) => {
    const parts = partsOf(block)
    const { header } = block
    expect(await executeBlockByEthereumRules(parts)).toEqual({
      included: parts.transactions.length,
      rejected: [],
      gasUsed: BigInt(header.gasUsed),
      transactionsRoot: header.transactionsTrie,
      receiptsRoot: header.receiptTrie,
    })
  })
})

describe('a block', () => {
  const env = { ...ENVIRONMENT, minimumGasPrice: 1n }
  const run = (
    transactions: EthereumBlockParts['transactions'],
    state = world(),
    more: Partial<EthereumBlockParts> = {},
  ) => executeBlockByEthereumRules({ transactions, state, env, chainId: 33, fork: 'cancun', ...more })

  it('without transactions has the roots of empty tries', async () => {
    expect(await run([])).toEqual({
      included: 0,
      rejected: [],
      gasUsed: 0n,
      transactionsRoot: EMPTY_TRIE_ROOT,
      receiptsRoot: EMPTY_TRIE_ROOT,
    })
  })

  it('omits transactions that Ethereum rejects or that no longer fit its gas limit', async () => {
    const good = transaction({ to: CONTRACT, gasLimit: 30_000n })
    const cheap = transaction({ to: CONTRACT, gasLimit: 25_000n, nonce: 2n, gasPrice: 0n })
    const large = transaction({ to: CONTRACT, gasLimit: 30_000n, nonce: 2n })
    const block = await run([good, cheap, large], world(), { env: { ...env, gasLimit: 50_000n } })
    expect(block).toMatchObject({ included: 1, gasUsed: 21_000n })
    expect(block.rejected).toEqual([
      { hash: cheap.hash, reason: expect.stringMatching(/baseFee/) },
      { hash: large.hash, reason: 'block gas limit reached' },
    ])
    const alone = await run([good])
    expect([block.transactionsRoot, block.receiptsRoot]).toEqual([alone.transactionsRoot, alone.receiptsRoot])
  })

  it('leaves the state unchanged', async () => {
    const state = world({ [CONTRACT]: { code: '5 7 SSTORE' } })
    await run([transaction({ to: CONTRACT, gasLimit: 100_000n })], state)
    expect(state.account(SENDER)).toEqual(world().account(SENDER))
    expect(state.storage(CONTRACT, 7n)).toBe(0n)
  })

  it('ends at the deadline', async () => {
    const state = world({ [CONTRACT]: { code: 'again: @again JUMP' } })
    const endless = transaction({ to: CONTRACT, gasLimit: 10_000_000n })
    await expect(run([endless], state, { deadlineMs: 1 })).rejects.toMatchObject({ kind: 'limit-exceeded' })
  })
})
