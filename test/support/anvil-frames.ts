/** Call frames of the trace cases as Anvil's `callTracer` returns them, and the form in which two nodes are compared. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Hex } from '../../src/encoding/hex.ts'
import { play, type Stage, type TraceCase } from './trace-cases.ts'

export const MNEMONIC = 'test test test test test test test test test test test junk'
/** The first account of that mnemonic. */
const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
/** Anvil with the rules of this chain that it supports. */
const ARGUMENTS = [
  '--port',
  '0',
  '--chain-id',
  '33',
  '--hardfork',
  'shanghai',
  '--block-base-fee-per-gas',
  '0',
]

/** One JSON-RPC call; throws on an error response. */
export type Call = (method: string, params: readonly unknown[]) => Promise<unknown>

/** A frame of `callTracer`. */
export interface RpcFrame {
  readonly type: string
  readonly from: Hex
  readonly to?: Hex
  readonly value?: Hex
  readonly input: Hex
  readonly output?: Hex
  readonly error?: string
  readonly calls?: readonly RpcFrame[]
}

/** A frame as both nodes must have it: without gas and error texts, addresses numbered in order of appearance. */
export interface FrameShape {
  readonly type: string
  readonly from: string
  readonly to: string | undefined
  readonly value: bigint
  readonly input: Hex
  readonly output: Hex
  readonly failed: boolean
  readonly calls: readonly FrameShape[]
}

export function shapeOf(root: RpcFrame): FrameShape {
  const seen = new Map<string, string>()
  const nameOf = (address: Hex): string => {
    const known = seen.get(address) ?? `account ${seen.size}`
    seen.set(address, known)
    return known
  }
  function shape(frame: RpcFrame): FrameShape {
    const { type, error } = frame
    const creates = type.startsWith('CREATE')
    const from = nameOf(frame.from)
    const calls = (frame.calls ?? []).map(shape)
    return {
      type,
      from,
      to: frame.to === undefined || (creates && error !== undefined) ? undefined : nameOf(frame.to),
      // The value of a delegatecall is that of the calling frame; not every tool repeats it.
      value: type === 'DELEGATECALL' || type === 'STATICCALL' ? 0n : BigInt(frame.value ?? '0x0'),
      input: frame.input,
      output: error !== undefined && error !== 'execution reverted' ? '0x' : (frame.output ?? '0x'),
      failed: error !== undefined,
      calls,
    }
  }
  return shape(root)
}

interface RpcVmTrace {
  readonly ops: readonly {
    readonly pc: number
    readonly op: string
    readonly ex: { readonly push: readonly string[] } | null
    readonly sub: RpcVmTrace | null
  }[]
}
type Change = '=' | Readonly<Record<string, unknown>>
interface RpcReplay {
  readonly vmTrace: RpcVmTrace
  readonly stateDiff: Readonly<
    Record<string, Readonly<Record<'balance' | 'code' | 'nonce', Change>> & { readonly storage: unknown }>
  >
}
interface RpcEntry {
  readonly type: string
  readonly depth: number
  readonly value: Hex | null
  readonly input: Hex
  readonly output: Hex
}
interface RpcOperation {
  readonly type: number
  readonly value: Hex
}

/** Other results of a node for the transaction of a case. */
export interface Replies {
  /** Of the first transaction of its block: Anvil replays whole blocks only. */
  readonly replay: RpcReplay
  readonly operations: readonly RpcOperation[]
  readonly entries: readonly RpcEntry[]
}

/** Plays a case on a node and asks for replays of its transaction, and for what explorers show of it. */
export async function repliesBy(call: Call, situation: TraceCase): Promise<Replies> {
  const { hash } = await playOn(call, situation)
  const { blockNumber } = (await call('eth_getTransactionReceipt', [hash])) as { readonly blockNumber: Hex }
  const [replay] = (await call('trace_replayBlockTransactions', [
    blockNumber,
    ['stateDiff', 'vmTrace'],
  ])) as RpcReplay[]
  if (replay === undefined) throw new Error('nothing was replayed')
  return {
    replay,
    operations: (await call('ots_getInternalOperations', [hash])) as RpcOperation[],
    entries: (await call('ots_traceTransaction', [hash])) as RpcEntry[],
  }
}

const COINBASE = '0x0000000000000000000000000000000000000000'
/** Words that are addresses, which the two chains derive differently. */
const isAddress = (word: string) => /^0x[0-9a-f]{36,40}$/.test(word)

function vmShape({ ops }: RpcVmTrace): unknown {
  return ops.map(({ pc, op, ex, sub }) => [
    pc,
    op,
    /^C(ALL|REATE)|CALL$/.test(op)
      ? []
      : (ex?.push.map((word) => (isAddress(word) ? 'address' : word)) ?? []),
    sub === null ? null : vmShape(sub),
  ])
}

function kindOf(change: Change): string {
  return typeof change === 'string' ? change : (Object.keys(change)[0] as string)
}

/**
 * Replies as both nodes must have them. Anvil's faults are left out: it lists the transaction's own call and calls that
 * were not made or were undone among the operations, no creations and self-destructs among the entries, and shows
 * destroyed accounts as unchanged and memory that was not touched; calls leave nothing on the stack, and
 * SSTORE stores nothing there.
 */
export function replyShape({ replay, operations, entries }: Replies) {
  const accounts = Object.entries(replay.stateDiff)
    .filter(([address]) => address !== COINBASE)
    .map(([, { balance, code, nonce, storage }]) => [kindOf(balance), kindOf(code), kindOf(nonce), storage])
  return {
    vmTrace: vmShape(replay.vmTrace),
    stateDiff: accounts
      .filter((account) => !/^\["(=","=","=|-","-","-)"/.test(JSON.stringify(account)))
      .map((account) => JSON.stringify(account))
      .sort(),
    operations: operations.filter(({ type }) => type !== 0).map(({ type, value }) => ({ type, value })),
    entries: entries
      .filter(({ type }) => /CALL/.test(type))
      .map(({ type, depth, value, input, output }) => ({
        type,
        depth,
        value: /^(DELEGATE|STATIC)CALL$/.test(type) ? null : value,
        input,
        output,
      })),
  }
}

/** Plays a case on a node and traces its transaction. */
export async function framesBy(call: Call, situation: TraceCase): Promise<RpcFrame> {
  return (await call('debug_traceTransaction', [
    await sentBy(call, situation),
    { tracer: 'callTracer' },
  ])) as RpcFrame
}

/** Plays a case on a node; the hash of its transaction. */
export async function sentBy(call: Call, situation: TraceCase): Promise<Hex> {
  return (await playOn(call, situation)).hash
}

function playOn(call: Call, situation: TraceCase): ReturnType<typeof play> {
  const stage: Stage = {
    async send(transaction) {
      const hash = await call('eth_sendTransaction', [
        { from: SENDER, gasPrice: '0x77359400', ...transaction },
      ])
      // Anvil may answer before it mines.
      for (;;) {
        const receipt = (await call('eth_getTransactionReceipt', [hash])) as {
          readonly contractAddress: Hex | null
        } | null
        if (receipt !== null) return { hash: hash as Hex, contractAddress: receipt.contractAddress }
      }
    },
  }
  return play(situation, stage)
}

/**
 * Frames of this node with the code of each new contract for their output, as Anvil has it: this node's frames, like
 * those of the reference node, have its address there. Throws where they have not.
 */
export async function withCode(call: Call, frame: RpcFrame): Promise<RpcFrame> {
  const calls = frame.calls && { calls: await Promise.all(frame.calls.map((child) => withCode(call, child))) }
  if (!frame.type.startsWith('CREATE') || frame.error !== undefined) return { ...frame, ...calls }
  if (frame.output !== frame.to)
    throw new Error(`the output of the creation of ${frame.to} is ${frame.output}`)
  return { ...frame, ...calls, output: (await call('eth_getCode', [frame.to, 'latest'])) as Hex }
}

/** A running Anvil. */
export interface Anvil {
  readonly url: string
  readonly call: Call
  close(): Promise<void>
}

async function listeningUrl(anvil: ChildProcess): Promise<string> {
  let printed = ''
  for await (const chunk of anvil.stdout ?? []) {
    printed += String(chunk)
    const address = /Listening on (\S+)/.exec(printed)?.[1]
    if (address !== undefined) return `http://${address}`
  }
  throw new Error(`Anvil ended: ${printed}`)
}

/** Starts Anvil on a free port. */
export async function startAnvil(path: string): Promise<Anvil> {
  const anvil = spawn(path, [...ARGUMENTS, '--mnemonic', MNEMONIC, '--accounts', '1'])
  const url = await listeningUrl(anvil)
  return {
    url,
    async call(method, params) {
      const headers = { 'Content-Type': 'application/json' }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const { result, error } = (await (await fetch(url, { method: 'POST', headers, body })).json()) as {
        result: unknown
        error?: { message: string }
      }
      if (error !== undefined) throw new Error(`${method}: ${error.message}`)
      return result
    },
    async close() {
      anvil.kill()
      if (anvil.exitCode === null) await once(anvil, 'exit')
    },
  }
}
