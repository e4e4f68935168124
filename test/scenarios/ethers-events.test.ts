/** ethers v6 as an application uses it: polling and on a socket, live and historical events, through reorganisations. */
import {
  Contract,
  type ContractEventPayload,
  ContractFactory,
  type EventLog,
  JsonRpcProvider,
  toBeHex,
  Wallet,
  WebSocketProvider,
} from 'ethers'
import { afterEach, describe, expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { eventRecorder } from '../support/event-recorder.ts'
import { BOB, COW_KEY, type NotingChain, notingChain } from '../support/noting-chain.ts'

const probe = artifact('Probe')

const open: { destroy(): unknown }[] = []
let chain: NotingChain
afterEach(async () => {
  for (const provider of open.splice(0)) await provider.destroy()
  await chain.close()
})

type Transport = 'polling' | 'WebSocket'

async function connect(transport: Transport): Promise<JsonRpcProvider | WebSocketProvider> {
  const provider =
    transport === 'polling'
      ? new JsonRpcProvider(chain.url, undefined, { cacheTimeout: -1, pollingInterval: 20 })
      : new WebSocketProvider(chain.wsUrl, undefined, { cacheTimeout: -1 })
  open.push(provider)
  // On a socket the library takes no events before it knows the network.
  await provider.getNetwork()
  return provider
}

/** What was asked for before, filters and subscriptions among it, stands when a later call is answered. */
const settled = (provider: JsonRpcProvider | WebSocketProvider) => provider.send('eth_chainId', [])

/** Numbers of notes as a listener receives them, and the logs. */
async function listen(contract: Contract) {
  const notes = eventRecorder<number>()
  const logs: EventLog[] = []
  await contract.on('Noted', (number: bigint, _who, _data, { log }: ContractEventPayload) => {
    logs.push(log)
    notes.record(Number(number))
  })
  return { ...notes, logs }
}

/** Mines until something has come about: when it polls, the library looks for events at a new block only. */
async function mineUntil<T>(wanted: Promise<T>): Promise<T> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  wanted.then(done, done)
  while (!isDone) await chain.call('evm_mine')
  return wanted
}

describe.each(['polling', 'WebSocket'] as const)('ethers, %s', (transport) => {
  it('deploys, calls and sends with a local key that names no fee, and waits for receipts', async () => {
    chain = await notingChain()
    const provider = await connect(transport)
    const wallet = new Wallet(COW_KEY, provider)
    const made = await new ContractFactory(probe.abi, probe.bytecode, wallet).deploy()
    await made.waitForDeployment()
    const contract = new Contract(await made.getAddress(), probe.abi, wallet)
    const sent = await contract.getFunction('note')(7, '0x12')
    const receipt = await sent.wait()
    expect(receipt).toMatchObject({ status: 1, type: 0 })
    expect(receipt.gasPrice).toBe((await provider.getTransaction(sent.hash))?.gasPrice)
    expect(await contract.getFunction('counter')()).toBe(1n)
    expect(await provider.waitForTransaction(sent.hash, 1, 5000)).toMatchObject({ hash: sent.hash })
    const [event] = (await contract.queryFilter('Noted', 0)) as EventLog[]
    expect(event?.args.toArray()).toEqual([7n, wallet.address, '0x12'])
  })

  it('waits for a transaction that is mined later, and receives it as pending', async () => {
    chain = await notingChain()
    await chain.call('evm_setAutomine', false)
    const provider = await connect(transport)
    const pending = eventRecorder<string>()
    await provider.on('pending', pending.record)
    await settled(provider)
    if (transport === 'polling') await chain.call('evm_mine')
    const signer = await provider.getSigner(BOB)
    const sent = await signer.sendTransaction({ to: BOB, value: 1n })
    expect(await provider.getTransactionReceipt(sent.hash)).toBeNull()
    const waited = Promise.all([sent.wait(2), provider.waitForTransaction(sent.hash)])
    const [confirmed, mined] = await mineUntil(waited)
    expect(mined?.hash).toBe(sent.hash)
    expect(await confirmed?.confirmations()).toBeGreaterThan(1)
    expect(await pending.count(1)).toEqual([sent.hash])
  })

  it('receives each block once', async () => {
    chain = await notingChain()
    const provider = await connect(transport)
    const blocks = eventRecorder<number>()
    await provider.on('block', blocks.record)
    await settled(provider)
    for (let i = 0; i < 5; i++) await chain.call('evm_mine')
    expect(await blocks.count(5)).toEqual([2, 3, 4, 5, 6])
  })

  it('receives each event once, also when the chain was reorganised', async () => {
    chain = await notingChain()
    const provider = await connect(transport)
    const contract = new Contract(chain.address, probe.abi, provider)
    const notes = await listen(contract)
    await settled(provider)
    const first = await chain.note(1)
    await chain.note(2)
    await mineUntil(notes.count(2))
    await chain.replace(first, 3)
    await chain.note(4)
    // The note of the second block goes back to the pool and is mined again.
    expect(await mineUntil(notes.until((number) => number === 4))).toEqual([1, 2, 3, 2, 4])
    const historical = (await contract.queryFilter('Noted', 0)) as EventLog[]
    expect(historical.map(({ args }) => Number(args.number))).toEqual([3, 2, 4])
    expect(await chain.noted()).toEqual([3, 2, 4])
  })
})

it('ethers gets more simultaneous calls answered than one batch may hold, when its batch size is set', async () => {
  chain = await notingChain()
  const provider = new JsonRpcProvider(chain.url, 33, { staticNetwork: true, batchMaxCount: 50 })
  open.push(provider)
  const addresses = Array.from({ length: 120 }, (_, index) => toBeHex(index + 1, 20))
  const codes = await Promise.all(addresses.map((address) => provider.getCode(address)))
  expect(codes).toEqual(Array(120).fill('0x'))
})
