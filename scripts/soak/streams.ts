/** What a node pushes and what its filters collect, checked for completeness: no gap, no duplicate, no false entry. */
import type { Caller, PushedCaller } from './client.ts'
import { TRANSFER_TOPIC } from './token.ts'

/** The subscriptions and filters of one run of a node. */
export interface Streams {
  /** Processes received notifications, and polls the filters. */
  poll(): Promise<void>
  /** Called when the chain no longer changes: has every entry of the chain arrived? */
  settle(): Promise<void>
}

/** The connections to a node, and where to report faults. */
export interface StreamParts {
  readonly http: Caller
  readonly socket: PushedCaller
  readonly token: string
  /** A header was announced. */
  seen(number: number, hash: string): void
  report(words: string): void
}

interface Header {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
}

interface Log {
  readonly blockHash: string
  readonly blockNumber: string
  readonly logIndex: string
  readonly removed: boolean
}

/** Blocks whose logs are asked for at once. */
const LOG_BLOCKS = 1000

/** How often, and how many milliseconds apart, one looks for what is still on its way at the end. */
const LAST_TURNS = 100
const TURN_MS = 50

const hex = (number: number): string => `0x${number.toString(16)}`

/** Logs that came by one way; each may come once. */
function collector(way: string, report: (words: string) => void) {
  const keys = new Set<string>()
  return {
    keys,
    add(logs: readonly Log[]): void {
      for (const { blockHash, logIndex, removed } of logs) {
        const key = `${blockHash}/${logIndex}`
        if (removed) report(`${way}: the log ${key} is removed on a chain that only grew`)
        if (keys.has(key)) report(`${way}: the log ${key} came twice`)
        keys.add(key)
      }
    },
  }
}

/** Subscribes and installs filters. Blocks mined meanwhile may or may not be notified. */
export async function openStreams({ http, socket, token, seen, report }: StreamParts): Promise<Streams> {
  const wanted = { address: token, topics: [TRANSFER_TOPIC] }
  const height = async () => Number(await http.call<string>('eth_blockNumber'))
  const before = await height()
  const headers = await socket.call<string>('eth_subscribe', ['newHeads'])
  const events = await socket.call<string>('eth_subscribe', ['logs', wanted])
  const logFilter = await http.call<string>('eth_newFilter', [wanted])
  const blockFilter = await http.call<string>('eth_newBlockFilter')
  const after = await height()

  const pushed = collector('subscription', report)
  const polled = collector('filter', report)
  const announced = new Map<string, number>()
  let last: { number: number; hash: string } | undefined

  function takeHeaders(): void {
    for (const { number: text, hash, parentHash } of socket.take<Header>(headers)) {
      const number = Number(text)
      if (last === undefined) {
        if (number <= before || number > after + 1)
          report(`the first header is ${number}, of a head at ${after}`)
      } else if (number !== last.number + 1 || parentHash !== last.hash) {
        report(`after the header ${last.number} came ${number}, of another parent`)
      }
      last = { number, hash }
      announced.set(hash, number)
      seen(number, hash)
    }
  }

  const collected = new Set<string>()

  async function poll(): Promise<void> {
    takeHeaders()
    pushed.add(socket.take<Log>(events))
    polled.add(await http.call<Log[]>('eth_getFilterChanges', [logFilter], 'filter'))
    for (const hash of await http.call<string[]>('eth_getFilterChanges', [blockFilter], 'filter')) {
      if (collected.has(hash)) report(`the block filter gave ${hash} twice`)
      collected.add(hash)
    }
  }

  return {
    poll,
    async settle() {
      const head = await height()
      // A notification may arrive after the answer to a later request.
      for (let turn = 0; turn < LAST_TURNS && last?.number !== head; turn++) {
        await poll()
        await new Promise((resolve) => setTimeout(resolve, TURN_MS))
      }
      await poll()
      if (last !== undefined && last.number !== head)
        report(`the last header is ${last.number}, the head ${head}`)
      for (const [hash, number] of announced) {
        if (number > after && !collected.has(hash)) report(`the block filter left out ${number}`)
      }
      for (let from = after + 1; from <= head; from += LOG_BLOCKS) {
        const range = { fromBlock: hex(from), toBlock: hex(Math.min(head, from + LOG_BLOCKS - 1)) }
        for (const { blockHash, logIndex } of await http.call<Log[]>('eth_getLogs', [
          { ...wanted, ...range },
        ])) {
          const key = `${blockHash}/${logIndex}`
          if (!pushed.keys.has(key)) report(`the subscription left out the log ${key}`)
          if (!polled.keys.has(key)) report(`the filter left out the log ${key}`)
        }
      }
    },
  }
}
