/** A node under load that may be struck down and comes back: its lives, its books, and the highest block it has shown. */
import { setTimeout as pause } from 'node:timers/promises'
import { lostOf } from './audit.ts'
import {
  type BatchCaller,
  httpCaller,
  type PushedCaller,
  socketCaller,
  type Timed,
  Unreachable,
} from './client.ts'
import type { Entry, Ledger } from './ledger.ts'
import { launch, type Started } from './node-process.ts'
import { openStreams, type Streams } from './streams.ts'

/** A block for each transaction, or a few each second. */
export type Mining = 'auto' | 'interval'

/** Seconds between blocks. */
const INTERVAL = 0.25

/** One run of the process, from ready to its end. */
export interface Life {
  readonly mining: Mining
  readonly http: BatchCaller
  readonly socket: PushedCaller
  readonly streams: Streams
}

/** What a target is made of. */
export interface TargetParts {
  readonly name: string
  readonly dataDir: string
  /** Flags beside those of directory and mining. */
  readonly args: readonly string[]
  /** Flags of Node.js itself. */
  readonly runtime: readonly string[]
  readonly timed: Timed
  say(words: string): void
}

/** How a node was ended and came back. */
export interface Strike {
  /** Milliseconds from the new start to the first answer. */
  readonly backAfter: number
  /** How many starts were struck as well, before one could answer. */
  readonly whileStarting: number
}

/** The node ended by itself; there will be no other life. */
export class Fallen extends Error {
  override readonly name = 'Fallen'
}

/** One node: started, struck and started again on the same directory. */
export class Target {
  readonly name: string
  readonly #parts: TargetParts
  #process: Started | undefined
  #life: Life | undefined
  #waiting: { wake: (life: Life) => void; lose: (error: Fallen) => void }[] = []
  #struck = false
  #fallen: Fallen | undefined
  #token = ''
  #ledger: Ledger | undefined
  #highest = { number: 0, hash: '' }
  /** How many entries were in the books when all were last found to be kept. */
  #checked = 0

  constructor(parts: TargetParts) {
    this.#parts = parts
    this.name = parts.name
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Where the inspector of the present process listens. */
  get inspector(): string | undefined {
    return this.#process?.inspector()
  }

  get token(): string {
    return this.#token
  }

  get ledger(): Ledger {
    if (this.#ledger === undefined) throw new Error(`${this.name} has no books yet`)
    return this.#ledger
  }

  /** A sentence about what should not be. */
  say(words: string): void {
    this.#parts.say(`${this.name}: ${words}`)
  }

  /** Height of the highest block that anybody has been shown. */
  get floor(): number {
    return this.#highest.number
  }

  /** A block was shown; what is asked from now on may not be below it. */
  seen(number: number, hash: string): void {
    if (number > this.#highest.number) this.#highest = { number, hash }
    else if (number === this.#highest.number && hash !== this.#highest.hash) {
      this.say(`the block ${number} was ${this.#highest.hash} and is ${hash}`)
    }
  }

  /** Starts the process and waits until it answers. `prepare` makes token and books, before anything is streamed. */
  async start(
    mining: Mining,
    prepare?: (http: BatchCaller) => Promise<{ token: string; ledger: Ledger }>,
  ): Promise<void> {
    const { url, ws } = await this.#launch(mining).ready
    const http = httpCaller(url, this.#parts.timed)
    if (prepare !== undefined) {
      const { token, ledger } = await prepare(http)
      this.#token = token
      this.#ledger = ledger
    }
    await this.#verify(http)
    const socket = await socketCaller(ws, this.#parts.timed)
    const streams = await openStreams({
      http,
      socket,
      token: this.#token,
      seen: (number, hash) => this.seen(number, hash),
      say: (words) => this.say(words),
    })
    this.#life = { mining, http, socket, streams }
    for (const { wake } of this.#waiting.splice(0)) wake(this.#life)
  }

  #launch(mining: Mining): Started {
    const { dataDir, args, runtime } = this.#parts
    const mode = mining === 'auto' ? mining : String(INTERVAL)
    const process = launch(['--data-dir', dataDir, '--mining', mode, ...args], runtime)
    this.#process = process
    this.#struck = false
    void process.ended.then((how) => {
      if (this.#struck) return
      this.#fallen = new Fallen(`ended by itself with ${how}: ${process.complaints().trim()}`)
      this.#life = undefined
      this.say(this.#fallen.message)
      for (const { lose } of this.#waiting.splice(0)) lose(this.#fallen)
    })
    return process
  }

  /** The present life; waits for the next one while the node is down. Throws `Fallen`. */
  life(): Promise<Life> {
    if (this.#life !== undefined) return Promise.resolve(this.#life)
    if (this.#fallen !== undefined) return Promise.reject(this.#fallen)
    return new Promise((wake, lose) => this.#waiting.push({ wake, lose }))
  }

  /** What a load makes of a failed call: a lost connection is no wonder when the node was struck. */
  async excuse(error: unknown, life: Life): Promise<void> {
    if (error instanceof Unreachable && this.#life !== life) return
    this.say(error instanceof Error ? error.message : String(error))
    await pause(50)
  }

  /** Ends the process at once, or in order, where it has to say goodbye with 0. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const process = this.#process as Started
    const life = this.#life
    this.#life = undefined
    this.#struck = true
    process.signal(signal)
    const how = await process.ended
    life?.socket.close()
    if (signal === 'SIGTERM' && how !== 0) this.say(`after SIGTERM it ended with ${how}`)
    const complaints = process.complaints().trim()
    if (complaints !== '') this.say(`complained: ${complaints}`)
  }

  /** Ends it and starts it again; each of `early` is a start between, ended after so many milliseconds. */
  async strike(signal: 'SIGKILL' | 'SIGTERM', early: readonly number[], mining: Mining): Promise<Strike> {
    await this.end(signal)
    for (const milliseconds of early) {
      this.#launch(mining)
      await pause(milliseconds)
      await this.end('SIGKILL')
    }
    const began = performance.now()
    await this.start(mining)
    return { backAfter: performance.now() - began, whileStarting: early.length }
  }

  /** Is the head still there, and everything that was acknowledged since the last look? */
  async #verify(http: BatchCaller): Promise<void> {
    const { number, hash } = this.#highest
    const head = Number(await http.call<string>('eth_blockNumber'))
    if (head < number) this.say(`the head went back from ${number} to ${head}`)
    else if (hash !== '') {
      const params = [`0x${number.toString(16)}`, false]
      const block = await http.call<{ hash: string }>('eth_getBlockByNumber', params)
      if (block.hash !== hash) this.say(`the block ${number} was ${hash} and is ${block.hash}`)
    }
    const entries: readonly Entry[] = this.#ledger?.acknowledged ?? []
    const fresh = entries.slice(this.#checked)
    for (const lost of await lostOf(http, fresh)) this.say(`lost: ${lost} was acknowledged before the end`)
    this.#checked = entries.length
  }
}
