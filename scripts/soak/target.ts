/** A node under load that is killed and started again: its runs, its ledger, and the highest block it has answered with. */
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
export interface Run {
  readonly mining: Mining
  readonly http: BatchCaller
  readonly socket: PushedCaller
  readonly streams: Streams
}

/** The parameters of a target. */
export interface TargetParts {
  readonly name: string
  readonly dataDir: string
  /** Flags other than those of directory and mining. */
  readonly args: readonly string[]
  /** Flags of Node.js itself. */
  readonly runtime: readonly string[]
  readonly timed: Timed
  report(words: string): void
}

/** How a node was ended and came back. */
export interface Restart {
  /** Milliseconds from the new start to the first answer. */
  readonly backAfter: number
  /** Number of starts that were killed as well before they could answer. */
  readonly whileStarting: number
}

/** The process ended by itself; it is not started again. */
export class UnexpectedExit extends Error {
  override readonly name = 'UnexpectedExit'
}

/** One node: started, killed and started again on the same directory. */
export class Target {
  readonly name: string
  readonly #parts: TargetParts
  #process: Started | undefined
  #run: Run | undefined
  #waiting: { resolve: (run: Run) => void; reject: (error: UnexpectedExit) => void }[] = []
  #ending = false
  #exited: UnexpectedExit | undefined
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

  /** Reports a fault as a sentence. */
  report(words: string): void {
    this.#parts.report(`${this.name}: ${words}`)
  }

  /** Height of the highest block that anybody has been shown. */
  get floor(): number {
    return this.#highest.number
  }

  /** Records a reported block; later answers may not be below it. */
  seen(number: number, hash: string): void {
    if (number > this.#highest.number) this.#highest = { number, hash }
    else if (number === this.#highest.number && hash !== this.#highest.hash) {
      this.report(`the block ${number} was ${this.#highest.hash} and is ${hash}`)
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
      report: (words) => this.report(words),
    })
    this.#run = { mining, http, socket, streams }
    for (const { resolve } of this.#waiting.splice(0)) resolve(this.#run)
  }

  #launch(mining: Mining): Started {
    const { dataDir, args, runtime } = this.#parts
    const mode = mining === 'auto' ? mining : String(INTERVAL)
    const process = launch(['--data-dir', dataDir, '--mining', mode, ...args], runtime)
    this.#process = process
    this.#ending = false
    void process.ended.then((how) => {
      if (this.#ending) return
      this.#exited = new UnexpectedExit(`ended by itself with ${how}: ${process.errorOutput().trim()}`)
      this.#run = undefined
      this.report(this.#exited.message)
      for (const { reject } of this.#waiting.splice(0)) reject(this.#exited)
    })
    return process
  }

  /** The current run; waits for the next one while the node is down. Throws `UnexpectedExit`. */
  run(): Promise<Run> {
    if (this.#run !== undefined) return Promise.resolve(this.#run)
    if (this.#exited !== undefined) return Promise.reject(this.#exited)
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  /** Reports a failed call, unless the connection was lost because the node was killed. */
  async callFailed(error: unknown, run: Run): Promise<void> {
    if (error instanceof Unreachable && this.#run !== run) return
    this.report(error instanceof Error ? error.message : String(error))
    await pause(50)
  }

  /** Ends the process at once, or in order, where it has to exit with 0. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const process = this.#process as Started
    const run = this.#run
    this.#run = undefined
    this.#ending = true
    process.signal(signal)
    const how = await process.ended
    run?.socket.close()
    if (signal === 'SIGTERM' && how !== 0) this.report(`after SIGTERM it ended with ${how}`)
    const errorOutput = process.errorOutput().trim()
    if (errorOutput !== '') this.report(`wrote to stderr: ${errorOutput}`)
  }

  /** Ends it and starts it again; each of `early` is a start between, ended after so many milliseconds. */
  async restart(signal: 'SIGKILL' | 'SIGTERM', early: readonly number[], mining: Mining): Promise<Restart> {
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
    if (head < number) this.report(`the head went back from ${number} to ${head}`)
    else if (hash !== '') {
      const params = [`0x${number.toString(16)}`, false]
      const block = await http.call<{ hash: string }>('eth_getBlockByNumber', params)
      if (block.hash !== hash) this.report(`the block ${number} was ${hash} and is ${block.hash}`)
    }
    const entries: readonly Entry[] = this.#ledger?.acknowledged ?? []
    const fresh = entries.slice(this.#checked)
    for (const lost of await lostOf(http, fresh)) this.report(`lost: ${lost} was acknowledged before the end`)
    this.#checked = entries.length
  }
}
