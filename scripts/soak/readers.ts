/** The readers: random kinds of calls, each answer compared with the ledger. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from './random.ts'
import type { Run, Target } from './target.ts'
import { balanceOfCall, TRANSFER_TOPIC, transferData } from './token.ts'

interface Block {
  readonly number: string
  readonly hash: string
}

interface Receipt {
  readonly blockNumber: string
  readonly blockHash: string
  readonly status: string
}

type Question = (target: Target, run: Run, random: Random) => Promise<void>

const hex = (number: number): string => `0x${number.toString(16)}`

/** One of the latest or, now and then, of all acknowledged transactions. */
function someEntry({ ledger }: Target, random: Random) {
  const { acknowledged } = ledger
  const reach = random.chance(0.5) ? Math.min(20, acknowledged.length) : acknowledged.length
  return acknowledged[acknowledged.length - random.whole(1, reach)]
}

const someAccount = (target: Target, random: Random): string => random.pick(target.ledger.accounts)

const height: Question = async (target, run, random) => {
  const floor = target.floor
  const way = random.chance(0.5) ? run.http : run.socket
  const number = Number(await way.call<string>('eth_blockNumber'))
  if (number < floor) target.report(`the head went back from ${floor} to ${number}`)
}

const headBlock: Question = async (target, run, random) => {
  const floor = target.floor
  const block = await run.http.call<Block>('eth_getBlockByNumber', ['latest', random.chance(0.5)])
  if (Number(block.number) < floor)
    target.report(`the head went back from ${floor} to ${Number(block.number)}`)
  target.seen(Number(block.number), block.hash)
}

const receipt: Question = async (target, run, random) => {
  const entry = someEntry(target, random)
  if (entry === undefined) return
  const found = await run.http.call<Receipt | null>('eth_getTransactionReceipt', [entry.hash])
  if (found !== null) {
    target.ledger.mined(entry.hash)
    target.seen(Number(found.blockNumber), found.blockHash)
    if (found.status !== '0x1') target.report(`${entry.hash} failed`)
  } else if ((await run.http.call('eth_getTransactionByHash', [entry.hash])) === null) {
    target.report(`lost: ${entry.hash} was acknowledged and is unknown`)
  }
}

const tokens: Question = async (target, run, random) => {
  const way = random.chance(0.5) ? run.http : run.socket
  await way.call('eth_call', [balanceOfCall(target.token, someAccount(target, random)), 'latest'])
}

const estimate: Question = async (target, run, random) => {
  const data = transferData(someAccount(target, random), 1n)
  await run.http.call('eth_estimateGas', [{ from: target.ledger.holder, to: target.token, data }])
}

const balance: Question = async (target, run, random) => {
  const block = random.chance(0.3) ? hex(random.whole(0, target.floor)) : 'latest'
  await run.socket.call('eth_getBalance', [someAccount(target, random), block])
}

const proof: Question = async (target, run, random) => {
  await run.http.call('eth_getProof', [target.token, [hex(random.whole(0, 9))], 'latest'])
}

const logs: Question = async (target, run, random) => {
  const from = random.whole(0, target.floor)
  const range = { fromBlock: hex(from), toBlock: hex(from + random.whole(0, 200)) }
  const found = await run.http.call<{ blockNumber: string }[]>('eth_getLogs', [
    { ...range, address: target.token, topics: [TRANSFER_TOPIC] },
  ])
  const outside = found.find(({ blockNumber }) => Number(blockNumber) < from)
  if (outside !== undefined) target.report(`a log of ${outside.blockNumber} for blocks from ${from}`)
}

const trace: Question = async (target, run, random) => {
  const { minedHashes } = target.ledger
  if (minedHashes.length === 0) return
  const hash = random.pick(minedHashes.slice(-200))
  if (random.chance(0.5)) {
    const frame = await run.http.call<{ type?: string }>('debug_traceTransaction', [
      hash,
      { tracer: 'callTracer' },
    ])
    if (frame.type !== 'CALL' && frame.type !== 'CREATE')
      target.report(`the call frame of ${hash} is ${frame.type}`)
    return
  }
  const traces = await run.http.call<unknown[]>('trace_transaction', [hash])
  if (traces.length === 0) target.report(`${hash} has no traces`)
}

const steps: Question = async (target, run, random) => {
  const { minedHashes } = target.ledger
  if (minedHashes.length === 0) return
  await run.http.call('debug_traceTransaction', [random.pick(minedHashes.slice(-50))], 'struct log')
}

/** A question, and how often it is asked in comparison. */
const QUESTIONS: readonly (readonly [Question, number])[] = [
  [height, 4],
  [headBlock, 4],
  [receipt, 6],
  [tokens, 6],
  [estimate, 2],
  [balance, 4],
  [proof, 1],
  [logs, 3],
  [trace, 2],
  [steps, 1],
]
const DRAWS = QUESTIONS.flatMap(([question, weight]) => Array<Question>(weight).fill(question))

/** Asks as long as `running`. */
export async function readOn(target: Target, random: Random, running: () => boolean): Promise<void> {
  while (running()) {
    const run = await target.run()
    try {
      await random.pick(DRAWS)(target, run, random)
    } catch (error) {
      await target.callFailed(error, run)
    }
    await pause(random.whole(2, 40))
  }
}

/** Reads the streams as long as `running`. */
export async function watchOn(target: Target, random: Random, running: () => boolean): Promise<void> {
  while (running()) {
    const run = await target.run()
    try {
      await run.streams.poll()
    } catch (error) {
      await target.callFailed(error, run)
    }
    await pause(random.whole(50, 300))
  }
}
