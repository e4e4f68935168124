/** What clients of Hardhat and Anvil get from a node under a preset, over HTTP with viem and ethers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JsonRpcProvider, type TransactionRequest, Wallet } from 'ethers'
import {
  type BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  http,
} from 'viem'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, it } from 'vitest'
import { toHex } from '../../src/encoding/hex.ts'
import type { NodeOptions } from '../../src/index.ts'
import { createNode } from '../../src/index.ts'
import { TEST_MNEMONIC } from '../../src/options/presets.ts'
import { assemble, deployer } from '../support/assembler.ts'
import { artifact } from '../support/contracts.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const NOW = 2_000_000_000
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** The first account of the mnemonic, as Hardhat's and Anvil's documentation list it. */
const FIRST = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const FIRST_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const POOR_KEY = `0x${'42'.repeat(32)}` as const
const probe = artifact('Probe') as unknown as { abi: never[]; bytecode: `0x${string}` }

let t: ServedNode
afterEach(() => t?.close())
async function serveNode(preset: 'hardhat' | 'anvil', options: NodeOptions = {}) {
  t = await servedNode({ now: () => NOW, preset, ...options })
}
/** What Hardhat's errors carry of a transaction that was mined. */
interface MinedFailure {
  readonly txHash: string
  readonly data: string
}

const errorOf = async (method: string, ...params: unknown[]) => (await t.reply(method, params)).error

async function deployProbe(): Promise<`0x${string}`> {
  const hash = await t.call('eth_sendTransaction', { from: FIRST, data: probe.bytecode })
  return (await t.call('eth_getTransactionReceipt', hash)).contractAddress
}

describe.each(['hardhat', 'anvil'] as const)('the preset %s', (preset) => {
  it('starts with the accounts, balances, clock, gas limit and prices of that node', async () => {
    await serveNode(preset)
    const accounts: string[] = await t.call('eth_accounts')
    expect(accounts).toHaveLength(preset === 'hardhat' ? 20 : 10)
    expect(accounts.slice(0, 3)).toEqual(
      [0, 1, 2].map((addressIndex) =>
        mnemonicToAccount(TEST_MNEMONIC, { addressIndex }).address.toLowerCase(),
      ),
    )
    expect(accounts[0]).toBe(FIRST.toLowerCase())
    expect(BigInt(await t.call('eth_getBalance', FIRST, 'latest'))).toBe(10_000n * 10n ** 18n)
    expect(await t.call('web3_clientVersion')).toMatch(
      { hardhat: /^HardhatNetwork\//, anvil: /^anvil\// }[preset],
    )
    expect(BigInt(await t.call('eth_gasPrice'))).toBeGreaterThan(0n)
    const genesis = await t.call('eth_getBlockByNumber', 'latest', false)
    expect(genesis).toMatchObject({
      number: '0x0',
      timestamp: `0x${NOW.toString(16)}`,
      gasLimit: '0x1c9c380',
    })
    expect(await t.call('net_listening')).toBe(true)
    expect((await t.call('hardhat_metadata')).clientVersion).toBe(await t.call('web3_clientVersion'))
  })

  it('counts time from the head when blocks of one second are ahead of the clock', async () => {
    await serveNode(preset)
    await t.call('hardhat_mine', '0xa')
    await t.call('evm_increaseTime', 3600)
    await t.call('evm_mine')
    expect(Number((await t.call('eth_getBlockByNumber', 'latest', false)).timestamp)).toBe(NOW + 10 + 3600)
  })

  it('shows one transaction for each block, reports the hidden one, and keeps the roots', async () => {
    await serveNode(preset)
    const hash = await t.call('eth_sendTransaction', { from: FIRST, to: BOB, value: '0x1' })
    const block = await t.call('eth_getBlockByNumber', 'latest', false)
    expect(block.transactions).toEqual([hash])
    expect(block.hiddenTransactions).toHaveLength(1)
    const [remasc] = block.hiddenTransactions
    expect(await t.call('eth_getBlockTransactionCountByNumber', 'latest')).toBe('0x1')
    expect(await t.call('eth_getBlockTransactionCountByHash', block.hash)).toBe('0x1')
    expect(await t.call('eth_getTransactionByBlockNumberAndIndex', 'latest', '0x1')).toBeNull()
    expect(await t.call('eth_getTransactionByBlockHashAndIndex', block.hash, '0x1')).toBeNull()
    expect(await t.call('eth_getBlockReceipts', 'latest')).toHaveLength(1)
    expect((await t.call('eth_getTransactionByHash', remasc)).blockHash).toBe(block.hash)
    // The block itself has both: its size and roots are those of the whole, which the shown part cannot have.
    const full = await t.node.engine.queries.block({ hash: block.hash })
    expect(full?.executed.block.transactions).toHaveLength(2)
    expect(full?.executed.hash).toBe(block.hash)
  })

  it('deletes a snapshot when it is reverted to, and later ones, and never reuses an id', async () => {
    await serveNode(preset)
    for (const id of ['0x1', '0x2', '0x3']) expect(await t.call('evm_snapshot')).toBe(id)
    await t.call('evm_mine')
    expect(await t.call('evm_revert', '0x2')).toBe(true)
    expect(await t.call('eth_blockNumber')).toBe('0x0')
    expect(await t.call('evm_revert', '0x2')).toBe(false)
    expect(await t.call('evm_revert', '0x3')).toBe(false)
    expect(await t.call('evm_snapshot')).toBe('0x4')
    expect(await t.call('evm_snapshot', 'base', { keep: true })).toBe('0x5')
    for (let round = 0; round < 2; round++) expect(await t.call('evm_revert', 'base')).toBe(true)
    expect(await t.call('evm_revert', '0x1')).toBe(true)
    expect(await t.call('evm_snapshots')).toEqual([])
    expect(await t.call('hardhat_metadata')).not.toHaveProperty('snapshots')
  })

  it('lets viem decode custom errors and reasons of calls and estimates', async () => {
    await serveNode(preset)
    const address = await deployProbe()
    const chain = defineChain({
      id: 33,
      name: 'local',
      nativeCurrency: { name: 'coin', symbol: 'C', decimals: 18 },
      rpcUrls: { default: { http: [t.url] } },
    })
    const client = createPublicClient({ chain, transport: http() })
    const wallet = createWalletClient({ chain, transport: http(), account: privateKeyToAccount(FIRST_KEY) })
    const cause = async (attempt: Promise<unknown>) => {
      const error = await attempt.then(
        () => expect.unreachable(),
        (reason: BaseError) => reason,
      )
      return error.walk(
        (one) => one instanceof ContractFunctionRevertedError,
      ) as ContractFunctionRevertedError
    }
    const contract = { address, abi: probe.abi, account: wallet.account }
    const custom = await cause(
      client.simulateContract({ ...contract, functionName: 'failWithError' } as never),
    )
    expect(custom.data).toMatchObject({ errorName: 'Refused', args: [FIRST, 42n] })
    const reason = await cause(
      client.estimateContractGas({ ...contract, functionName: 'failWithReason' } as never),
    )
    expect(reason.reason).toBe('not today')
  })

  it('estimates gas on the pending block where none is named, as both nodes do', async () => {
    await serveNode(preset)
    // Stores in block 2, the next one.
    const data = toHex(
      deployer(assemble('PUSH1 2 NUMBER EQ @store JUMPI STOP store: PUSH1 1 PUSH1 1 SSTORE STOP')),
    )
    const hash = await t.call('eth_sendTransaction', { from: FIRST, data })
    const to = (await t.call('eth_getTransactionReceipt', hash)).contractAddress
    const estimate = async (...block: (string | null)[]) =>
      Number(await t.call('eth_estimateGas', { from: FIRST, to }, ...block))
    expect(await estimate()).toBe(await estimate('pending'))
    expect(await estimate(null)).toBe(await estimate('pending'))
    expect((await estimate()) - (await estimate('latest'))).toBeGreaterThan(20_000)
  })

  it('maps insufficient funds and a used nonce to the errors of ethers', async () => {
    await serveNode(preset)
    const provider = new JsonRpcProvider(t.url, undefined, { cacheTimeout: -1 })
    try {
      const code = (key: string, transaction: TransactionRequest) =>
        new Wallet(key, provider).sendTransaction({ to: BOB, gasLimit: 21_000, ...transaction }).then(
          () => 'sent',
          (error) => error.code,
        )
      expect(await code(POOR_KEY, { value: 1n })).toBe('INSUFFICIENT_FUNDS')
      expect(await code(FIRST_KEY, { value: 10_001n * 10n ** 18n })).toBe('INSUFFICIENT_FUNDS')
      expect(await code(FIRST_KEY, { value: 1n })).toBe('sent')
      expect(await code(FIRST_KEY, { value: 1n, nonce: 0 })).toBe('NONCE_EXPIRED')
      await t.call('evm_setAutomine', false)
      expect(await code(FIRST_KEY, { nonce: 1, gasPrice: 5n })).toBe('sent')
      expect(await code(FIRST_KEY, { nonce: 1, gasPrice: 4n })).toBe('REPLACEMENT_UNDERPRICED')
    } finally {
      provider.destroy()
    }
  })

  it('has, with the rules of the network alone, no typed transactions: requests with a maximum fee are sent at that price, and envelopes are refused by the client’s own setting', async () => {
    await serveNode(preset, { rules: {} })
    const transaction = { from: FIRST, to: BOB, value: '0x1', maxFeePerGas: '0x77359400' }
    const hash = await t.call('eth_sendTransaction', {
      ...transaction,
      maxPriorityFeePerGas: '0x1',
      type: '0x2',
    })
    expect((await t.call('eth_getTransactionByHash', hash)).gasPrice).toBe('0x77359400')
    const typed = await privateKeyToAccount(FIRST_KEY).signTransaction({
      chainId: 33,
      type: 'eip1559',
      to: BOB,
      nonce: 1,
      gas: 21_000n,
      maxFeePerGas: 2n,
    })
    const message = async (userAgent: string) => {
      const request = { jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [typed] }
      return (await t.post(JSON.stringify(request), { 'User-Agent': userAgent })).body.error.message
    }
    expect(await message('foundry/1.7.1')).toBe(
      'typed transactions (type 0x2) do not exist on this chain; send a legacy one (cast, forge: --legacy)',
    )
    expect(await message('node')).toBe(
      "typed transactions (type 0x2) do not exist on this chain; send a legacy one (cast, forge: --legacy; Hardhat: gasPrice in the network of hardhat.config, or { type: 0 }; web3.py: 'gasPrice' in the transaction; web3.js: { type: '0x0' } or gasPrice; viem: { type: 'legacy' }; ethers: { type: 0 })",
    )
  })

  it('restarts on its own directory, with the genesis of the first start', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tandem-preset-'))
    try {
      let time = NOW
      const open = () => createNode({ preset, dataDir, now: () => time })
      const first = await open()
      const before = await first.request({ method: 'evm_mine' }).then(() => first.engine.queries.head().hash)
      await first.close()
      time += 1000
      const second = await open()
      expect(second.engine.queries.head().hash).toBe(before)
      await second.close()
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

describe('a mined failure', () => {
  it('is Hardhat’s error with the hash under that preset, and only the hash under Anvil’s', async () => {
    await serveNode('hardhat')
    const to = await deployProbe()
    const fail = {
      from: FIRST,
      to,
      data: encodeFunctionData({ abi: probe.abi, functionName: 'failWithReason' } as never),
    }
    const { code, message, data } = (await t.reply<never, MinedFailure>('eth_sendTransaction', [fail])).error
    expect({ code, message }).toEqual({
      code: -32603,
      message: "Error: VM Exception while processing transaction: reverted with reason string 'not today'",
    })
    expect(await t.call('eth_getTransactionReceipt', data?.txHash)).toMatchObject({
      status: '0x0',
      from: FIRST.toLowerCase(),
    })
    const outOfGas = { from: FIRST, data: '0x5b600056', gas: '0x30d40' }
    const spent = (await t.reply<never, MinedFailure>('eth_sendTransaction', [outOfGas])).error
    expect(spent.message).toBe('Error: Transaction ran out of gas')
    expect(spent.data?.data).toBe('0x')
    await t.close()
    await serveNode('anvil')
    const hash = await t.call('eth_sendTransaction', { ...fail, to: await deployProbe() })
    expect((await t.call('eth_getTransactionReceipt', hash)).status).toBe('0x0')
  })
})

describe('a custom chain id', () => {
  it('is signed by clients and read by code, also when V has more than a byte', async () => {
    await serveNode('anvil', { chainId: 31_337 })
    expect(await t.call('eth_chainId')).toBe('0x7a69')
    expect(await t.call('net_version')).toBe('31337')
    const sign = (chainId: number) =>
      privateKeyToAccount(FIRST_KEY).signTransaction({
        chainId,
        type: 'legacy',
        to: BOB,
        nonce: 0,
        gas: 21_000n,
        gasPrice: 1n,
        value: 5n,
      })
    expect((await errorOf('eth_sendRawTransaction', await sign(33))).message).toBe('Invalid chainId: 33')
    const raw = await sign(31_337)
    const hash = await t.call('eth_sendRawTransaction', raw)
    expect(await t.call('eth_getTransactionByHash', hash)).toMatchObject({ from: FIRST.toLowerCase() })
    // CHAINID, MSTORE at 0, RETURN of a word.
    const code = { [BOB]: { code: '0x4660005260206000f3' } }
    expect(BigInt(await t.call('eth_call', { to: BOB }, 'latest', code))).toBe(31_337n)
  })
})
