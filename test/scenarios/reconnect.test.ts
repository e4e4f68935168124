/** The node is killed under its clients and comes back at the same place: what each of them does to hear on. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Contract, JsonRpcProvider, WebSocketProvider } from 'ethers'
import { createPublicClient, http, parseAbi, webSocket } from 'viem'
import { afterEach, expect, it } from 'vitest'
import { Web3, WebSocketProvider as Web3Socket } from 'web3'
import { type RunningCommand, startCommand } from '../support/command.ts'
import { artifact } from '../support/contracts.ts'
import { type Heard, heard } from '../support/heard.ts'
import { rpc } from '../support/json-rpc.ts'
import { notingBanCheck } from '../support/noting-chain.ts'
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
async function patientDoor(port: number) {
  let opening = Promise.resolve()
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    return socket
  }
  const door = createServer(async (caller) => {
    keep(caller)
    await opening
    const node = keep(connect(port, '127.0.0.1'))
    node.on('close', () => caller.destroy())
    caller.on('close', () => node.destroy())
    caller.pipe(node).pipe(caller)
  })
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    door.close()
  })
  return {
    url: `ws://127.0.0.1:${(door.address() as { port: number }).port}`,
    shut() {
      let open = () => {}
      opening = new Promise((resolve) => {
        open = resolve
      })
      return open
    },
  }
}

/** Begins to listen to notes; gives what its user does to hear on when the node is back. */
type Client = (address: `0x${string}`, hear: (note: number) => void) => Promise<() => unknown>

/** Where they find the node: at its port, and at the door that lets them wait. */
interface Places {
  readonly url: string
  readonly wsUrl: string
  readonly patientUrl: string
}

function ethersPolling({ url }: Places): Client {
  return async (address, hear) => {
    const provider = new JsonRpcProvider(url, 33, {
      staticNetwork: true,
      cacheTimeout: -1,
      pollingInterval: 20,
    })
    closers.push(() => provider.destroy())
    const contract = new Contract(address, probe.abi, provider)
    const listen = () => contract.on('Noted', (number: bigint) => hear(Number(number)))
    await listen()
    return async () => {
      // Its filter is gone with the node, and it would ask for it for ever.
      await contract.removeAllListeners()
      await listen()
    }
  }
}

function ethersSocket({ wsUrl }: Places): Client {
  return async (address, hear) => {
    const listen = async () => {
      const provider = new WebSocketProvider(wsUrl, 33, { staticNetwork: true, cacheTimeout: -1 })
      closers.push(() => provider.destroy())
      await provider.getNetwork()
      const contract = new Contract(address, probe.abi, provider)
      await contract.on('Noted', (number: bigint) => hear(Number(number)))
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
  return async (address, hear) => {
    const client = createPublicClient({ transport, pollingInterval: 20, cacheTime: 0 })
    const stop = client.watchContractEvent({
      address,
      abi,
      eventName: 'Noted',
      onLogs: (logs) => logs.map(({ args }) => Number(args.number)).forEach(hear),
      onError() {},
    })
    closers.push(async () => {
      if ('getRpcClient' in client.transport) (await client.transport.getRpcClient()).close()
      stop()
    })
    return () => {}
  }
}

function web3({ patientUrl }: Places): Client {
  return async (address, hear) => {
    const provider = new Web3Socket(patientUrl, {}, { delay: 20, autoReconnect: true, maxAttempts: 5 })
    closers.push(() => provider.disconnect())
    provider.on('error', () => {})
    const contract = new new Web3(provider).eth.Contract(probe.abi as never[], address)
    const events = contract.events as unknown as { Noted(): NotedEvents }
    const noted = events.Noted()
    noted.on('data', ({ returnValues }) => hear(Number(returnValues.number)))
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

it('clients hear on after the node was killed and came back, and nothing twice', async () => {
  const dir = temporaryFolder()
  let node: RunningCommand = await startCommand(['--data-dir', dir])
  closers.push(() => node.end('SIGKILL'))
  const port = new URL(node.url).port
  const { url, wsUrl } = node
  const call = (method: string, ...params: unknown[]) => rpc(url, method, params)
  const banCheck = await notingBanCheck(call)
  const door = await patientDoor(Number(port))
  const places = { url, wsUrl, patientUrl: door.url }

  const clients: Record<string, Client> = {
    'ethers, polling': ethersPolling(places),
    'ethers, WebSocket': ethersSocket(places),
    'viem, http': viem(http(url)),
    'viem, webSocket': viem(webSocket(door.url, { reconnect: { delay: 20 }, keepAlive: false })),
    'web3.js, WebSocket': web3(places),
  }
  const names = Object.keys(clients)
  const notes = names.map(() => heard<number>())
  const resume = await Promise.all(
    names.map((name, index) =>
      (clients[name] as Client)(banCheck.address, (notes[index] as Heard<number>).hear),
    ),
  )
  const everyone = (number: number) => notes.every(({ all }) => all.includes(number))

  /** Notes the number until everyone has heard it: nobody says when he begins to hear, and some look at a new block only. */
  async function noteUntilHeard(number: number) {
    while (!everyone(number)) await banCheck.note(number)
  }
  async function noteOnce(number: number) {
    await banCheck.note(number)
    while (!everyone(number)) await call('evm_mine')
  }

  await noteUntilHeard(101)
  await noteOnce(1)
  const open = door.shut()
  await node.end('SIGKILL')
  node = await startCommand(['--data-dir', dir, '--port', port])
  open()
  await Promise.all(resume.map((again) => again()))
  await noteUntilHeard(102)
  await noteOnce(2)
  await noteOnce(3)
  notes.forEach(({ all }, index) => {
    expect(
      all.filter((number) => number < 100),
      names[index],
    ).toEqual([1, 2, 3])
  })
  expect((await banCheck.noted()).filter((number) => number < 100)).toEqual([1, 2, 3])
})
