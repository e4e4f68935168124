/** The variables that an editor may ask for: scopes of frames, parts of values, and the machine's state. */
import { Handles, Scope, Variable } from '@vscode/debugadapter'
import type { DebugProtocol } from '@vscode/debugprotocol'
import type { RemoteSession, WireVariable } from './wire.ts'

/** Parts that are asked for at once; an editor pages beyond. */
const MOST_PARTS = 1000
const WORD_DIGITS = 64

type Reference =
  | {
      readonly kind: 'values'
      readonly frame: number
      readonly scope: string
      readonly path: readonly string[]
    }
  | { readonly kind: 'machine'; readonly frame: number; readonly part: 'stack' | 'memory' | 'storage' }

const SCOPES = [
  ['Locals', 'locals', false],
  ['Message', 'message', false],
  ['State', 'state', true],
] as const
const MACHINE = [
  ['Stack', 'stack'],
  ['Memory', 'memory'],
  ['Storage', 'storage'],
] as const

/** Answers for variables; its references hold until the next stop. */
export class VariableReferences {
  readonly #session: RemoteSession
  readonly #handles = new Handles<Reference>()

  constructor(session: RemoteSession) {
    this.#session = session
  }

  /** After a move all references are new. */
  reset(): void {
    this.#handles.reset()
  }

  scopes(frame: number): DebugProtocol.Scope[] {
    const named = SCOPES.map(
      ([name, scope, isExpensive]) =>
        new Scope(name, this.#handles.create({ kind: 'values', frame, scope, path: [] }), isExpensive),
    )
    const machine = MACHINE.map(
      ([name, part]) => new Scope(name, this.#handles.create({ kind: 'machine', frame, part }), true),
    )
    return [...named, ...machine]
  }

  /** The variables behind a reference. Throws `NodeError`. */
  async of(reference: number, start = 0, count = MOST_PARTS): Promise<DebugProtocol.Variable[]> {
    const found = this.#handles.get(reference)
    if (found === undefined) return []
    if (found.kind === 'machine') return this.#machine(found)
    const { frame, scope, path } = found
    const range = [start, Math.min(count || MOST_PARTS, MOST_PARTS)] as const
    const values = await this.#session.variables(frame, scope, path, range)
    return values.map((value) => this.shown(value, { frame, scope, path: [...path, value.name] }))
  }

  /** A value as an editor shows it. */
  shown(
    { name, type, value, size }: WireVariable,
    place: { readonly frame: number; readonly scope: string; readonly path: readonly string[] },
  ): DebugProtocol.Variable {
    const reference = size === 0 ? 0 : this.#handles.create({ kind: 'values', ...place })
    const isList = /\]( (memory|storage|calldata))?$/.test(type)
    return {
      ...new Variable(name, value, reference),
      type,
      ...(place.scope !== 'message' && { evaluateName: expressionOf(place.path) }),
      ...(isList && size > 0 && { indexedVariables: size }),
    }
  }

  async #machine({
    frame,
    part,
  }: Extract<Reference, { kind: 'machine' }>): Promise<DebugProtocol.Variable[]> {
    const machine = await this.#session.machine(frame)
    if (machine === undefined) return []
    if (part === 'stack') {
      return machine.stack.toReversed().map((word, index) => new Variable(String(index), word))
    }
    if (part === 'storage')
      return Object.entries(machine.storage).map(([slot, word]) => new Variable(slot, word))
    const words = machine.memory.slice(2).match(new RegExp(`.{1,${WORD_DIGITS}}`, 'g')) ?? []
    return words.map((word, index) => new Variable(`0x${(32 * index).toString(16)}`, `0x${word}`))
  }
}

/** A path as an expression: names after the first one are members, or else indexes and keys. */
function expressionOf([first = '', ...rest]: readonly string[]): string {
  return rest.reduce(
    (text, part) => (/^[A-Za-z_$][\w$]*$/.test(part) ? `${text}.${part}` : `${text}[${part}]`),
    first,
  )
}
