/**
 * Where the variables of a function are on the stack, by solc's older code generator: below the return address stand the
 * parameters, then the return variables, then for each modifier its parameters and variables, then the variables of the
 * body in the order of their declaration, while they are in scope.
 */
import type { Execution } from './execution.ts'
import type { FunctionScope, Statement } from './function-scope.ts'
import { type LocalVariable, wordsIn } from './local-variable.ts'
import type { SourceFrame, SourceSteps } from './source-steps.ts'

/** What a variable is. */
export type LocalKind = 'parameter' | 'return' | 'local'

/** A variable with its first word on the stack, counted from the bottom. */
export interface PlacedLocal {
  readonly kind: LocalKind
  readonly variable: LocalVariable
  readonly position: number
}

/** The variables that can be used at a place, in order, and how many words lie on the stack at the beginning of a statement there. */
interface Layout {
  readonly locals: readonly PlacedLocal[]
  readonly height: number
}

/** Whose code runs: the function of the frame, and the modifier of it in whose body the place is. */
interface Running {
  readonly scope: FunctionScope
  /** Words between the return variables and the variables of the body that runs. */
  readonly before: number
  /** Words above those. */
  readonly above: number
  readonly body: FunctionScope
}

const isUsable =
  (at: number) =>
  ({ start, end }: LocalVariable): boolean =>
    start <= at && at < end

/** Words of the modifiers of a function before one of them; `NaN` where they are not known. */
function wordsOfModifiers(found: readonly (FunctionScope | undefined)[]): number {
  let words = 0
  for (const one of found) {
    words += one === undefined ? Number.NaN : wordsIn(one.parameters) + one.wordsAtPlaceholder
  }
  return words
}

function modifiersOf(
  { modifiers }: FunctionScope,
  { mapped }: SourceFrame,
): readonly (FunctionScope | undefined)[] {
  if (mapped === undefined) return []
  const { code, sources } = mapped
  return modifiers.flatMap((one) => {
    const found = sources.modifierOf(one, code.name, code.path)
    return found === 'constructor' ? [] : [found]
  })
}

/** What runs at a statement of a frame; `undefined` where the function is not known, or runs a modifier more than once. */
function runningAt(frame: SourceFrame, statement: Statement): Running | undefined {
  const { mapped } = frame
  const around = statement.file.functionAround(statement)
  if (mapped === undefined || around === undefined || statement.isApart === true) return undefined
  const called = around.kind !== 'modifier' && frame.isBase ? around : frame.function
  const scope = called && mapped.sources.scopeOf(called.range)
  const body = mapped.sources.scopeOf(around.range)
  if (scope === undefined || body === undefined) return undefined
  if (statement.isInvocation === true) return { scope, before: Number.NaN, above: 0, body: scope }
  const modifiers = modifiersOf(scope, frame)
  const { hasBlockScopes } = mapped.sources
  if (body === scope) {
    const words = wordsOfModifiers(modifiers)
    return hasBlockScopes
      ? { scope, before: words, above: 0, body }
      : { scope, before: 0, above: words, body }
  }
  const index = modifiers.indexOf(body)
  if (index === -1 || modifiers.lastIndexOf(body) !== index) return undefined
  const below = hasBlockScopes ? 0 : wordsIn(scope.locals)
  const before = below + wordsOfModifiers(modifiers.slice(0, index)) + wordsIn(body.parameters)
  return { scope, before, above: 0, body }
}

function layoutAt({ scope, before, above, body }: Running, base: number, at: number): Layout {
  const returns = base + wordsIn(scope.parameters)
  const inner = returns + wordsIn(scope.returns) + before
  const usable = body.locals.filter(isUsable(at))
  const place = (kind: LocalKind, from: number) => (variable: LocalVariable) => ({
    kind,
    variable,
    position: from + variable.offset,
  })
  const own = body === scope ? [] : body.parameters.map(place('parameter', inner - wordsIn(body.parameters)))
  return {
    locals: [
      ...scope.parameters.map(place('parameter', base)),
      ...scope.returns.map(place('return', returns)),
      ...own,
      ...usable.map(place('local', inner)),
    ],
    height: inner + wordsIn(usable) + above,
  }
}

/**
 * The first word of the parameters of what runs: where the stack was when it was called. Code that is not called by a jump,
 * such as that of a constructor, is placed by its first statement.
 */
function baseOf(frame: SourceFrame, running: Running, steps: SourceSteps, execution: Execution): number {
  if (!frame.isBase) return execution.stackPointer(frame.entry) - wordsIn(running.scope.parameters)
  // An optimiser moves the beginnings of statements.
  if (frame.mapped?.sources.stack !== 'exact') return Number.NaN
  for (const [, step] of frame.firstStops) {
    const stop = steps.lastOf(frame, step)
    const other = stop && runningAt(frame, stop.statement)
    if (stop === undefined || other?.scope !== running.scope) continue
    return execution.stackPointer(step) - layoutAt(other, 0, stop.statement.start).height
  }
  return Number.NaN
}

/**
 * The variables of a frame at a statement, with their places. `undefined` where the stack is not as the code generator of
 * this function would leave it at the beginning of the statement that runs.
 */
export function localsAt(
  frame: SourceFrame,
  statement: Statement,
  step: number,
  { steps, execution }: { readonly steps: SourceSteps; readonly execution: Execution },
): readonly PlacedLocal[] | undefined {
  const running = runningAt(frame, statement)
  if (running === undefined) return undefined
  const base = baseOf(frame, running, steps, execution)
  const { locals, height } = layoutAt(running, base, statement.start)
  if (Number.isNaN(base) || base < 0) return undefined
  const isExact = frame.mapped?.sources.stack === 'exact'
  const stop = isExact ? steps.lastOf(frame, step) : undefined
  if (stop !== undefined && !Number.isNaN(height) && execution.stackPointer(stop.step) !== height)
    return undefined
  return locals.filter(
    ({ position, variable: { name, isYul } }) =>
      name !== '' && !Number.isNaN(position) && (isExact || isYul !== true),
  )
}
