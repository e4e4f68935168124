/** A session of the node's debugger: where it stands, its sources, and the variables of its frames. */
import { type Checked, isNumber, isOneOf, isText, listOf, objectOf, orNull, recordOf } from '../checks.ts'
import { call, callFor } from '../client.ts'
import { readLinkText } from '../simulation/link.ts'
import { parametersOf } from '../simulation/scenario.ts'

const isFrame = objectOf(
  {},
  { contract: isText, function: isText, file: isText, line: isNumber, endLine: isNumber, address: isText },
)
/** An open frame. */
export type Frame = Checked<typeof isFrame>

const isPlace = objectOf(
  {
    session: isText,
    step: isNumber,
    steps: isNumber,
    reason: isOneOf('step', 'breakpoint', 'event', 'failure', 'start', 'end'),
    stack: listOf(isFrame),
  },
  { failure: isText, gas: isNumber },
)
/** Where a session stands. */
export type Place = Checked<typeof isPlace>

const isSource = objectOf({ file: isText, content: isText, lines: listOf(isNumber) })
/** A source, and the lines at which statements begin. */
export type Source = Checked<typeof isSource>

const isVariable = objectOf({ name: isText, type: isText, value: isText, size: isNumber })
/** A variable, or a part of one. */
export type Variable = Checked<typeof isVariable>

const isMachine = objectOf({
  pc: isNumber,
  opcode: isText,
  stack: listOf(isText),
  memory: isText,
  storage: recordOf(isText, isText),
})
/** Stack, memory and storage of a frame. */
export type Machine = Checked<typeof isMachine>

/** What moves do. */
export type Move = 'into' | 'over' | 'out' | 'instruction' | 'continue'
export type Direction = 'forward' | 'back'

/** A session that is open. */
export interface Opened {
  readonly place: Place
  readonly sources: readonly Source[]
}

/** Opens what an address of the page names: a transaction, a step of a shared simulation, or what failed last. Throws an Error in words. */
export async function openSession(argument: string, parameters: URLSearchParams): Promise<Opened> {
  const place = await openPlace(argument, parameters)
  if (place === null) throw new Error('There is nothing to debug: it is not known, or runs no code')
  const sources = await callFor(listOf(isSource), 'evm_debugSources', [place.session])
  return { place, sources }
}

async function openPlace(argument: string, parameters: URLSearchParams): Promise<Place | null> {
  if (argument === 'failure') return callFor(orNull(isPlace), 'evm_debugFailure')
  if (argument !== 'simulation') return callFor(orNull(isPlace), 'evm_debugTransaction', [argument])
  const scenario = await readLinkText(parameters.get('s') ?? '')
  const [simulation, block] = parametersOf(scenario)
  const index = Number(parameters.get('step') ?? 0)
  return callFor(orNull(isPlace), 'evm_debugSimulation', [simulation, index, block])
}

/** Moves. Throws `RpcError`, `ConnectionError`. */
export function moveSession(
  session: string,
  move: Move,
  direction: Direction,
  lines: readonly { readonly file: string; readonly line: number }[],
): Promise<Place> {
  return callFor(isPlace, 'evm_debugMove', [session, move, direction, { lines, failures: true }])
}

/** The variables of a frame, or the parts of one; null where they are not known. */
export function loadVariables(
  session: string,
  frame: number,
  scope: string,
  path: readonly string[],
  signal: AbortSignal,
): Promise<readonly Variable[] | null> {
  return callFor(orNull(listOf(isVariable)), 'evm_debugVariables', [session, frame, scope, path], signal)
}

/** The machine's state of a frame; null where it is not kept. */
export function loadMachine(session: string, frame: number, signal: AbortSignal): Promise<Machine | null> {
  return callFor(orNull(isMachine), 'evm_debugMachine', [session, frame], signal)
}

/** Closes a session; the node does so itself later. */
export function closeSession(session: string): void {
  call('evm_debugClose', [session]).catch(() => {})
}
