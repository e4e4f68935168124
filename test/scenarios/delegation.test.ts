/**
 * Accounts that delegate to code (RSKIP-545, EIP-7702): authorizations made by viem, and what code of the draft's text does.
 * Gas: 21,000, 25,000 for each authorization, of which 9,500 come back for an account that is not empty.
 */
import { createWalletClient, defineChain, http, type PrivateKeyAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const COW = privateKeyToAccount('0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4')
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const NOBODY = '0x0000000000000000000000000000000000000000'
/** Writes 7 to slot 1; returns ADDRESS, CALLER, CODESIZE and EXTCODESIZE and EXTCODEHASH of ADDRESS. */
const TARGET = '0x6007600155306000523360205238604052303b606052303f60805260a06000f3'
const CALLEE = '0x00000000000000000000000000000000000000a1' as const
/** Returns what a CALL (f1), CALLCODE (f2), DELEGATECALL (f4) or STATICCALL (fa) of the address in the data answers: 5 words. */
const caller = (opcode: 'f1' | 'f2' | 'f4' | 'fa') => {
  const value = opcode === 'f1' || opcode === 'f2' ? '6000' : ''
  return `0x60a060006000600${'0'}${value}600035620f4240${opcode}50${'60a06000f3'}` as const
}
const word = (text: string, at: number) => `0x${text.slice(2 + 64 * at, 66 + 64 * at)}` as const
const addressIn = (text: string, at: number) => `0x${word(text, at).slice(26)}`

const EVMS = ['tandem', 'ethereumjs', 'both'] as const

describe.each(EVMS)('a set-code transaction, by %s', (evm) => {
  let t: ServedNode
  let chain: ReturnType<typeof defineChain>
  beforeAll(async () => {
    t = await servedNode({ rules: 'next', evm, mining: 'auto' })
    chain = defineChain({
      id: 33,
      name: 'local',
      nativeCurrency: { name: 'coin', symbol: 'C', decimals: 18 },
      rpcUrls: { default: { http: [t.url] } },
    })
    await t.call('hardhat_setCode', CALLEE, TARGET)
  })
  afterAll(() => t.close())

  const wallet = (account: PrivateKeyAccount) =>
    createWalletClient({ account, chain, transport: http(t.url) })
  const fresh = () => privateKeyToAccount(generatePrivateKey())
  /** Sends a transaction of COW with one authorization of an account. */
  async function delegate(
    account: PrivateKeyAccount,
    to: `0x${string}`,
    { nonce = 0, chainId = 33, data = '0x', value = 0n, target = BOB as `0x${string}` } = {},
  ) {
    const authorization = await account.signAuthorization({ contractAddress: to, chainId, nonce })
    const hash = await wallet(COW).sendTransaction({
      chain,
      to: target,
      data: data as `0x${string}`,
      value,
      gas: 300_000n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      authorizationList: [authorization],
    })
    return t.call('eth_getTransactionReceipt', hash)
  }
  const codeOf = (address: string) => t.call('eth_getCode', address, 'latest')

  it('delegates an account, changes and ends that', async () => {
    const account = fresh()
    const receipt = await delegate(account, CALLEE)
    expect(receipt).toMatchObject({ type: '0x4', status: '0x1', gasUsed: `0x${(46_000).toString(16)}` })
    expect(await codeOf(account.address)).toBe(`0xef0100${CALLEE.slice(2)}`)
    expect(await t.call('eth_getTransactionCount', account.address, 'latest')).toBe('0x1')
    const shown = await t.call('eth_getTransactionByHash', receipt.transactionHash)
    expect(shown).toMatchObject({
      type: '0x4',
      authorizationList: [{ chainId: '0x21', address: CALLEE, nonce: '0x0' }],
    })
    // 9,500 of the 25,000 come back for an account that is there already.
    const again = await delegate(account, BOB, { nonce: 1 })
    expect(again.gasUsed).toBe(`0x${(36_500).toString(16)}`)
    expect(await codeOf(account.address)).toBe(`0xef0100${BOB.slice(2)}`)
    await delegate(account, NOBODY, { nonce: 2 })
    expect(await codeOf(account.address)).toBe('0x')
    expect(await t.call('eth_getTransactionCount', account.address, 'latest')).toBe('0x3')
  })

  it('runs in the account of its destination, and keeps the delegation where the code fails', async () => {
    const account = fresh()
    const receipt = await delegate(account, CALLEE, { target: account.address })
    expect(receipt.status).toBe('0x1')
    expect(BigInt(await t.call('eth_getStorageAt', account.address, '0x1', 'latest'))).toBe(7n)
    expect(BigInt(await t.call('eth_getStorageAt', CALLEE, '0x1', 'latest'))).toBe(0n)

    const failing = '0x00000000000000000000000000000000000000a2'
    await t.call('hardhat_setCode', failing, '0x60006000fd')
    const other = fresh()
    const failed = await delegate(other, failing, { target: other.address }).catch((error) => error)
    expect(String(failed.status ?? failed)).toMatch(/0x0|reverted/)
    expect(await codeOf(other.address)).toBe(`0xef0100${failing.slice(2)}`)
    expect(await t.call('eth_getTransactionCount', other.address, 'latest')).toBe('0x1')
  })

  it('leaves authorizations out that do not hold', async () => {
    const account = fresh()
    for (const wrong of [{ nonce: 1 }, { chainId: 31 }, { nonce: 2 ** 40 }]) {
      expect(await delegate(account, CALLEE, wrong)).toMatchObject({ status: '0x1', gasUsed: '0xb3b0' })
      expect(await codeOf(account.address)).toBe('0x')
    }
    expect(await delegate(account, CALLEE, { chainId: 0 })).toMatchObject({ status: '0x1' })
    expect(await codeOf(account.address)).toBe(`0xef0100${CALLEE.slice(2)}`)
  })

  it('is followed once by all calls, and not by what reads code', async () => {
    const account = fresh()
    await delegate(account, CALLEE)
    const indicator = `0xef0100${CALLEE.slice(2)}`
    const hash = await t.call('web3_sha3', indicator)
    const direct = await t.call('eth_call', { to: account.address, from: BOB }, 'latest')
    expect(addressIn(direct, 0)).toBe(account.address.toLowerCase())
    expect(addressIn(direct, 1)).toBe(BOB)
    expect([2, 3].map((at) => BigInt(word(direct, at)))).toEqual([BigInt((TARGET.length - 2) / 2), 23n])
    expect(word(direct, 4)).toBe(hash)
    const proxy = '0x00000000000000000000000000000000000000b1'
    for (const opcode of ['f1', 'f2', 'f4'] as const) {
      await t.call('hardhat_setCode', proxy, caller(opcode))
      const answer = await t.call(
        'eth_call',
        { to: proxy, from: BOB, data: `0x${account.address.slice(2).padStart(64, '0')}` },
        'latest',
      )
      const inAccount = opcode === 'f1'
      expect(addressIn(answer, 0)).toBe(inAccount ? account.address.toLowerCase() : proxy)
      expect(addressIn(answer, 1)).toBe(opcode === 'f4' ? BOB : proxy)
      expect(BigInt(word(answer, 2))).toBe(BigInt((TARGET.length - 2) / 2))
    }
    // A delegate that delegates: its indicator would run, and 0xef is no opcode.
    const second = fresh()
    await delegate(second, account.address)
    const traced = await t.call('debug_traceCall', { to: second.address, gas: '0x186a0' }, 'latest', {
      tracer: 'callTracer',
    })
    expect(traced.error).toContain('IllegalOperation')
    expect(await codeOf(second.address)).toBe(`0xef0100${account.address.slice(2).toLowerCase()}`)
    // A precompiled contract is no delegate: the call succeeds without running anything.
    const third = fresh()
    await delegate(third, '0x0000000000000000000000000000000000000004')
    expect(await t.call('eth_call', { to: third.address, data: '0x1234' }, 'latest')).toBe('0x')
  })

  it('is followed by code that is compiled', async () => {
    const account = fresh()
    const counter = '0x00000000000000000000000000000000000000c1'
    const loop = '0x00000000000000000000000000000000000000c2'
    // slot 0 += 1
    await t.call('hardhat_setCode', counter, '0x60005460010160005500')
    // 640 times: CALL the address in the data.
    await t.call('hardhat_setCode', loop, '0x6102805b60006000600060006000600035' + '5af150600190038060035700')
    await delegate(account, counter)
    const data = `0x${account.address.slice(2).padStart(64, '0')}`
    const [from] = await t.call('eth_accounts')
    const hash = await t.call('eth_sendTransaction', {
      from,
      to: loop,
      data,
      gas: '0x5b8d80',
      gasPrice: '0x1',
    })
    expect(await t.call('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    expect(BigInt(await t.call('eth_getStorageAt', account.address, '0x0', 'latest'))).toBe(640n)
    expect(BigInt(await t.call('eth_getStorageAt', counter, '0x0', 'latest'))).toBe(0n)
  })
})

describe('the pool', () => {
  it('takes one transaction of an account that delegates, and none with a gap', async () => {
    const t = await servedNode({ rules: 'next', mining: 'manual' })
    try {
      const account = privateKeyToAccount(generatePrivateKey())
      await t.call('hardhat_setBalance', account.address, '0xffffffffffff')
      await t.call('hardhat_setCode', account.address, `0xef0100${CALLEE.slice(2)}`)
      const raw = (nonce: number) =>
        account.signTransaction({
          type: 'eip1559',
          chainId: 33,
          nonce,
          to: BOB,
          gas: 21_000n,
          maxFeePerGas: 1n,
          maxPriorityFeePerGas: 1n,
        })
      await expect(t.call('eth_sendRawTransaction', await raw(1))).rejects.toThrow(
        'gapped-nonce transaction from delegated account',
      )
      await t.call('eth_sendRawTransaction', await raw(0))
      await expect(t.call('eth_sendRawTransaction', await raw(1))).rejects.toThrow(
        'delegated account already has a transaction in the pool',
      )
      expect(await t.call('txpool_status')).toMatchObject({ pending: 1, queued: 0 })
    } finally {
      await t.close()
    }
  })

  it('drops a transaction whose nonce an authorization has used', async () => {
    const t = await servedNode({ rules: 'next', mining: 'manual' })
    try {
      const account = privateKeyToAccount(generatePrivateKey())
      await t.call('hardhat_setBalance', account.address, '0xffffffffffff')
      const own = await account.signTransaction({
        chainId: 33,
        nonce: 0,
        to: BOB,
        gas: 21_000n,
        gasPrice: 1n,
      })
      await t.call('eth_sendRawTransaction', own)
      const authorization = await account.signAuthorization({
        contractAddress: CALLEE,
        chainId: 33,
        nonce: 0,
      })
      const raw = await COW.signTransaction({
        type: 'eip7702',
        chainId: 33,
        nonce: 0,
        to: BOB,
        gas: 100_000n,
        maxFeePerGas: 9n,
        maxPriorityFeePerGas: 9n,
        authorizationList: [authorization],
      })
      await t.call('eth_sendRawTransaction', raw)
      await t.call('evm_mine')
      expect(await t.call('eth_getTransactionCount', account.address, 'latest')).toBe('0x1')
      expect(await t.call('txpool_status')).toMatchObject({ pending: 0, queued: 0 })
    } finally {
      await t.close()
    }
  })
})
