/** Raw blocks and transactions, headers, accounts within a block: against what ethers signed and RLP decoded by ethers. */
import { decodeRlp, encodeRlp, keccak256, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { A, B, COW_KEY } from '../../support/fake-chain.ts'

const C = '0x00000000000000000000000000000000000000cc'
const CODE = '0x602a60005260206000f3'
const wallet = new Wallet(`0x${Buffer.from(COW_KEY).toString('hex')}`)
/** Stores 5 in slot 1 and deploys `CODE`. */
const INIT = `0x6005600155${'69'}${CODE.slice(2)}${'600052600a6016f3'}`

let node: Node
const signed: string[] = []
const ask = (method: string, ...params: unknown[]) => node.request({ method, params })

async function sign(nonce: number, fields: object): Promise<void> {
  const base = { type: 0, nonce, gasPrice: 1, gasLimit: 200_000, chainId: 33 }
  signed.push(await wallet.signTransaction({ ...base, ...fields }))
}

interface BlockObject {
  readonly hash: string
  readonly transactions: readonly string[]
  readonly uncles: readonly string[]
}

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  await sign(0, { to: C, value: 10 })
  await sign(1, { to: C, value: 5 })
  await sign(2, { data: INIT })
  for (const raw of signed) await ask('eth_sendRawTransaction', raw)
})
afterAll(() => node.close())

describe('raw data of the pool', () => {
  it('is available for runnable transactions until they are mined', async () => {
    expect(await ask('eth_getRawTransactionByBlockNumberAndIndex', 'pending', '0x1')).toBe(signed[1])
    expect(await ask('eth_getRawTransactionByBlockNumberAndIndex', 'pending', '0x3')).toBeNull()
    expect(await ask('eth_getRawTransactionByHash', keccak256(signed[0] as string))).toBe(signed[0])
    const content = (await ask('txpool_contentFrom', A)) as { pending: Record<string, { hash: string }> }
    expect(Object.entries(content.pending).map(([nonce, { hash }]) => [nonce, hash])).toEqual(
      signed.map((raw, nonce) => [String(nonce), keccak256(raw)]),
    )
    expect(await ask('txpool_contentFrom', B)).toEqual({ pending: {}, queued: {} })
  })
})

describe('raw data of a block', () => {
  let block: BlockObject
  beforeAll(async () => {
    await ask('evm_mine')
    block = (await ask('eth_getBlockByNumber', 'latest', false)) as BlockObject
  })

  it('has the transactions as they were sent', async () => {
    const raw = (await ask('debug_getRawTransactions', 'latest')) as string[]
    expect(raw.slice(0, 3)).toEqual(signed)
    expect(raw.map((bytes) => keccak256(bytes))).toEqual(block.transactions)
    expect(await ask('debug_getRawTransactions', block.hash)).toEqual(raw)
    const [first, second, third] = signed
    expect(await ask('debug_getRawTransaction', block.transactions[0])).toBe(first)
    expect(await ask('eth_getRawTransactionByHash', block.transactions[1])).toBe(second)
    expect(await ask('eth_getRawTransactionByBlockHashAndIndex', block.hash, '0x2')).toBe(third)
    expect(await ask('eth_getRawTransactionByBlockNumberAndIndex', '0x1', '0x2')).toBe(third)
    expect(await ask('eth_getRawTransactionByBlockNumberAndIndex', '0x1', '0x9')).toBeNull()
  })

  it('is a list of header, transactions and uncles', async () => {
    const [header, transactions, uncles] = decodeRlp(
      (await ask('debug_getRawBlock', 'latest')) as string,
    ) as [string[], string[][], string[][]]
    expect(encodeRlp(header)).toBe(await ask('debug_getRawHeader', block.hash))
    expect(transactions.map((one) => encodeRlp(one))).toEqual(await ask('debug_getRawTransactions', '0x1'))
    expect(uncles).toEqual([])
    const { parentHash, stateRoot } = (await ask('eth_getBlockByHash', block.hash, false)) as {
      parentHash: string
      stateRoot: string
    }
    expect([header[0], header[3]]).toEqual([parentHash, stateRoot])
  })

  it('has the receipts that lookups by hash return', async () => {
    const single = block.transactions.map((hash) => ask('ext_getRawTransactionReceiptByHash', hash))
    expect(await ask('debug_getRawReceipts', 'latest')).toEqual(await Promise.all(single))
  })

  it('has headers like blocks without their lists', async () => {
    const { transactions, uncles, ...header } = block
    expect(await ask('eth_getHeaderByNumber', 'latest')).toEqual(header)
    expect(await ask('eth_getHeaderByHash', block.hash)).toEqual(header)
    expect(await ask('eth_getHeaderByNumber', 'pending')).toMatchObject({
      number: null,
      parentHash: block.hash,
    })
  })

  it.each(['debug_getRawBlock', 'debug_getRawHeader', 'debug_getRawReceipts'])(
    '%s refuses an unknown block',
    async (method) => {
      await expect(ask(method, '0x63')).rejects.toMatchObject({
        code: -32600,
        message: 'Block 0x63 not found',
      })
    },
  )

  it('has accounts in the middle of a block', async () => {
    const at = async (index: string) =>
      ((await ask('debug_accountInfoAt', '0x1', index, C)) as { balance: string }).balance
    expect([await at('0x0'), await at('0x1'), await at('0x3')]).toEqual(['0xa', '0xf', '0xf'])
    expect(await ask('debug_accountInfoAt', '0x1', '0x0', A)).toMatchObject({ nonce: '0x1', code: '0x' })
    await expect(ask('debug_accountInfoAt', '0x1', '0x4', A)).rejects.toMatchObject({
      code: -32602,
      message: "index: 4 is not below the block's 4 transactions",
    })
  })

  it('has the created contract: account, code by hash, storage', async () => {
    const { contractAddress } = (await ask('eth_getTransactionReceipt', block.transactions[2])) as {
      contractAddress: string
    }
    expect(await ask('eth_getAccountInfo', contractAddress)).toMatchObject({ balance: '0x0', code: CODE })
    const account = (await ask('eth_getAccount', contractAddress)) as {
      storageRoot: string
      codeHash: string
    }
    const proof = (await ask('eth_getProof', contractAddress, [], 'latest')) as { storageHash: string }
    expect(account).toMatchObject({ codeHash: keccak256(CODE), storageRoot: proof.storageHash })
    expect(await ask('debug_codeByHash', account.codeHash)).toBe(CODE)
    expect(await ask('debug_dbGet', `0x63${account.codeHash.slice(2)}`)).toBe(CODE)
    expect(await ask('debug_codeByHash', keccak256('0x'))).toBe('0x')
    const word = (digits: string) => `0x${digits.padStart(64, '0')}`
    expect(
      await ask('eth_getStorageValues', { [contractAddress]: ['0x1', word('2')], [C]: [word('1')] }),
    ).toEqual({
      [contractAddress]: [word('5'), word('0')],
      [C]: [word('0')],
    })
    await expect(ask('eth_getStorageValues', {})).rejects.toMatchObject({ code: -32602 })
    await expect(ask('eth_getStorageValues', { [C]: Array(1025).fill('0x0') })).rejects.toMatchObject({
      code: -32602,
      message: 'Invalid slots: expected at least one account and at most 1024 slots in all.',
    })
    await expect(ask('eth_getAccount', C, 'pending')).rejects.toMatchObject({ code: -32602 })
    // Sender, receiver, contract, and the REMASC contract, which collects the fees and counts them in its storage.
    const remasc = '0x0000000000000000000000000000000001000008'
    const changed = (await ask('debug_getModifiedAccountsByNumber', 1)) as string[]
    expect(changed).toEqual(expect.arrayContaining([A, C, contractAddress, remasc]))
    expect(changed).not.toContain(B)
    expect(await ask('debug_getModifiedAccountsByNumber', 0, 1)).toEqual(changed)
    expect(await ask('debug_getModifiedAccountsByHash', block.hash)).toEqual(changed)
  })

  it('includes state edits in the changes, and refuses a block without an earlier state', async () => {
    await ask('hardhat_setBalance', B, '0x7')
    await ask('evm_mine')
    expect(await ask('debug_getModifiedAccountsByNumber', '0x0', '0x2')).toContain(B)
    await expect(ask('debug_getModifiedAccountsByNumber', 0)).rejects.toMatchObject({ code: -32602 })
    await expect(ask('debug_getModifiedAccountsByNumber', 2, 1)).rejects.toMatchObject({
      code: -32602,
      message: 'start block 2 must be less than end block 1',
    })
    await expect(ask('debug_getModifiedAccountsByNumber', 9)).rejects.toMatchObject({ code: -32600 })
  })
})

describe('removing transactions from the pool', () => {
  it('is possible for one sender, or for all', async () => {
    await ask('eth_sendTransaction', { from: A, to: C, gas: '0x5208', gasPrice: '0x1' })
    await ask('eth_sendTransaction', { from: A, to: C, gas: '0x5208', gasPrice: '0x1', nonce: '0x5' })
    await ask('hardhat_setBalance', B, '0xffffffff')
    await ask('eth_sendTransaction', { from: B, to: C, gas: '0x5208', gasPrice: '0x1' })
    expect(await ask('txpool_status')).toMatchObject({ pending: 2 })
    expect(await ask('anvil_removePoolTransactions', A)).toBeNull()
    expect(await ask('txpool_status')).toEqual({ pending: 1, queued: 0 })
    expect(await ask('debug_clearTxpool')).toBeNull()
    expect(await ask('txpool_status')).toEqual({ pending: 0, queued: 0 })
  })
})
