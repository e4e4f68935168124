/** Call trees of what failed, for the terminal: run again beside everything else, and only so many at a time. */
import { loadAbiCodec } from '../abi/codec.ts'
import type { ExecutedBlock } from '../chain/block.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { BlockReference, FailedCall } from '../engine/model.ts'
import type { CallFrame } from '../evm/tracing/call-frame.ts'
import { CallTracer } from '../evm/tracing/call-tracer.ts'
import { TraceBudget } from '../evm/tracing/trace-budget.ts'
import { callTreeLines, speaks } from './call-tree-lines.ts'

/** Failures beyond so many at once get no tree: their reasons are told anyway. */
const MOST_AT_ONCE = 4
/** What a terminal waits for a tree, milliseconds. */
const PATIENCE_MS = 2000
/** Bytes that a tree may take. */
const TREE_BYTES = 8 << 20
const MAX_LINES = 60

/** Makes trees of failures, as lines; `undefined` where there is none to make. */
export interface FailureTrees {
  /** Trees are made by this engine from now on. */
  watch(engine: Engine): void
  ofTransaction(block: ExecutedBlock, index: number): Promise<readonly string[]> | undefined
  /** Of a simulated message that ended with this very error. */
  ofError(error: unknown): Promise<readonly string[]> | undefined
}

async function linesOf(root: CallFrame, engine: Engine, reference: BlockReference): Promise<string[]> {
  const state = await engine.queries.state(reference)
  return callTreeLines(
    root,
    {
      names: engine.names,
      ...(speaks(root) && { codec: await loadAbiCodec() }),
      codeOf(address: Hex) {
        const account = state?.account(address)
        return account && state?.code(account.codeHash)
      },
      maxLines: MAX_LINES,
    },
    '    ',
  )
}

async function treeOfCall({ request, reference, overrides }: FailedCall, engine: Engine): Promise<string[]> {
  const tree = new CallTracer(new TraceBudget(TREE_BYTES))
  await engine.queries.traceCall(request, reference, tree, overrides, PATIENCE_MS)
  return linesOf(tree.root, engine, reference)
}

async function treeOfTransaction(block: ExecutedBlock, index: number, engine: Engine): Promise<string[]> {
  const tree = new CallTracer(new TraceBudget(TREE_BYTES))
  await engine.queries.replay(block, (_transaction, i) => (i === index ? tree : undefined), {
    lastIndex: index,
  })
  return linesOf(tree.root, engine, { hash: block.hash })
}

/** Settles as `work` does, or as nothing once patience ends; the work ends by limits of its own. */
async function patiently(work: Promise<readonly string[]>): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined
  const ended = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), PATIENCE_MS)
  })
  try {
    return await Promise.race([work, ended])
  } finally {
    clearTimeout(timer)
  }
}

/** Makes them. */
export function createFailureTrees(): FailureTrees {
  const failedCalls = new WeakMap<object, FailedCall>()
  let engine: Engine | undefined
  let running = 0

  function run(make: (by: Engine) => Promise<string[]>): Promise<readonly string[]> | undefined {
    if (engine === undefined || running >= MOST_AT_ONCE) return undefined
    running++
    const work = make(engine).finally(() => {
      running--
    })
    return patiently(work)
  }

  return {
    watch(watched) {
      engine = watched
      watched.events.on('failedCall', (call) => void failedCalls.set(call.error, call))
    },
    ofTransaction: (block, index) => run((by) => treeOfTransaction(block, index, by)),
    ofError(error) {
      const call = typeof error === 'object' && error !== null ? failedCalls.get(error) : undefined
      return call && run((by) => treeOfCall(call, by))
    },
  }
}
