/** The debugger: transactions, calls and simulations by their sources, forwards and back. */
import { z } from 'zod'
import { decodedText } from '../../abi/registry.ts'
import { VariableError } from '../../abi/storage/path.ts'
import type { DebugSession } from '../../debugger/debug-session.ts'
import type { Value } from '../../debugger/value.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { DebugTarget, OpenDebugSession } from '../../engine/sources/debugger.ts'
import { invalidParams } from '../../errors.ts'
import { timeLeft } from '../deadlines.ts'
import { type Context, method } from '../method.ts'
import { arrayOf, mapped, optional } from '../parameter.ts'
import { placedSimulation } from '../simulation-options.ts'
import { placedSteps } from '../step-simulation.ts'
import { BlockOverrides } from '../wire/block-overrides.ts'
import { CallBlock } from '../wire/block-reference.ts'
import { CallObject } from '../wire/call.ts'
import {
  BreakpointsObject,
  breakpointsOf,
  choice,
  DebugText,
  toRpcMachine,
  toRpcPlace,
  toRpcSources,
  toRpcVariable,
} from '../wire/debugger.ts'
import { DebugMachine, DebugPlace, DebugSourceList, DebugVariable } from '../wire/debugger-answers.ts'
import { StateOverrideSet } from '../wire/overrides.ts'
import { Data, TransactionHash, wholeNumber } from '../wire/scalars.ts'
import { StepSimulationObject } from '../wire/steps.ts'
import { NOBODY } from './example-accounts.ts'

/** Parts of a value in one reply. */
const MOST_PARTS = 1000
/** Nesting of a path to a part of a value. */
const MOST_STEPS_IN = 64
const MOST_FRAMES = 100_000
const LAST_STEP = 2 ** 32 - 1

const SessionId = mapped(Data, toHex)
const FrameNumber = wholeNumber('A frame, counted from the innermost one', MOST_FRAMES)
const ID = '0x38366232373432652d663135312d343939362d613032342d363261366264616366366233'

/** Why the execution failed; `undefined` where it did not. */
function failureOf({ execution }: DebugSession, { engine }: Pick<Context, 'engine'>): string | undefined {
  const { failure, output, to } = execution.root
  if (failure === undefined) return undefined
  const known = engine.names.error(output, to)
  return known === undefined ? failure.reason : `reverted with ${decodedText(known)}`
}

function placeOf(id: Hex, { session }: OpenDebugSession, context: Context): z.infer<typeof DebugPlace> {
  return toRpcPlace(id, session, failureOf(session, context))
}

/** Opens a target for the caller; null where none of its code ran. */
async function open(target: DebugTarget, context: Context): Promise<z.infer<typeof DebugPlace> | null> {
  const opened = await context.engine.debugger.open(target, timeLeft(context))
  if (opened === undefined) return null
  return placeOf(context.debugSessions.add(opened, context.session), opened, context)
}

function transactionTarget(hash: Hex, { engine }: Context): DebugTarget | undefined {
  const { block, index } = engine.queries.transaction(hash) ?? {}
  return block === undefined || index === undefined ? undefined : { kind: 'transaction', block, index }
}

/** A contract that stops at once. */
const STOPS = { method: 'hardhat_setCode', params: [NOBODY, '0x00'] }
const PLACE = {
  session: ID,
  step: 0,
  steps: 1,
  reason: 'start',
  gas: 6_779_000,
  stack: [{ address: NOBODY }],
}

export const evm_debugTransaction = method({
  name: 'evm_debugTransaction',
  heavy: true,
  answeredBy: 'each',
  summary:
    'Opens a mined transaction in the debugger: runs it again, and stands where it failed, or at its first statement. Sources are those that the node knows. The session ends with the connection, after 15 minutes without use, or when eight others are opened. Null for an unknown transaction, and for one that runs no code.',
  params: { hash: TransactionHash },
  result: () => DebugPlace.nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [`0x${'9'.repeat(64)}`], result: null }],
  run({ hash }, context) {
    const target = transactionTarget(hash, context)
    return target === undefined ? null : open(target, context)
  },
})

export const evm_debugCall = method({
  name: 'evm_debugCall',
  heavy: true,
  answeredBy: 'each',
  summary:
    'Opens a call in the debugger, as evm_debugTransaction does a transaction. Block and overrides are those of a call. Null where it runs no code.',
  params: {
    call: CallObject,
    block: optional(CallBlock, 'latest'),
    stateOverrides: optional(StateOverrideSet, null),
    blockOverrides: optional(BlockOverrides, null),
  },
  result: () => DebugPlace.nullable(),
  errors: ['block-not-found'],
  examples: [
    { params: [{ to: NOBODY }], result: null },
    { after: [STOPS], params: [{ to: NOBODY }], result: PLACE, varies: true },
  ],
  run({ call, ...sent }, context) {
    const { reference, options } = placedSimulation(sent, context)
    return open({ kind: 'call', request: call, reference, options }, context)
  },
})

export const evm_debugSimulation = method({
  name: 'evm_debugSimulation',
  heavy: true,
  answeredBy: 'each',
  summary:
    'Opens a step of a simulation in the debugger: `simulation` and `block` are those of evm_simulate, `index` is that of a call or send. Null where it runs no code.',
  params: {
    simulation: StepSimulationObject,
    index: wholeNumber('The step, from 0', MOST_PARTS),
    block: optional(CallBlock, 'latest'),
  },
  result: () => DebugPlace.nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [{ steps: [{ call: { to: NOBODY } }] }, 0], result: null }],
  async run({ simulation, index, block }, context) {
    const { place, steps } = await placedSteps(simulation, block, context)
    if (index >= steps.length) throw invalidParams(`index: ${index} is not below the number of steps`)
    return open({ kind: 'simulation', place, steps, index }, context)
  },
})

export const evm_debugFailure = method({
  name: 'evm_debugFailure',
  heavy: true,
  answeredBy: 'each',
  summary:
    'Opens what failed last on this node in the debugger: a mined transaction, or a call or an estimate (for a caller with a key transactions only). Null where nothing has failed.',
  params: {},
  result: () => DebugPlace.nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [], result: null }],
  run(_, context) {
    const failure = context.consoleHistory.lastFailure(context.session)
    if (failure === undefined) return null
    if ('call' in failure) return open({ kind: 'call', ...failure.call }, context)
    const target = transactionTarget(failure.transaction, context)
    return target === undefined ? null : open(target, context)
  },
})

export const evm_debugState = method({
  name: 'evm_debugState',
  answeredBy: 'owner',
  summary: 'Where a session of the debugger stands.',
  params: { session: SessionId },
  result: () => DebugPlace,
  examples: [],
  run: ({ session }, context) =>
    placeOf(session, context.debugSessions.find(session, context.session), context),
})

export const evm_debugMove = method({
  name: 'evm_debugMove',
  heavy: true,
  answeredBy: 'owner',
  summary:
    'Moves in the debugger and returns where it stands then: `into` the next statement, `over` calls, `out` of the function, one `instruction`, `continue` to a breakpoint, or `to` a step; forward or back. Breakpoints are lines, events by their first topic or any event, and failures, also those that code catches.',
  params: {
    session: SessionId,
    move: choice('What to move by', 'into', 'over', 'out', 'instruction', 'continue', 'to'),
    direction: optional(choice('Which way', 'forward', 'back'), 'forward'),
    breakpoints: optional(BreakpointsObject, {}),
    step: optional(wholeNumber('Where `to` moves', LAST_STEP), 0),
  },
  result: () => DebugPlace,
  examples: [],
  async run({ session: id, move, direction, breakpoints, step }, context) {
    const opened = context.debugSessions.find(id, context.session)
    if (move === 'to') opened.session.goTo(step)
    else await opened.move(move, direction, breakpointsOf(breakpoints))
    await opened.settle(timeLeft(context))
    return placeOf(id, opened, context)
  },
})

/** The value that a path leads to from a list of values. */
function partAt(values: readonly Value[], path: readonly string[]): Value {
  const [first = '', ...rest] = path
  let value = values.findLast(({ name }) => name === first)
  for (const name of rest) value = value?.part(name)
  if (value === undefined) throw invalidParams(`path: there is no ${path.join('.')}`)
  return value
}

export const evm_debugVariables = method({
  name: 'evm_debugVariables',
  heavy: true,
  answeredBy: 'owner',
  summary:
    'The variables of a frame in the debugger: its `locals` with parameters and return variables, the `message` (msg, this, the arguments in the call data), the `state` of the contract; or the parts of the one that `path` leads to, by names, indexes and keys. Null where they are not known: code that is optimised or compiled via IR does not tell where all its variables are.',
  params: {
    session: SessionId,
    frame: FrameNumber,
    scope: choice('Which variables', 'locals', 'message', 'state'),
    path: optional(arrayOf(DebugText, { most: MOST_STEPS_IN, indexed: true }), []),
    start: optional(wholeNumber('The first part', Number.MAX_SAFE_INTEGER), 0),
    count: optional(wholeNumber('How many parts, at most', MOST_PARTS), MOST_PARTS),
  },
  result: () => z.array(DebugVariable).nullable(),
  examples: [],
  async run({ session: id, frame, scope, path, start, count }, context) {
    const opened = context.debugSessions.find(id, context.session)
    await opened.settle(timeLeft(context))
    return opened.read((session) => {
      const values = session.variables(frame, scope)
      if (values === undefined) return null
      const shown =
        path.length === 0 ? values.slice(start, start + count) : partAt(values, path).parts(start, count)
      return shown.map(toRpcVariable)
    })
  },
})

export const evm_debugEvaluate = method({
  name: 'evm_debugEvaluate',
  heavy: true,
  answeredBy: 'owner',
  summary:
    'The value of an expression in a frame of the debugger: a variable, and members, indexes and keys, which may be variables themselves: `balances[msg.sender]`, `items[i].owner`.',
  params: { session: SessionId, frame: FrameNumber, expression: DebugText },
  result: () => DebugVariable,
  examples: [],
  async run({ session: id, frame, expression }, context) {
    const opened = context.debugSessions.find(id, context.session)
    await opened.settle(timeLeft(context))
    try {
      return await opened.read((session) => toRpcVariable(session.evaluate(frame, expression)))
    } catch (error) {
      if (error instanceof VariableError) throw invalidParams(`expression: ${error.message}`)
      throw error
    }
  },
})

export const evm_debugMachine = method({
  name: 'evm_debugMachine',
  heavy: true,
  answeredBy: 'owner',
  summary:
    'Stack, memory (its first MiB) and touched storage of a frame in the debugger. Null where they are not kept.',
  params: { session: SessionId, frame: FrameNumber },
  result: () => DebugMachine.nullable(),
  examples: [],
  async run({ session: id, frame }, context) {
    const opened = context.debugSessions.find(id, context.session)
    await opened.settle(timeLeft(context))
    return opened.read((session) => {
      const state = session.machine(frame)
      return state === undefined ? null : toRpcMachine(session, state, session.storage(frame))
    })
  },
})

export const evm_debugSources = method({
  name: 'evm_debugSources',
  answeredBy: 'owner',
  summary: 'The sources of the contracts that run in a session of the debugger.',
  params: { session: SessionId },
  result: () => DebugSourceList,
  examples: [],
  run: ({ session }, context) => toRpcSources(context.debugSessions.find(session, context.session).session),
})

export const evm_debugClose = method({
  name: 'evm_debugClose',
  answeredBy: 'owner',
  summary: 'Closes a session of the debugger; false when there is none.',
  params: { session: SessionId },
  result: () => z.boolean(),
  examples: [],
  run: ({ session }, context) => context.debugSessions.remove(session, context.session),
})

/** The methods of this file, in the order of the document. */
export const DEBUGGER_METHODS = [
  evm_debugTransaction,
  evm_debugCall,
  evm_debugSimulation,
  evm_debugFailure,
  evm_debugState,
  evm_debugMove,
  evm_debugVariables,
  evm_debugEvaluate,
  evm_debugMachine,
  evm_debugSources,
  evm_debugClose,
] as const
