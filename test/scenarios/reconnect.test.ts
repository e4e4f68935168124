/** The node is killed while clients are connected and restarts at the same address: what each client does to receive events again. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Contract, JsonRpcProvider, WebSocketProvider } from 'ethers'
import { createPublicClient, http, parseAbi, webSocket } from 'viem'
import { afterEach, expect, it } from 'vitest'
import { Web3, WebSocketProvider as Web3Socket } from 'web3'
import { type RunningCommand, startCommand } from '../support/command.ts'
import { artifact } from '../support/contracts.ts'
import { type EventRecorder, eventRecorder } from '../support/event-recorder.ts'
import { rpc } from '../support/json-rpc.ts'
import { type Call, deployNotes } from '../support/noting-chain.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const abi = parseAbi(['event Noted(uint256 indexed number, address indexed who, bytes data)'])
const probe = artifact('Probe')

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/**
 * A port that leads to the node's and lets callers wait while the node is away, as the front of a cluster does it: viem
 * tries a refused connection once only.
 */
async function delayingProxy(port: number) {
  let opening = Promise.resolve()
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    return socket
  }
  const proxy = createServer(async (caller) => {
    keep(caller)
    await opening
    const node = keep(connect(port, '127.0.0.1'))
    node.on('close', () => caller.destroy())
    caller.on('close', () => node.destroy())
    caller.pipe(node).pipe(caller)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  return {
    url: `ws://127.0.0.1:${(proxy.address() as { port: number }).port}`,
    shut() {
      let open = () => {}
      opening = new Promise((resolve) => {
        open = resolve
      })
      return open
    },
  }
}

/** Subscribes to notes; resolves to what its user does to receive notes again after the restart. */
type Client = (address: `0x${string}`, onNote: (note: number) => void) => Promise<() => unknown>

/** URLs of the node: its own, and that of the proxy that delays connections. */
interface Places {
  readonly url: string
  readonly wsUrl: string
  readonly delayedUrl: string
}

function ethersPolling({ url }: Places): Client {
  return async (address, onNote) => {
    const provider = new JsonRpcProvider(url, 33, {
      staticNetwork: true,
      cacheTimeout: -1,
      pollingInterval: 20,
    })
    closers.push(() => provider.destroy())
    const contract = new Contract(address, probe.abi, provider)
    const listen = () => contract.on('Noted', (number: bigint) => onNote(Number(number)))
    await listen()
    return async () => {
      // Its filter was lost with the node, and it would poll it forever.
      await contract.removeAllListeners()
      await listen()
    }
  }
}

function ethersSocket({ wsUrl }: Places): Client {
  return async (address, onNote) => {
    const listen = async () => {
      const provider = new WebSocketProvider(wsUrl, 33, { staticNetwork: true, cacheTimeout: -1 })
      closers.push(() => provider.destroy())
      await provider.getNetwork()
      const contract = new Contract(address, probe.abi, provider)
      await contract.on('Noted', (number: bigint) => onNote(Number(number)))
      return provider
    }
    const websocket = (await listen()).websocket as WebSocket
    const closed = new Promise((resolve) => websocket.addEventListener('close', resolve))
    websocket.addEventListener('error', () => {})
    return async () => {
      await closed
      await listen()
    }
  }
}

function viem(transport: ReturnType<typeof http> | ReturnType<typeof webSocket>): Client {
  return async (address, onNote) => {
    const client = createPublicClient({ transport, pollingInterval: 20, cacheTime: 0 })
    const stop = client.watchContractEvent({
      address,
      abi,
      eventName: 'Noted',
      onLogs: (logs) => logs.map(({ args }) => Number(args.number)).forEach(onNote),
      onError() {},
    })
    closers.push(async () => {
      if ('getRpcClient' in client.transport) (await client.transport.getRpcClient()).close()
      stop()
    })
    return () => {}
  }
}

function web3({ delayedUrl }: Places): Client {
  return async (address, onNote) => {
    const provider = new Web3Socket(delayedUrl, {}, { delay: 20, autoReconnect: true, maxAttempts: 5 })
    closers.push(() => provider.disconnect())
    provider.on('error', () => {})
    const contract = new new Web3(provider).eth.Contract(probe.abi as never[], address)
    const events = contract.events as unknown as { Noted(): NotedEvents }
    const noted = events.Noted()
    noted.on('data', ({ returnValues }) => onNote(Number(returnValues.number)))
    await new Promise<void>((resolve) => noted.on('connected', () => resolve()))
    const connected = new Promise<void>((resolve) => provider.on('connect', () => resolve()))
    return async () => {
      await connected
      await noted.resubscribe()
    }
  }
}

/** The part of a web3.js subscription that is used here. */
interface NotedEvents {
  on(name: 'data', listener: (event: { returnValues: { number: bigint } }) => void): void
  on(name: 'connected', listener: () => void): void
  resubscribe(): Promise<void>
}

it('clients receive each event once after the node was killed and restarted', async () => {
  const dir = temporaryFolder()
  let node: RunningCommand = await startCommand(['--data-dir', dir])
  closers.push(() => node.end('SIGKILL'))
  const port = new URL(node.url).port
  const { url, wsUrl } = node
  const call: Call = (method, ...params) => rpc(url, method, params)
  const noteContract = await deployNotes(call)
  const proxy = await delayingProxy(Number(port))
  const places = { url, wsUrl, delayedUrl: proxy.url }

  const clients: Record<string, Client> = {
    'ethers, polling': ethersPolling(places),
    'ethers, WebSocket': ethersSocket(places),
    'viem, http': viem(http(url)),
    'viem, webSocket': viem(webSocket(proxy.url, { reconnect: { delay: 20 }, keepAlive: false })),
    'web3.js, WebSocket': web3(places),
  }
  const names = Object.keys(clients)
  const notes = names.map(() => eventRecorder<number>())
  const resume = await Promise.all(
    names.map((name, index) =>
      (clients[name] as Client)(noteContract.address, (notes[index] as EventRecorder<number>).record),
    ),
  )
  const everyone = (number: number) => notes.every(({ all }) => all.includes(number))

  /** Notes the number until every client has received it: clients do not report when they are subscribed, and some read new blocks only. */
  async function noteUntilReceived(number: number) {
    while (!everyone(number)) await noteContract.note(number)
  }
  async function noteOnce(number: number) {
    await noteContract.note(number)
    while (!everyone(number)) await call('evm_mine')
  }

  await noteUntilReceived(101)
  await noteOnce(1)
  const open = proxy.shut()
  await node.end('SIGKILL')
  node = await startCommand(['--data-dir', dir, '--port', port])
  open()
  await Promise.all(resume.map((again) => again()))
  await noteUntilReceived(102)
  await noteOnce(2)
  await noteOnce(3)
  notes.forEach(({ all }, index) => {
    expect(
      all.filter((number) => number < 100),
      names[index],
    ).toEqual([1, 2, 3])
  })
  expect((await noteContract.noted()).filter((number) => number < 100)).toEqual([1, 2, 3])
})
