/**
 * Typed transactions in simulations and comparisons. Gas is that of the protocol's tables (RSKIP-545, 546; EIP-2930, 7702
 * for Ethereum's side), signatures are those of ethers.
 */
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode } from '../../src/index.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const COW = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
const wallet = new Wallet(COW)
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** Returns what SELFADDRESS pushes: ADDRESS, MSTORE, RETURN. */
const WHO = '0x3060005260206000f3'
const LIBRARY = `0x${'77'.repeat(20)}`
const LIST = [{ address: BOB, storageKeys: [`0x${'11'.repeat(32)}`] }]
/** Bytes of its RLP: 58 of the pair behind two bytes of list heads; 80 gas each (RSKIP-546). */
const LIST_GAS = 80n * 58n
const hex = (value: bigint | number) => `0x${value.toString(16)}`

let t: ServedNode
let from: string
beforeAll(async () => {
  t = await servedNode({ rules: 'next', mining: 'auto' })
  from = wallet.address.toLowerCase()
  await t.call('anvil_setCode', LIBRARY, WHO)
})
afterAll(() => t.close())

/** An authorization of `wallet` as call objects have it. */
async function authorization(nonce: number) {
  const { signature, chainId, address } = await wallet.authorize({ address: LIBRARY, chainId: 33, nonce })
  const { r, s, yParity } = signature
  return { chainId: hex(chainId), address, nonce: hex(nonce), yParity: hex(yParity), r, s }
}

describe('simulated typed transactions', () => {
  it('are whole transactions of their type in eth_simulateV1', async () => {
    const [block] = await t.call('eth_simulateV1', {
      returnFullTransactions: true,
      blockStateCalls: [
        {
          calls: [
            { from, to: BOB, accessList: LIST },
            { from, to: BOB, maxFeePerGas: '0x5', maxPriorityFeePerGas: '0x3', accessList: LIST },
            { from, to: BOB, type: '0x2' },
            { from, to: BOB, gasPrice: '0x1' },
          ],
        },
      ],
    })
    expect(block.transactions).toMatchObject([
      { type: '0x1', chainId: '0x21', accessList: LIST, gasPrice: '0x0' },
      { type: '0x2', maxFeePerGas: '0x5', maxPriorityFeePerGas: '0x3', gasPrice: '0x3', accessList: LIST },
      { type: '0x2', maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0', gasPrice: '0x0', accessList: [] },
      { type: '0x0', gasPrice: '0x1' },
    ])
    expect(block.transactions[0]).not.toHaveProperty('maxFeePerGas')
    const gas = block.calls.map(({ gasUsed }: { gasUsed: string }) => BigInt(gasUsed))
    expect(gas).toEqual([21_000n + LIST_GAS, 21_000n + LIST_GAS, 21_000n, 21_000n])
  })

  it('run delegated code', async () => {
    const authorizationList = [await authorization(0)]
    const call = { to: from, authorizationList }
    const answer = `0x${from.slice(2).padStart(64, '0')}`
    expect(await t.call('eth_call', call)).toBe(answer)
    const [block] = await t.call('eth_simulateV1', { blockStateCalls: [{ calls: [{ from: BOB, ...call }] }] })
    expect(block.calls[0]).toMatchObject({ status: '0x1', returnData: answer })
    const bundles = await t.call('eth_callMany', [{ transactions: [{ from: BOB, ...call }, { to: from }] }])
    expect(bundles).toEqual([[{ value: answer }, { value: answer }]])
    const [step] = await t.call('evm_simulate', { steps: [{ send: { from: BOB, ...call } }] })
    expect(step).toMatchObject({ type: '0x4', status: '0x1', returnData: answer })
    const execution = await t.call('alchemy_simulateExecution', { from: BOB, ...call })
    expect(execution.calls[0].output).toBe(answer)
    // The account has coins: of the 25,000 gas of the tuple 9,500 are refunded.
    const without = BigInt(await t.call('eth_estimateGas', { from: BOB, to: LIBRARY }))
    expect(BigInt(await t.call('eth_estimateGas', { from: BOB, ...call }))).toBe(without + 25_000n)
    expect(await t.call('eth_getCode', from, 'latest')).toBe('0x')
  })

  it('have their type in the answers of Tenderly', async () => {
    const call = { from, to: BOB, maxFeePerGas: '0x5', maxPriorityFeePerGas: '0x3', accessList: LIST }
    const simulated = await t.call('tenderly_simulateTransaction', call, 'latest')
    expect(simulated).toMatchObject({ type: '0x2', status: true, gasUsed: hex(21_000n + LIST_GAS) })
    const estimate = await t.call('tenderly_estimateGas', call)
    expect(estimate).toEqual({ gas: hex(21_000n + LIST_GAS), gasUsed: hex(21_000n + LIST_GAS) })
  })

  it.each([
    [
      'eth_simulateV1',
      [{ blockStateCalls: [{ calls: [{}, { type: '0x0', accessList: LIST }] }] }],
      'Invalid payload.blockStateCalls[0].calls[1].accessList: expected type 0x1, 0x2 or 0x4.',
    ],
    [
      'eth_callMany',
      [[{ transactions: [{ authorizationList: [{}] }] }]],
      'Invalid bundles[0].transactions[0].authorizationList[0].chainId: expected a number, in hex with 0x or in decimal digits.',
    ],
    [
      'evm_simulate',
      [{ steps: [{ send: { type: 'x' } }] }],
      'Invalid simulation.steps[0].send.type: expected a number',
    ],
    [
      'alchemy_simulateAssetChangesBundle',
      [[{ to: BOB }, { to: BOB, type: '0x7' }]],
      'Invalid transaction type: 0x7',
    ],
    ['evm_stackTrace', [{ accessList: 5 }], 'Invalid target.accessList: expected an array'],
  ])('%s names the member that is wrong', async (method, params, message) => {
    const { error } = await t.reply(method, params)
    expect(error.message).toContain(message)
  })
})

describe("typed transactions under Ethereum's rules", () => {
  const send = async (parts: object): Promise<string> => {
    const nonce = Number(await t.call('eth_getTransactionCount', from))
    return t.call(
      'eth_sendRawTransaction',
      await wallet.signTransaction({ chainId: 33, nonce, gasLimit: 200_000, to: BOB, ...parts }),
    )
  }

  it('keep their type: the gas of the access list is that of EIP-2930', async () => {
    const hash = await send({ type: 2, maxFeePerGas: 5, maxPriorityFeePerGas: 3, accessList: LIST })
    const { chain, ethereum } = await t.call('debug_compareRules', hash, 'london')
    expect(chain.gasUsed).toBe(hex(21_000n + LIST_GAS))
    // 2,400 for the address and 1,900 for its slot.
    expect(ethereum).toMatchObject({ status: 'succeeded', gasUsed: hex(21_000 + 2400 + 1900) })
    const early = await t.call('debug_compareRules', hash, 'berlin')
    expect(early.ethereum).toMatchObject({
      status: 'rejected',
      reason: 'Ethereum has transactions of type 2 (EIP-1559) in later forks only',
    })
  })

  it('set code from Prague on', async () => {
    const nonce = Number(await t.call('eth_getTransactionCount', from))
    const authorizationList = [await wallet.authorize({ address: LIBRARY, chainId: 33, nonce: nonce + 1 })]
    const hash = await send({
      type: 4,
      to: from,
      maxFeePerGas: 1,
      maxPriorityFeePerGas: 1,
      authorizationList,
    })
    const { chain, ethereum, sameResult } = await t.call('debug_compareRules', hash, 'prague')
    expect(sameResult).toBe(true)
    expect(ethereum.output).toBe(chain.output)
    expect((await t.call('debug_compareRules', hash)).ethereum).toMatchObject({ status: 'rejected' })
  })

  it('are refused by rules of this chain without the drafts', async () => {
    const hash = await send({ type: 1, gasPrice: 1, accessList: LIST })
    const { chain, other } = await t.call('debug_compareRuleSets', hash, 'vetiver900')
    expect(chain.status).toBe('succeeded')
    expect(other).toMatchObject({
      status: 'rejected',
      reason: expect.stringContaining('is not supported before its activation'),
    })
  })
})

describe('a fork of a chain with typed transactions', () => {
  it('shows them as the upstream does, and takes more from its own first block on', async () => {
    const nonce = Number(await t.call('eth_getTransactionCount', from))
    const authorizationList = [await wallet.authorize({ address: LIBRARY, chainId: 33, nonce: nonce + 3 })]
    const common = { chainId: 33, gasLimit: 200_000, to: BOB, accessList: LIST }
    const fees = { maxFeePerGas: 5, maxPriorityFeePerGas: 3 }
    const hashes: string[] = []
    for (const [at, parts] of [
      { type: 1, gasPrice: 1 },
      { type: 2, ...fees },
      { type: 4, ...fees, authorizationList },
    ].entries()) {
      const raw = await wallet.signTransaction({ ...common, ...parts, nonce: nonce + at })
      hashes.push(await t.call('eth_sendRawTransaction', raw))
    }
    const fork = await servedNode({ fork: t.url, forkCache: false, rules: 'next', mining: 'auto' })
    try {
      for (const hash of hashes) {
        for (const method of [
          'eth_getTransactionByHash',
          'eth_getTransactionReceipt',
          'eth_getRawTransactionByHash',
        ]) {
          expect(await fork.call(method, hash)).toEqual(await t.call(method, hash))
        }
      }
      const own = await wallet.signTransaction({ ...common, ...fees, type: 2, nonce: nonce + 4 })
      const hash = await fork.call('eth_sendRawTransaction', own)
      expect(await fork.call('eth_getTransactionReceipt', hash)).toMatchObject({ type: '0x2', status: '0x1' })
    } finally {
      await fork.close()
    }
  })
})

describe('blockTimestamp of logs and the base fee of new heads', () => {
  /** LOG0 of nothing. */
  const LOGGING = `0x${'66'.repeat(20)}`

  it.each([
    [{ preset: 'anvil' }, true, true],
    [{ preset: 'hardhat' }, false, true],
    [{ rules: 'next' }, false, false],
    [{}, false, false],
  ] as const)('are those of each tool: %j', async (options, isTimed, hasBaseFee) => {
    const node = await createNode(options)
    const ask = (method: string, ...params: unknown[]) => node.request({ method, params })
    try {
      await ask('hardhat_setCode', LOGGING, '0x60006000a000')
      const heads: Record<string, unknown>[] = []
      node.on('message', ({ data }) => heads.push((data as { result: Record<string, unknown> }).result))
      await ask('eth_subscribe', 'newHeads')
      const filter = await ask('eth_newFilter', {})
      const [sender] = (await ask('eth_accounts')) as string[]
      const hash = await ask('eth_sendTransaction', {
        from: sender,
        to: LOGGING,
        gas: '0x7530',
        gasPrice: '0x77359400',
      })
      const { timestamp } = (await ask('eth_getBlockByNumber', 'latest', false)) as { timestamp: string }
      const receipt = (await ask('eth_getTransactionReceipt', hash)) as { logs: object[] }
      const logs = [
        ...receipt.logs,
        ...((await ask('eth_getLogs', {})) as object[]),
        ...((await ask('eth_getFilterChanges', filter)) as object[]),
      ]
      expect(logs).toHaveLength(3)
      const stated = isTimed ? timestamp : undefined
      for (const log of logs) expect((log as { blockTimestamp?: string }).blockTimestamp).toBe(stated)
      expect(heads.at(-1)?.baseFeePerGas).toBe(hasBaseFee ? '0x0' : undefined)
    } finally {
      await node.close()
    }
  })
})
