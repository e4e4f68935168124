/** viem as an application uses it: over HTTP, on a socket and in process, live and historical events, reorganisations. */
import fc from 'fast-check'
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  custom,
  defineChain,
  http,
  parseAbi,
  verifyTypedData,
  webSocket,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { eventRecorder } from '../support/event-recorder.ts'
import { BOB, COW, COW_KEY, type NotingChain, noteData, notingChain } from '../support/noting-chain.ts'

const abi = parseAbi([
  'event Noted(uint256 indexed number, address indexed who, bytes data)',
  'function note(uint256 number, bytes data)',
  'function counter() view returns (uint256)',
])
const { bytecode } = artifact('Probe')
const local = defineChain({
  id: 33,
  name: 'local',
  nativeCurrency: { name: 'coin', symbol: 'C', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})

const closers: (() => unknown)[] = []
let chain: NotingChain
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await chain.close()
})

type TransportName = 'http' | 'webSocket' | 'in process'

function transport(name: TransportName) {
  if (name === 'http') return http(chain.url)
  if (name === 'in process') return custom(chain.node)
  return webSocket(chain.wsUrl, { reconnect: false, keepAlive: false })
}

function connect(name: TransportName) {
  const client = createPublicClient({
    chain: local,
    transport: transport(name),
    pollingInterval: 20,
    cacheTime: 0,
  })
  closers.push(async () => {
    if ('getRpcClient' in client.transport) {
      const { getRpcClient } = client.transport as { getRpcClient(): Promise<{ close(): void }> }
      ;(await getRpcClient()).close()
    }
  })
  return client
}

/** The note after which nothing more comes. */
const LAST = 1_000_000

/** Changes the chain: notes, empty blocks, snapshots, and other notes in place of earlier ones. */
async function goWay(chainWriter: readonly ('note' | 'mine' | 'snapshot' | 'revert' | { back: number })[]) {
  let snapshot = await chain.call('evm_snapshot')
  let number = 0
  for (const move of chainWriter) {
    if (move === 'note') await chain.note(++number)
    else if (move === 'mine') await chain.call('evm_mine')
    else if (move === 'snapshot') snapshot = await chain.call('evm_snapshot')
    else if (move === 'revert') await chain.call('evm_revert', snapshot)
    else {
      const logs = await chain.call('eth_getLogs', { fromBlock: '0x0', address: chain.address })
      const { transactionHash } = logs.at(-1 - (move.back % 5)) ?? {}
      if (transactionHash !== undefined) await chain.replace(transactionHash, ++number)
    }
  }
}

/** A note as a watcher receives it: its number, negative when its block has left the chain. */
const brief = ({ args, removed }: { args: { number?: bigint | undefined }; removed: boolean }) =>
  Number(args.number) * (removed ? -1 : 1)

describe.each(['http', 'webSocket', 'in process'] as const)('viem, %s', (name) => {
  it('deploys, calls and sends with a local key that names no fee, and waits for receipts', async () => {
    chain = await notingChain()
    const reader = connect(name)
    const writer = createWalletClient({
      account: privateKeyToAccount(COW_KEY),
      chain: local,
      transport: transport(name),
    })
    const hash = await writer.deployContract({ abi, bytecode })
    const { contractAddress } = await reader.waitForTransactionReceipt({ hash })
    const contract = { address: contractAddress as `0x${string}`, abi }
    const sent = await writer.writeContract({ ...contract, functionName: 'note', args: [7n, '0x12'] })
    const receipt = await reader.waitForTransactionReceipt({ hash: sent })
    expect(receipt).toMatchObject({ status: 'success', type: 'legacy' })
    expect(await reader.readContract({ ...contract, functionName: 'counter' })).toBe(1n)
    const [event] = await reader.getContractEvents({ ...contract, fromBlock: 0n, strict: true })
    expect(event).toMatchObject({ eventName: 'Noted', args: { number: 7n, data: '0x12' }, removed: false })
    const filter = await reader.createContractEventFilter({
      ...contract,
      eventName: 'Noted',
      args: { number: 7n },
      fromBlock: 0n,
    })
    expect(await reader.getFilterLogs({ filter })).toHaveLength(1)
    expect(await reader.getFilterChanges({ filter })).toHaveLength(1)
    expect(await reader.getFilterChanges({ filter })).toHaveLength(0)
    expect(await reader.uninstallFilter({ filter })).toBe(true)
  })

  it('sends from accounts of the node, and has them sign typed data', async () => {
    chain = await notingChain()
    const writer = createWalletClient({ chain: local, transport: transport(name) })
    const [account] = await writer.getAddresses()
    expect(account?.toLowerCase()).toBe(COW)
    const hash = await writer.sendTransaction({ account: COW, to: chain.address, data: noteData(5) })
    expect(await chain.noted()).toEqual([5])
    expect(await connect(name).waitForTransactionReceipt({ hash })).toMatchObject({ from: COW })
    const typed = {
      domain: { name: 'Mail', chainId: 33 },
      types: { Mail: [{ name: 'to', type: 'address' }] },
      primaryType: 'Mail',
      message: { to: BOB },
    } as const
    const signature = await writer.signTypedData({ account: COW, ...typed })
    expect(await verifyTypedData({ address: COW, signature, ...typed })).toBe(true)
  })

  it('waits for a transaction that is mined later, receives it as pending, and each block once', async () => {
    chain = await notingChain()
    await chain.call('evm_setAutomine', false)
    const reader = connect(name)
    const tester = createTestClient({ mode: 'anvil', chain: local, transport: transport(name) })
    const pending = eventRecorder<string>()
    const blocks = eventRecorder<bigint | null>()
    const numbers = eventRecorder<bigint>()
    closers.push(
      reader.watchPendingTransactions({ onTransactions: (hashes) => hashes.forEach(pending.record) }),
      reader.watchBlocks({ emitMissed: true, onBlock: ({ number }) => blocks.record(number) }),
      reader.watchBlockNumber({ emitMissed: true, onBlockNumber: numbers.record }),
    )
    if (name === 'webSocket') await chain.called('eth_subscribe', 3)
    else {
      await chain.called('eth_newPendingTransactionFilter')
      await numbers.count(1)
      await blocks.count(1)
    }
    const writer = createWalletClient({ chain: local, transport: transport(name) })
    const transaction = { account: BOB, to: COW, value: 1n } as const
    const sent = [await writer.sendTransaction(transaction), await writer.sendTransaction(transaction)]
    expect(await pending.count(2)).toEqual(sent)
    const [hash] = sent as [`0x${string}`, `0x${string}`]
    const receipt = reader.waitForTransactionReceipt({ hash, confirmations: 2 })
    for (let i = 0; i < 4; i++) await tester.mine({ blocks: 1 })
    expect(await receipt).toMatchObject({ blockNumber: 2n })
    for (const heights of [blocks, numbers]) {
      expect((await heights.until((height) => height === 5n)).slice(-4)).toEqual([2n, 3n, 4n, 5n])
    }
  })

  it('receives each event once, and removed events of a reorganisation', async () => {
    chain = await notingChain()
    const reader = connect(name)
    const notes = eventRecorder<number>()
    closers.push(
      reader.watchContractEvent({
        address: chain.address,
        abi,
        eventName: 'Noted',
        onLogs: (logs) => logs.map(brief).forEach(notes.record),
      }),
    )
    await chain.called(name === 'webSocket' ? 'eth_subscribe' : 'eth_newFilter')
    const first = await chain.note(1)
    await chain.note(2)
    await notes.count(2)
    await chain.replace(first, 3)
    await chain.note(4)
    // The note of the second block goes back to the pool and is mined again.
    expect(await notes.until((number) => number === 4)).toEqual([1, 2, -1, -2, 3, 2, 4])
    const historical = await reader.getContractEvents({ address: chain.address, abi, fromBlock: 0n })
    expect(historical.map(brief)).toEqual([3, 2, 4])
  })

  it('has the events of the final chain after any sequence of changes, none lost and none twice', async () => {
    const move = fc.oneof(
      { weight: 4, arbitrary: fc.constant('note' as const) },
      fc.constantFrom('mine', 'snapshot', 'revert'),
      fc.nat().map((back) => ({ back })),
    )
    const way = fc.array(move, { minLength: 5, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(way, async (chainWriter) => {
        chain = await notingChain()
        const place = ({ blockHash, logIndex }: { blockHash: string; logIndex: number | string }) =>
          `${blockHash} ${Number(logIndex)}`
        const standing = new Map<string, number>()
        const faults: string[] = []
        const notes = eventRecorder<number>()
        const stop = connect(name).watchContractEvent({
          address: chain.address,
          abi,
          eventName: 'Noted',
          onLogs(logs) {
            for (const log of logs) {
              const isFault = log.removed ? !standing.delete(place(log)) : standing.has(place(log))
              if (isFault) faults.push(`${brief(log)} at ${place(log)}`)
              if (!log.removed) standing.set(place(log), brief(log))
              notes.record(brief(log))
            }
          },
        })
        await chain.called(name === 'webSocket' ? 'eth_subscribe' : 'eth_newFilter')
        await goWay(chainWriter)
        await chain.note(LAST)
        await notes.until((number) => number === LAST)
        const logs = await chain.call('eth_getLogs', { fromBlock: '0x0', address: chain.address })
        expect(faults).toEqual([])
        expect([...standing.keys()].sort()).toEqual(logs.map(place).sort())
        await stop()
        await Promise.all(closers.splice(0).map((close) => close()))
        await chain.close()
      }),
      { numRuns: 4 },
    )
  })
})
