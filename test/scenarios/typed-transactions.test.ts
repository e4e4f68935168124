/** Typed transactions on whole nodes: clients with their own defaults over real sockets, and every method that shows or makes one. */
import { Contract, ContractFactory, JsonRpcProvider, Wallet } from 'ethers'
import { createPublicClient, createWalletClient, defineChain, http, webSocket } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Web3 } from 'web3'
import type { NodeOptions } from '../../src/index.ts'
import { artifact } from '../support/contracts.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

/** Keys that have coins: the first accounts of the local chain, and of the presets' mnemonic. */
const COW = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
const FIRST = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const token = artifact('Token') as unknown as { abi: never[]; bytecode: `0x${string}` }

const NODES: readonly [name: string, options: NodeOptions, key: `0x${string}`][] = [
  ['--rules next', { rules: 'next' }, COW],
  ['--rules next and a minimum price', { rules: 'next', minGasPrice: 60_000_000n }, COW],
  ['the preset hardhat', { preset: 'hardhat' }, FIRST],
  ['the preset anvil', { preset: 'anvil' }, FIRST],
]

describe.each(NODES)('clients with their defaults, under %s', (_, options, key) => {
  let served: ServedNode
  beforeAll(async () => {
    served = await servedNode(options)
  })
  afterAll(() => served.close())

  it.each(['http', 'webSocket'] as const)('viem, %s', async (name) => {
    const transport =
      name === 'http' ? http(served.url) : webSocket(served.wsUrl, { reconnect: false, keepAlive: false })
    const id = Number(await served.call('eth_chainId'))
    const chain = defineChain({
      id,
      name: 'local',
      nativeCurrency: { name: 'coin', symbol: 'C', decimals: 18 },
      rpcUrls: { default: { http: [] } },
    })
    const reader = createPublicClient({ chain, transport, pollingInterval: 20, cacheTime: 0 })
    const writer = createWalletClient({ account: privateKeyToAccount(key), chain, transport })
    const made = await writer.deployContract({ ...token, args: [10n ** 18n] as never })
    const { contractAddress, type } = await reader.waitForTransactionReceipt({ hash: made })
    expect(type).toBe('eip1559')
    const hash = await writer.writeContract({
      address: contractAddress as `0x${string}`,
      abi: token.abi,
      functionName: 'transfer',
      args: [BOB, 77n],
    } as never)
    expect(await reader.waitForTransactionReceipt({ hash })).toMatchObject({
      status: 'success',
      type: 'eip1559',
    })
    const found = await reader.getTransaction({ hash })
    expect(found).toMatchObject({ type: 'eip1559', accessList: [], chainId: id })
    expect(found.gasPrice).toBe(found.maxPriorityFeePerGas)
    expect(await writer.sendTransaction({ to: BOB, value: 1n, accessList: [] })).toMatch(/^0x/)
  })

  it('ethers', async () => {
    const provider = new JsonRpcProvider(served.url, undefined, { pollingInterval: 20, cacheTimeout: -1 })
    try {
      const wallet = new Wallet(key, provider)
      const made = await new ContractFactory(token.abi, token.bytecode, wallet).deploy(10n ** 18n)
      await made.waitForDeployment()
      const contract = new Contract(await made.getAddress(), token.abi, wallet)
      // A base fee of zero makes ethers choose a legacy transaction.
      expect(await (await contract.getFunction('transfer')(BOB, 5n)).wait()).toMatchObject({ status: 1 })
      const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_500_000_000n }
      const sent = await contract.getFunction('transfer')(BOB, 5n, fees)
      expect(await sent.wait()).toMatchObject({ status: 1, type: 2, gasPrice: 1_500_000_000n })
      expect(await provider.getTransaction(sent.hash)).toMatchObject({ type: 2, accessList: [] })
      // An unlocked account's price is 0 unless named, as in the reference node.
      if (options.minGasPrice !== undefined) return
      const signer = await provider.getSigner()
      expect(await (await signer.sendTransaction({ to: BOB, value: 1n })).wait()).toMatchObject({ status: 1 })
    } finally {
      provider.destroy()
    }
  })

  it.each(['http', 'ws'] as const)('web3.js, %s', async (name) => {
    const web3 = new Web3(name === 'http' ? served.url : served.wsUrl)
    try {
      const { address } = web3.eth.accounts.wallet.add(key)[0] as { address: string }
      const made = await new web3.eth.Contract(token.abi)
        .deploy({ data: token.bytecode, arguments: [10n ** 18n] as never })
        .send({ from: address })
      const receipt = await (
        made.methods as never as Record<
          string,
          (...args: unknown[]) => { send(o: object): Promise<{ status: bigint; type: bigint }> }
        >
      )
        .transfer?.(BOB, 3n)
        .send({ from: address })
      expect(receipt).toMatchObject({ status: 1n, type: 2n })
    } finally {
      if (name === 'ws') web3.currentProvider?.disconnect()
    }
  })
})

describe('typed transactions, where blocks take them', () => {
  const TO = BOB
  const LIST = [{ address: BOB, storageKeys: [`0x${'11'.repeat(32)}`] }]
  let t: ServedNode
  let from: string
  beforeAll(async () => {
    t = await servedNode({ rules: 'next', mining: 'auto' })
    from = (await t.call('eth_accounts'))[0]
  })
  afterAll(() => t.close())

  it('are sent, signed and filled by call objects', async () => {
    const hash = await t.call('eth_sendTransaction', {
      from,
      to: TO,
      value: '0x1',
      gas: '0x7530',
      type: '0x2',
      maxFeePerGas: '0x5',
      maxPriorityFeePerGas: '0x3',
      accessList: LIST,
    })
    const sent = await t.call('eth_getTransactionByHash', hash)
    expect(sent).toMatchObject({
      type: '0x2',
      chainId: '0x21',
      accessList: LIST,
      maxFeePerGas: '0x5',
      maxPriorityFeePerGas: '0x3',
      gasPrice: '0x3',
      yParity: sent.v,
    })
    const receipt = await t.call('eth_getTransactionReceipt', hash)
    // 21,000 and 80 for each of the 59 + 1 bytes (RSKIP-546): f8 39... see EIP-2930's RLP.
    const listGas = BigInt(receipt.gasUsed) - 21_000n
    expect(listGas % 80n).toBe(0n)
    expect(receipt).toMatchObject({ type: '0x2', effectiveGasPrice: '0x3', status: '0x1' })
    expect(BigInt(await t.call('eth_estimateGas', { from, to: TO, accessList: LIST }))).toBe(
      21_000n + listGas,
    )
    expect(await t.call('eth_getRawTransactionByHash', hash)).toMatch(/^0x02f8/)

    const raw = await t.call('eth_signTransaction', {
      from,
      to: TO,
      gas: '0x7530',
      accessList: LIST,
      gasPrice: '0x2',
    })
    expect(raw).toMatch(/^0x01f8/)
    const one = await t.call('eth_sendRawTransaction', raw)
    const shown = await t.call('eth_getTransactionByHash', one)
    expect(shown).toMatchObject({ type: '0x1', accessList: LIST, gasPrice: '0x2', chainId: '0x21' })
    expect(shown).not.toHaveProperty('maxFeePerGas')
    expect((await t.call('eth_fillTransaction', { from, to: TO })).tx).toMatchObject({ type: '0x2' })
    expect((await t.call('eth_fillTransaction', { from, to: TO, gasPrice: '0x1' })).tx).toMatchObject({
      type: '0x0',
    })
    expect((await t.call('eth_sendTransaction', { from, to: TO, gas: '0x5208', type: '0x0' })).length).toBe(
      66,
    )
  })

  it('of the namespace are legacy ones behind a prefix', async () => {
    const hash = await t.call('eth_sendTransaction', {
      from,
      to: TO,
      gas: '0x5208',
      gasPrice: '0x2',
      type: '0x2',
      rskSubtype: '0x3',
    })
    expect(await t.call('eth_getTransactionByHash', hash)).toMatchObject({ type: '0x0203', gasPrice: '0x2' })
    expect(await t.call('eth_getTransactionReceipt', hash)).toMatchObject({
      type: '0x0203',
      gasUsed: '0x5208',
    })
    expect(await t.call('eth_getRawTransactionByHash', hash)).toMatch(/^0x0203f8/)
  })

  it('leave blocks that are verified, exported, traced and asked for their fees', async () => {
    const head = await t.call('eth_getBlockByNumber', 'latest', true)
    expect(head.baseFeePerGas).toBe('0x0')
    const raw: string = await t.call('debug_getRawBlock', 'latest')
    expect((raw.length - 2) / 2).toBe(Number(head.size))
    const receipts: string[] = await t.call('debug_getRawReceipts', 'latest')
    expect(receipts[0]).toMatch(/^0x0203f9/)
    expect(await t.call('trace_replayTransaction', head.transactions[0].hash, ['trace'])).toMatchObject({
      output: '0x',
    })
    const history = await t.call('eth_feeHistory', '0x2', 'latest', [50])
    expect(history.baseFeePerGas).toEqual(['0x0', '0x0', '0x0'])
    expect(await t.call('eth_maxPriorityFeePerGas')).toBe(await t.call('eth_gasPrice'))
  })

  it.each<[object, string]>([
    [{ type: '0x3' }, 'Invalid transaction type: 0x3'],
    [{ type: '0x9' }, 'Invalid transaction type: 0x9'],
    [
      { type: '0x1', rskSubtype: '0x1' },
      'rskSubtype can only be used with type 0x02 (RSK namespace), got type: 0x1',
    ],
    [{ rskSubtype: '0x1' }, 'RSK subtype cannot be provided without a transaction type'],
    [{ type: '0x2', rskSubtype: '0x80' }, 'Invalid RSK subtype: 0x80'],
    [{ type: 'two' }, 'Invalid transaction.type: expected a number'],
    [{ accessList: [{ address: '0x1' }] }, 'Invalid transaction.accessList[0].address: expected an address'],
    [
      { accessList: [{ address: BOB, storageKeys: ['0x1'] }] },
      'Invalid transaction.accessList[0].storageKeys[0]: expected 32 bytes in hex',
    ],
    [{ type: '0x0', accessList: LIST }, 'Invalid transaction.accessList: expected type 0x1, 0x2 or 0x4.'],
    [{ type: '0x2', authorizationList: [] }, 'Invalid transaction.authorizationList: expected type 0x4.'],
    [
      { maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x2' },
      'Invalid transaction: Type 2 transaction maxPriorityFeePerGas (2) must not exceed maxFeePerGas (1)',
    ],
  ])('are refused with one clear error: %j', async (members, message) => {
    const { error } = await t.reply('eth_sendTransaction', [{ from, to: TO, gas: '0x7530', ...members }])
    expect(error.code).toBe(-32602)
    expect(error.message).toContain(message)
    expect(await t.call('txpool_status')).toMatchObject({ pending: 0, queued: 0 })
  })

  it('survive a restart, a state file and an import', async () => {
    const state = await t.call('anvil_dumpState', true)
    const hash = (await t.call('eth_getBlockByNumber', 'latest', false)).transactions[0]
    const wanted = await t.call('eth_getTransactionReceipt', hash)
    const other = await servedNode({ rules: 'next' })
    try {
      for (let n = 1; n <= Number(wanted.blockNumber); n++) {
        const raw = await t.call('debug_getRawBlock', `0x${n.toString(16)}`)
        await other.call('evm_importBlock', raw)
      }
      expect(await other.call('eth_getTransactionReceipt', hash)).toEqual(wanted)
    } finally {
      await other.close()
    }
    const loaded = await servedNode({ rules: 'next' })
    try {
      await loaded.call('anvil_loadState', state)
      expect(await loaded.call('eth_getTransactionReceipt', hash)).toEqual(wanted)
    } finally {
      await loaded.close()
    }
  })
})

describe('eth_feeHistory, where blocks take typed transactions', () => {
  it('offers the minimum gas price after blocks without transactions', async () => {
    const t = await servedNode({ rules: 'next', minGasPrice: 60_000_000n })
    try {
      await t.call('evm_mine')
      const minimum = (await t.call('eth_getBlockByNumber', 'latest', false)).minimumGasPrice
      expect((await t.call('eth_feeHistory', '0x1', 'latest', [50])).reward).toEqual([[minimum]])
    } finally {
      await t.close()
    }
  })
})

describe('forged envelopes', () => {
  it('get one clear error each, and leave the pool as it is', async () => {
    const t = await servedNode({ rules: 'next', minGasPrice: 60_000_000n, mining: 'manual' })
    try {
      const fields = { to: BOB, gasLimit: 21_000, chainId: 33, nonce: 0 }
      const signed = (parts: object) => new Wallet(COW).signTransaction({ type: 2, ...fields, ...parts })
      const fees = (price: number, priority = price) => ({
        maxFeePerGas: price,
        maxPriorityFeePerGas: priority,
      })
      const enough = fees(70_000_000)
      const cases: [raw: string, message: string][] = [
        [await signed(fees(1)), "transaction's gas price lower than block's minimum"],
        [await signed(fees(70_000_000, 1)), "transaction's gas price lower than block's minimum"],
        [await signed({ ...enough, chainId: 31 }), 'Invalid chainId: 31'],
        [await signed({ ...enough, gasLimit: 20_999 }), "transaction's basic cost is above the gas limit"],
        [
          await signed({ ...enough, accessList: [{ address: BOB, storageKeys: [] }] }),
          "transaction's basic cost is above the gas limit",
        ],
        ['0x03c0', 'Invalid transaction: Unsupported transaction type: StandardTyped[RSKIP558 (EIP-4844)]'],
        ['0x02', 'Invalid transaction: no RLP item in zero bytes'],
        ['0x0203', 'Invalid raw transaction: it is empty'],
      ]
      for (const [raw, message] of cases) {
        const { error } = await t.reply('eth_sendRawTransaction', [raw])
        expect(error.message).toContain(message)
        expect(await t.call('txpool_status')).toMatchObject({ pending: 0, queued: 0 })
      }
      await t.call('eth_sendRawTransaction', await signed(enough))
      expect(await t.call('txpool_status')).toMatchObject({ pending: 1, queued: 0 })
    } finally {
      await t.close()
    }
  })
})

describe('typed transactions from a height on', () => {
  it('are refused before it, and taken from it on', async () => {
    const t = await servedNode({ activate: ['rskip546@3'], mining: 'auto' })
    try {
      const wallet = new Wallet(COW)
      const raw = await wallet.signTransaction({
        type: 2,
        to: BOB,
        gasLimit: 21_000,
        chainId: 33,
        nonce: 0,
        maxFeePerGas: 1,
        maxPriorityFeePerGas: 1,
      })
      await expect(t.call('eth_sendRawTransaction', raw)).rejects.toThrow(
        'transaction type StandardTyped[RSKIP546 (EIP-1559)] is not supported before its activation',
      )
      expect(await t.call('eth_getBlockByNumber', 'latest', false)).not.toHaveProperty('baseFeePerGas')
      await t.call('evm_mine', { blocks: 2 })
      const hash = await t.call('eth_sendRawTransaction', raw)
      expect(await t.call('eth_getTransactionReceipt', hash)).toMatchObject({
        type: '0x2',
        blockNumber: '0x3',
      })
    } finally {
      await t.close()
    }
  })
})
