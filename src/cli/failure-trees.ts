/** Call trees of failed calls and transactions for the terminal, replayed in the background, a few at a time. */
import { loadAbiCodec } from '../abi/codec.ts'
import type { ExecutedBlock } from '../chain/block.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { BlockReference, FailedCall } from '../engine/model.ts'
import type { SourceTrace } from '../engine/sources/model.ts'
import type { CallFrame } from '../evm/tracing/call-frame.ts'
import { CallTracer } from '../evm/tracing/call-tracer.ts'
import { TraceBudget } from '../evm/tracing/trace-budget.ts'
import { callsConsole, callTreeLines } from './call-tree-lines.ts'
import { stackTraceLines } from './source-trace.ts'

/** Of more failures at once only this many get a tree; the reasons of all are printed. */
const MAX_CONCURRENT = 4
/** How long a terminal waits for a tree, milliseconds. */
const TIMEOUT_MS = 2000
/** Bytes that a tree may take. */
const TREE_BYTES = 8 << 20
const MAX_LINES = 60

/** Makes call trees of failures, as lines; `undefined` where there is none. */
export interface FailureTrees {
  /** Replays on the engine of this node from now on. */
  attach(node: Pick<CurrentEngine, 'engine'>): void
  ofTransaction(block: ExecutedBlock, index: number): Promise<readonly string[]> | undefined
  /** The tree of the simulated call that failed with this error object. */
  ofError(error: unknown): Promise<readonly string[]> | undefined
}

async function linesOf(root: CallFrame, engine: Engine, reference: BlockReference): Promise<string[]> {
  const state = await engine.queries.state(reference)
  return callTreeLines(
    root,
    {
      names: engine.names,
      ...(callsConsole(root) && { codec: await loadAbiCodec() }),
      codeOf(address: Hex) {
        const account = state?.account(address)
        return account && state?.code(account.codeHash)
      },
      maxLines: MAX_LINES,
    },
    '    ',
  )
}

/** The stack of a failure, by the sources that the node knows. */
function stackOf({ frames }: SourceTrace): string[] {
  return frames.length === 0 ? [] : stackTraceLines(frames).map((line) => `    ${line}`)
}

async function treeOfCall({ request, reference, options }: FailedCall, engine: Engine): Promise<string[]> {
  const tree = new CallTracer(new TraceBudget(TREE_BYTES))
  const limited = { ...options, timeoutMs: TIMEOUT_MS }
  await engine.queries.traceCall(request, reference, tree, limited)
  const lines = await linesOf(tree.root, engine, reference)
  if (!(await engine.stackTraces.hasSources())) return lines
  return [...lines, ...stackOf(await engine.stackTraces.ofCall(request, reference, limited))]
}

async function treeOfTransaction(block: ExecutedBlock, index: number, engine: Engine): Promise<string[]> {
  const tree = new CallTracer(new TraceBudget(TREE_BYTES))
  await engine.queries.replay(block, (_transaction, i) => (i === index ? tree : undefined), {
    lastIndex: index,
  })
  const lines = await linesOf(tree.root, engine, { hash: block.hash })
  if (!(await engine.stackTraces.hasSources())) return lines
  return [...lines, ...stackOf(await engine.stackTraces.ofTransaction(block, index, TIMEOUT_MS))]
}

/** Settles as `work` does, or with no lines after the timeout; the work itself ends by its own limits. */
async function withTimeout(work: Promise<readonly string[]>): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined
  const ended = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), TIMEOUT_MS)
  })
  try {
    return await Promise.race([work, ended])
  } finally {
    clearTimeout(timer)
  }
}

/** Makes the trees of one node, without an engine at first. */
export function createFailureTrees(): FailureTrees {
  const failedCalls = new WeakMap<object, FailedCall>()
  let node: Pick<CurrentEngine, 'engine'> | undefined
  let running = 0

  function run(make: (engine: Engine) => Promise<string[]>): Promise<readonly string[]> | undefined {
    if (node === undefined || running >= MAX_CONCURRENT) return undefined
    running++
    const of = node.engine
    const release = of.holdStates()
    const made = of.fork === undefined ? make(of) : of.fork.demand.query(() => make(of))
    const work = made.finally(() => {
      running--
      release?.()
    })
    return withTimeout(work)
  }

  return {
    attach(attached) {
      node = attached
      attached.engine.events.on('failedCall', (call) => void failedCalls.set(call.error, call))
    },
    ofTransaction: (block, index) => run((by) => treeOfTransaction(block, index, by)),
    ofError(error) {
      const call = typeof error === 'object' && error !== null ? failedCalls.get(error) : undefined
      return call && run((by) => treeOfCall(call, by))
    },
  }
}
