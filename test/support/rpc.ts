/** A dispatcher for tests, and one request to it. */
import type { Hex } from '../../src/encoding/hex.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { CurrentEngine, NodeEvents } from '../../src/engine/engine-holder.ts'
import { createEmitter } from '../../src/engine/events.ts'
import { createRandomness } from '../../src/engine/randomness.ts'
import { silentLogger } from '../../src/logger.ts'
import { createDispatcher, type Dispatcher, type DispatcherParts } from '../../src/rpc/dispatcher.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { createPermissions } from '../../src/rpc/permissions.ts'
import type { RpcOptions } from '../../src/rpc/rpc-options.ts'
import { openSession, type Session } from '../../src/rpc/session.ts'

export const OPTIONS: RpcOptions = {
  clientVersion: 'Tandem/0.1.0/linux/Node20/EMULATOR',
  release: '0.1.0',
  beganAsFork: false,
  profile: 'node',
  preset: 'rsk',
  dialect: 'rsk',
  hideRemasc: false,
  singleUseSnapshots: false,
  stateOverride: true,
  minedReverts: 'error',
  stackTraces: 'off',
  order: 'fees',
  maxBatch: 50,
  rpcTimeoutMs: 5000,
  maxResponseBytes: 10_485_760,
  maxLogBlocks: 5000,
  maxLogs: 20_000,
  filterTimeoutMs: 300_000,
  maxFilters: 1000,
  maxSubscriptions: 1000,
  maxTraces: 10_000,
  maxTraceBlocks: 0,
  maxTraceBytes: 268_435_456,
  maxTraceAnswer: 2_147_483_648,
  methodTimeouts: {},
  maxDepth: 1000,
  maxPending: 4096,
  maxHeavy: 16,
  maxHeavyWaiting: 512,
  forkAllow: [],
}

export const SESSION = openSession('test')

/** A holder of an engine that is never replaced by a reset. */
export function held(engine: Engine): CurrentEngine {
  const events = createEmitter<NodeEvents>(() => {})
  for (const name of ['chain', 'pool', 'console', 'failedCall'] as const) {
    engine.events.on(name, (event) => events.emit(name, event))
  }
  return { engine, events, use: (work) => work(engine) }
}

/** A dispatcher over an engine, with everything else replaceable. */
export function dispatcherOf(
  engine: Engine,
  options: Partial<RpcOptions> = {},
  parts: Partial<DispatcherParts> & { switched?: readonly string[] } = {},
): Dispatcher {
  return createDispatcher({
    methods: METHODS,
    node: held(engine),
    options: { ...OPTIONS, ...options },
    permits: createPermissions(parts.switched ?? []),
    logger: silentLogger,
    random: createRandomness(undefined),
    ...parts,
  })
}

/** The outcome of a request: its result or its error. */
export interface Outcome {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Hex }
}

/** Sends one request as text and reads the reply. */
export async function ask(
  dispatcher: Dispatcher,
  method: string,
  params: readonly unknown[] = [],
  session: Session = SESSION,
): Promise<Outcome> {
  const text = await dispatcher.dispatchText(
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    session,
  )
  const { jsonrpc, id, ...outcome } = JSON.parse(text ?? 'null')
  return outcome
}
