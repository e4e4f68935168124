/** web3.js 4 as an application uses it: over HTTP, on a socket and in process, live and historical events, reorganisations. */
import { afterEach, describe, expect, it } from 'vitest'
import { Web3 } from 'web3'
import { artifact } from '../support/contracts.ts'
import { eventRecorder } from '../support/event-recorder.ts'
import { BOB, COW, COW_KEY, type NotingChain, noteData, notingChain } from '../support/noting-chain.ts'

const { abi, bytecode } = artifact('Probe') as unknown as { abi: never[]; bytecode: string }

const closers: (() => unknown)[] = []
let chain: NotingChain
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await chain.close()
})

type Transport = 'http' | 'WebSocket' | 'in process'

function connect(transport: Transport): Web3 {
  const web3 = new Web3(
    transport === 'http' ? chain.url : transport === 'WebSocket' ? chain.wsUrl : chain.node,
  )
  web3.eth.transactionPollingInterval = 20
  if (transport === 'WebSocket') closers.push(() => web3.provider?.disconnect())
  return web3
}

/** An event as web3.js hands it out. */
interface NotedEvent {
  readonly returnValues: { readonly number: bigint }
  readonly removed?: boolean
}

/** The methods of the contract. */
type Methods = Record<
  'note' | 'counter',
  (...args: unknown[]) => { send(options: object): Promise<object>; call(): Promise<unknown> }
>

/** A note as a listener receives it: its number, negative when its block has left the chain. */
const brief = ({ returnValues, removed }: NotedEvent) => Number(returnValues.number) * (removed ? -1 : 1)

describe.each(['http', 'WebSocket', 'in process'] as const)('web3.js, %s', (transport) => {
  it('deploys, calls and sends with a local key that names no fee', async () => {
    chain = await notingChain()
    const web3 = connect(transport)
    // It signs the other type unless the type is set.
    web3.setConfig({ defaultTransactionType: '0x0' })
    web3.eth.accounts.wallet.add(COW_KEY)
    const contract = await new web3.eth.Contract(abi).deploy({ data: bytecode }).send({ from: COW })
    const { note, counter } = contract.methods as unknown as Methods
    const receipt = await note(7, '0x12').send({ from: COW })
    expect(receipt).toMatchObject({ status: 1n, type: 0n })
    expect(await counter().call()).toBe(1n)
    const events = (await contract.getPastEvents('Noted' as never, {
      fromBlock: 0,
    })) as unknown as NotedEvent[]
    expect(events.map(brief)).toEqual([7])
    const filter = { number: [7, 8] }
    expect(await contract.getPastEvents('Noted' as never, { fromBlock: 0, filter })).toHaveLength(1)
    expect(
      await contract.getPastEvents('Noted' as never, { fromBlock: 0, filter: { number: 8 } }),
    ).toHaveLength(0)
  })

  it('sends from accounts of the node, and has them sign typed data', async () => {
    chain = await notingChain()
    const web3 = connect(transport)
    const steps: string[] = []
    const sent = web3.eth.sendTransaction({
      from: COW,
      to: chain.address,
      data: noteData(5),
      gasPrice: '0x0',
    })
    for (const step of ['sending', 'transactionHash', 'receipt'] as const)
      sent.on(step, () => void steps.push(step))
    expect((await sent).status).toBe(1n)
    expect(steps).toEqual(['sending', 'transactionHash', 'receipt'])
    expect(await chain.noted()).toEqual([5])
    const typed = {
      domain: { name: 'Mail', chainId: 33 },
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'chainId', type: 'uint256' },
        ],
        Mail: [{ name: 'to', type: 'address' }],
      },
      primaryType: 'Mail',
      message: { to: BOB },
    }
    expect(await web3.eth.signTypedData(COW, typed as never)).toBe(
      await chain.call('eth_signTypedData_v4', COW, typed),
    )
  })
})

describe.each(['WebSocket', 'in process'] as const)('web3.js, %s', (transport) => {
  it('receives blocks and pending transactions, each once', async () => {
    chain = await notingChain()
    await chain.call('evm_setAutomine', false)
    const web3 = connect(transport)
    const blocks = eventRecorder<number>()
    const pending = eventRecorder<string>()
    ;(await web3.eth.subscribe('newBlockHeaders')).on('data', ({ number }) => blocks.record(Number(number)))
    ;(await web3.eth.subscribe('pendingTransactions')).on('data', pending.record)
    const sent = [await chain.note(1), await chain.note(2)]
    expect(await pending.count(2)).toEqual(sent)
    for (let i = 0; i < 3; i++) await chain.call('evm_mine')
    expect(await blocks.count(3)).toEqual([2, 3, 4])
    await web3.eth.clearSubscriptions()
    await chain.note(3)
    await chain.call('evm_mine')
    await web3.eth.getBlockNumber()
    expect(blocks.all).toHaveLength(3)
    expect(pending.all).toHaveLength(2)
  })

  it('receives each event once, past events too, and removed events of a reorganisation', async () => {
    chain = await notingChain()
    await chain.note(9)
    const web3 = connect(transport)
    const contract = new web3.eth.Contract(abi, chain.address)
    const notes = eventRecorder<number>()
    const events = contract.events as unknown as Record<
      string,
      (options: object) => { on(name: string, listener: (event: NotedEvent) => void): void }
    >
    events.Noted?.({ fromBlock: 0 }).on('data', (event) => notes.record(brief(event)))
    await chain.called('eth_subscribe')
    await notes.count(1)
    const first = await chain.note(1)
    await chain.note(2)
    await notes.count(3)
    await chain.replace(first, 3)
    await chain.note(4)
    // The note of the second block goes back to the pool and is mined again.
    expect(await notes.until((number) => number === 4)).toEqual([9, 1, 2, -1, -2, 3, 2, 4])
    const historical = (await contract.getPastEvents('Noted' as never, {
      fromBlock: 0,
    })) as unknown as NotedEvent[]
    expect(historical.map(brief)).toEqual([9, 3, 2, 4])
  })
})
