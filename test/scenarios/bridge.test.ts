/** The bridge through a whole node: read with ethers, fed with headers, called by contracts, undone with its blocks. */
import { BrowserProvider, Contract, ContractFactory, Interface, type InterfaceAbi, Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { concat } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'
import { silentLogger } from '../../src/logger.ts'
import { abi, dataOf, GENESIS_HASH, hashOf, mineChain, texts } from '../evm/precompiles/bridge/calls.ts'
import { assemble } from '../support/assembler.ts'

const BRIDGE = '0x0000000000000000000000000000000001000006'
const COW = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
const FEDERATOR = toHex(keccak256(new TextEncoder().encode('federator1')))
const headers = mineChain(3)

let node: Node
let provider: BrowserProvider
let cow: Wallet
let bridge: Contract
let warnings: string[]

beforeEach(async () => {
  warnings = []
  node = await createNode({ logger: { ...silentLogger, warn: (line) => warnings.push(line) } })
  provider = new BrowserProvider(
    { request: ({ method, params }) => node.request({ method, params: params as unknown[] | undefined }) },
    undefined,
    { cacheTimeout: -1 },
  )
  provider.pollingInterval = 20
  cow = new Wallet(COW, provider)
  bridge = new Contract(BRIDGE, abi as unknown as InterfaceAbi, cow)
})
afterEach(async () => {
  provider.destroy()
  await node.close()
})

const bridgeState = () => node.request({ method: 'eth_bridgeState' })
const heightIs = (height: number) => ({
  btcBlockchainBestChainHeight: height,
  rskTxsWaitingForSignatures: [],
})

async function send(to: string, data: string, fields: { value?: bigint; from?: Wallet } = {}) {
  const { from = cow, value = 0n } = fields
  const sent = await from.sendTransaction({ to, data, value, gasLimit: 500_000, gasPrice: 0 })
  // A failed transaction is recognised by its receipt.
  const receipt = await provider.getTransactionReceipt(sent.hash)
  if (receipt === null) throw new Error('not mined')
  return receipt
}

/** A contract that passes its call data on to the bridge and ends with the code `ending`. */
async function forwarder(ending: string): Promise<string> {
  const body = assemble(`
    CALLDATASIZE 0 0 CALLDATACOPY
    0 0 CALLDATASIZE 0 0 0x1000006 GAS CALL
    RETURNDATASIZE 0 0 RETURNDATACOPY
    ${ending}
  `)
  const head = assemble(`${body.length} DUP1 11 0 CODECOPY 0 RETURN`)
  const code = toHex(concat(head, new Uint8Array(11 - head.length).fill(0x5b), body))
  const contract = await new ContractFactory([], code, cow).deploy()
  await contract.waitForDeployment()
  return contract.getAddress()
}
const PASSING = '@good JUMPI RETURNDATASIZE 0 REVERT good: RETURNDATASIZE 0 RETURN'

describe('a client', () => {
  it('reads the federation and its settings', async () => {
    expect(await bridge.getFunction('getFederationAddress')()).toBe('2MvQSG61B4LtKLECeo1dRDeDWXgJfnr3fC7')
    expect(await bridge.getFunction('getFederationSize')()).toBe(3n)
    expect(await bridge.getFunction('getFeePerKb')()).toBe(100_000n)
    expect(await bridge.getFunction('getLockingCap')()).toBe(100_000_000_000n)
    expect(await bridgeState()).toEqual(heightIs(0))
  })

  it('stores a header, which a revert to a snapshot removes', async () => {
    const save = await node.request({ method: 'evm_snapshot' })
    const [first, second] = headers as [Uint8Array, Uint8Array]
    const receipt = await send(BRIDGE, dataOf('receiveHeader', toHex(first)))
    expect(receipt.status).toBe(1)
    expect(await bridgeState()).toEqual(heightIs(1))
    expect(await bridge.getFunction('getBtcBlockchainBestBlockHeader')()).toBe(toHex(first))
    expect(await bridge.getFunction('getBtcBlockchainBlockHashAtDepth')(0)).toBe(hashOf(first))

    await send(BRIDGE, dataOf('receiveHeader', toHex(second)))
    expect(await bridgeState(), 'five minutes have not passed').toEqual(heightIs(1))
    await node.request({ method: 'evm_increaseTime', params: [300] })
    await send(BRIDGE, dataOf('receiveHeader', toHex(second)))
    expect(await bridgeState()).toEqual(heightIs(2))

    expect(await node.request({ method: 'evm_revert', params: [save] })).toBe(true)
    expect(await bridgeState()).toEqual(heightIs(0))
    expect(await bridge.getFunction('getBtcBlockchainBlockHashAtDepth')(0)).toBe(GENESIS_HASH)
  })

  it('requests a release, which is queued', async () => {
    const before = await provider.getBalance(BRIDGE)
    const receipt = await send(BRIDGE, '0x', { value: 10n ** 18n })
    expect(receipt.status).toBe(1)
    const released = 'event release_request_received(address indexed, string, uint256)'
    const events = new Interface([released])
    expect(receipt.logs.map((log) => events.parseLog(log)?.args.toArray())).toEqual([
      [cow.address, 'n47u2xVMrzaVpgGDK5TJjZHKggM7r8CdAm', 10n ** 18n],
    ])
    expect(await provider.getBalance(BRIDGE)).toBe(before + 10n ** 18n)
    expect(await bridge.getFunction('getQueuedPegoutsCount')()).toBe(1n)
    expect(warnings).toEqual([])
  })

  it('gets back an amount that is too low', async () => {
    const before = await provider.getBalance(BRIDGE)
    const receipt = await send(BRIDGE, '0x', { value: 10n ** 15n })
    expect(receipt.status).toBe(1)
    expect(receipt.logs).toHaveLength(1)
    expect(await provider.getBalance(BRIDGE)).toBe(before)
    expect(await bridge.getFunction('getQueuedPegoutsCount')()).toBe(0n)
  })
})

describe('a federator', () => {
  it('sends many headers at once, and pays no gas', async () => {
    const federator = new Wallet(FEDERATOR, provider)
    // The pool knows only senders that have an account.
    await send(federator.address, '0x', { value: 1n })
    const data = dataOf('receiveHeaders', texts(headers))
    const receipt = await send(BRIDGE, data, { from: federator })
    expect(receipt.gasUsed).toBe(0n)
    expect(await bridgeState()).toEqual(heightIs(3))
  })

  it('updates the collections', async () => {
    const federator = new Wallet(FEDERATOR, provider)
    await send(federator.address, '0x', { value: 1n })
    const receipt = await send(BRIDGE, dataOf('updateCollections'), { from: federator })
    expect(receipt.status).toBe(1)
    const events = new Interface(['event update_collections(address sender)'])
    expect(receipt.logs.map((log) => events.parseLog(log)?.args.toArray())).toEqual([[federator.address]])
    expect(warnings).toEqual([])
  })

  it('is required: headers of another sender have no effect', async () => {
    await send(BRIDGE, dataOf('receiveHeaders', texts(headers)))
    expect(await bridgeState()).toEqual(heightIs(0))
  })
})

describe('a contract', () => {
  it('reads the best height in a transaction, and the federation in a simulation only', async () => {
    const address = await forwarder(PASSING)
    const through = new Contract(address, abi as unknown as InterfaceAbi, provider)
    expect(await through.getFunction('getBtcBlockchainBestChainHeight')()).toBe(0n)
    expect(await through.getFunction('getFederationSize')()).toBe(3n)
    const submit = async (data: Hex) =>
      send(address, data).then(
        ({ status }) => status,
        () => 0,
      )
    expect(await submit(dataOf('getBtcBlockchainBestChainHeight'))).toBe(1)
    expect(await submit(dataOf('getFederationSize'))).toBe(0)
  })

  it('removes the header that it sent when it reverts', async () => {
    const data = dataOf('receiveHeader', toHex(headers[0] as Uint8Array))
    const reverting = await forwarder('0 0 REVERT')
    await send(reverting, data).catch(() => undefined)
    expect(await bridgeState()).toEqual(heightIs(0))
    await send(await forwarder(PASSING), data)
    expect(await bridgeState()).toEqual(heightIs(1))
  })
})
