/** Values of expressions: a variable, and steps into it by members, indexes and keys, which may be variables themselves. */
import { type PathStep, readPath, stepText, VariableError } from '../abi/storage/path.ts'
import type { Value } from './value.ts'

/** Finds a variable by its name. */
export type EvaluationScope = (name: string) => Value | undefined

const LITERAL = /^(-?\d+|0x[0-9a-f]*|true|false)$/i

/** A key as it is: a literal, or the value of an expression. */
function keyOf(step: Extract<PathStep, { key: string }>, scope: EvaluationScope): string {
  const { key, isQuoted } = step
  if (isQuoted || LITERAL.test(key)) return key
  const { text } = evaluate(key, scope)
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}

/** The value of an expression. Throws a `VariableError` that names the part which is not known. */
export function evaluate(expression: string, scope: EvaluationScope): Value {
  const { name, steps } = readPath(expression.trim())
  let value = scope(name)
  if (value === undefined) throw new VariableError(`${name} is not known here`)
  let walked = name
  for (const step of steps) {
    walked += stepText(step)
    const isLength: boolean =
      'member' in step && step.member === 'length' && value.part('length') === undefined
    const next: Value | undefined = isLength
      ? lengthOf(value)
      : value.part('member' in step ? step.member : keyOf(step, scope))
    if (next === undefined) throw new VariableError(`${walked} is not known here`)
    value = next
  }
  return { ...value, name: expression.trim() }
}

function lengthOf({ type, size }: Value): Value | undefined {
  if (!/\]( (memory|storage|calldata))?$/.test(type)) return undefined
  return {
    name: 'length',
    type: 'uint256',
    text: String(size),
    size: 0,
    parts: () => [],
    part: () => undefined,
  }
}
