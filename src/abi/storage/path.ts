/** Paths of variables as Solidity writes them: `owner`, `point.x`, `list[3]`, `allowance[0x…][0x…]`, `byName["a"]`. */

/** Why a path or a value does not fit the layout. What a read of the storage throws is another error. */
export class VariableError extends Error {
  override readonly name = 'VariableError'
}

/** A step into a variable: a member of a struct, or an index or key in brackets as it was written. */
export type PathStep = { readonly member: string } | { readonly key: string; readonly isQuoted: boolean }

/** A variable, and the steps into it. */
export interface VariablePath {
  readonly name: string
  readonly steps: readonly PathStep[]
}

/** Longest path, characters. */
const MAX_PATH = 4096

const NAME = /^[A-Za-z_$][\w$]*/
const MEMBER = /^\.([A-Za-z_$][\w$]*)/
/** In double quotes with the escapes of JSON, in single quotes without any, or anything but brackets and quotes. */
const KEY = /^\[(?:("(?:[^"\\]|\\.)*")|'([^']*)'|([^[\]"']*))\]/

function stepAt(text: string): { readonly step: PathStep; readonly length: number } | undefined {
  const member = MEMBER.exec(text)
  if (member !== null) return { step: { member: member[1] ?? '' }, length: member[0].length }
  const key = KEY.exec(text)
  if (key === null) return undefined
  const [{ length }, json, quoted, bare = ''] = key
  if (json === undefined)
    return { step: { key: quoted ?? bare.trim(), isQuoted: quoted !== undefined }, length }
  try {
    return { step: { key: String(JSON.parse(json)), isQuoted: true }, length }
  } catch {
    return undefined
  }
}

/** Reads a path. Throws a `VariableError` that names where it cannot be read. */
export function readPath(text: string): VariablePath {
  if (text.length > MAX_PATH) throw new VariableError(`a path has at most ${MAX_PATH} characters`)
  const name = NAME.exec(text)?.[0]
  if (name === undefined) throw new VariableError('expected the name of a variable')
  const steps: PathStep[] = []
  for (let at = name.length; at < text.length; ) {
    const found = stepAt(text.slice(at))
    if (found === undefined)
      throw new VariableError(`expected .member or [key] at ${JSON.stringify(text.slice(at, at + 20))}`)
    steps.push(found.step)
    at += found.length
  }
  return { name, steps }
}

/** A step as it is written. */
export function stepText(step: PathStep): string {
  if ('member' in step) return `.${step.member}`
  return step.isQuoted ? `[${JSON.stringify(step.key)}]` : `[${step.key}]`
}

/** Characters of a path in a message. */
const MAX_SHOWN = 128

/** Runs `work`, and prefixes the message of a `VariableError` with `part`; nested parts form the path of the variable. */
export function within<T>(part: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof VariableError)) throw error
    const { message } = error
    const shown = part.length > MAX_SHOWN ? `${part.slice(0, MAX_SHOWN)}…` : part
    throw new VariableError(/^[.[]/.test(message) ? shown + message : `${shown}: ${message}`)
  }
}
