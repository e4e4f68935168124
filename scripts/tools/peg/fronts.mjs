/** The ports at which one node answers for the programs that the integration tests start. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { rpcHandler, serve } from '../../../dist/index.js'

const HOST = '127.0.0.1'

/** Calls back with the arguments of a stand-in: their number and they themselves, one a line. */
function readArguments(socket, found) {
  const lines = []
  createInterface({ input: socket }).on('line', (line) => {
    lines.push(line)
    if (lines.length === Number(lines[0]) + 1) found(lines.slice(1))
  })
}

/** What a program was started with: `-name=value` of bitcoind, `-Dname=value` of Java. */
function settingsOf(args) {
  const entries = args.flatMap((arg) => {
    const [, name, value] = /^-D?([^=]+)=(.*)$/s.exec(arg) ?? []
    return name === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(entries)
}

async function listening(server, port) {
  // The tests compile contracts for seconds between two requests on a connection, which RSKj does not close.
  server.keepAliveTimeout = 0
  server.listen(Number(port), HOST)
  await once(server, 'listening')
  return {
    async close() {
      server.closeAllConnections?.()
      server.close()
    },
  }
}

/** A port of a network protocol, of which the tests only ask whether it is open. */
function openPeerPort(port) {
  return listening(
    createServer((socket) => socket.on('error', () => {}).end()),
    port,
  )
}

/**
 * Puts the member of the front into a call of `fed_updateBridge`, which has no parameters in the tests. A call is answered
 * when `settled` resolves, so that the tests, which wait between their steps, need not.
 */
function frontOf({ dispatcher, options }, member, settled) {
  const withMember = (text) => text.replace(/("method":"fed_updateBridge","params":)\[\]/, `$1["${member}"]`)
  return {
    options,
    dispatcher: {
      async dispatchText(text, session) {
        const answer = await dispatcher.dispatchText(withMember(text), session)
        await settled()
        return answer
      },
    },
  }
}

/** The fronts of a node. */
export class Fronts {
  #node
  #credentials
  #control
  /** Resolves when the ports of the members are open. */
  #opened
  #open = new Set()
  /** By port for JSON-RPC. */
  #reserved = new Map()
  /** What members do after the last block. */
  #working = Promise.resolve()

  constructor(credentials) {
    this.#credentials = credentials
  }

  /** Opens a port at which stand-ins say what they are; they are answered once the node is there. */
  async listen() {
    this.#control = createServer((socket) => {
      socket.on('error', () => {})
      readArguments(socket, (args) => void this.#start(args, socket))
    })
    this.#control.listen(0, HOST)
    await once(this.#control, 'listening')
    return this.#control.address().port
  }

  /** Opens the ports of all members, which are among those that the system gives to outgoing connections. */
  open(node, configurations) {
    const openAll = async () => {
      this.#node = await node
      this.#node.engine.events.on('chain', () => {
        this.#working = this.#working.then(() => this.#work())
      })
      for (const one of configurations) await this.#reserve(one)
    }
    this.#opened = openAll()
    return this.#opened
  }

  async close() {
    this.#control?.close()
    await Promise.all([...this.#open].map((stop) => stop()))
    await Promise.all([...this.#reserved.values()].map(({ close }) => close()))
  }

  async #start(args, socket) {
    try {
      await this.#opened
      const settings = settingsOf(args)
      const stop = settings.rpcuser === undefined ? this.#member(settings) : await this.#bitcoind(settings)
      const stopOnce = async () => {
        if (this.#open.delete(stopOnce)) await stop()
      }
      this.#open.add(stopOnce)
      socket.once('close', stopOnce)
      if (socket.destroyed) await stopOnce()
    } catch (error) {
      console.error(error)
      socket.destroy()
    }
  }

  async #bitcoind({ port, rpcport }) {
    const { user, password } = this.#credentials
    const server = await serve(this.#node, {
      port: 0,
      bitcoinRpcPort: Number(rpcport),
      bitcoinRpcUser: user,
      bitcoinRpcPassword: password,
    })
    const peer = await openPeerPort(port)
    return () => Promise.all([server.close(), peer.close()])
  }

  /** Opens the ports of a member, whose node does not run yet. */
  async #reserve({ port, rpcPort, customConfig }) {
    const { members } = this.#node.bitcoin.federation
    const path = customConfig['federator.signers.BTC.path']
    const key = members.add(Buffer.from(readFileSync(path, 'utf8').trim(), 'hex'))
    members.setConduct(key, 'stopped')
    const front = frontOf(this.#node, members.keyOf(key).address, () => this.#working)
    const rpc = await listening(createHttpServer(rpcHandler(front)), rpcPort)
    const peer = await openPeerPort(port)
    this.#reserved.set(Number(rpcPort), { key, close: () => Promise.all([rpc.close(), peer.close()]) })
  }

  #member(settings) {
    const { members } = this.#node.bitcoin.federation
    const { key, close } = this.#reserved.get(Number(settings['rpc.providers.web.http.port']))
    members.setConduct(key, 'working')
    return () => {
      members.setConduct(key, 'stopped')
      return close()
    }
  }

  /** What members do after each block without being asked: they broadcast what is signed and sign what is due. */
  async #work() {
    const { federation } = this.#node.bitcoin
    try {
      await federation.broadcast()
      for (const transaction of await federation.signatures()) {
        await this.#node.engine.commands.submit(transaction)
      }
    } catch (error) {
      console.error(error)
    }
  }
}
