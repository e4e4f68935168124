/** Shapes of what comes from a file or a link: a check, and for a value that fails it the path of the wrong member. */
import { type Check, isObject } from '../checks.ts'
import type { Hex } from '../format.ts'

/** What a value has to be. */
export interface Shape<Value> {
  readonly isValue: Check<Value>
  /** Why a value at a path is refused, such as `steps[1].send.to: expected an address, got 5`; absent for one that fits. */
  faultOf(value: unknown, path: string): string | undefined
}

/** The type that a shape describes. */
export type Shaped<S> = S extends Shape<infer Value> ? Value : never

/** Characters of a refused value in its error. */
const MOST_SHOWN = 40

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
}

function shape<Value>(faultOf: Shape<Value>['faultOf']): Shape<Value> {
  return { isValue: (value): value is Value => faultOf(value, '') === undefined, faultOf }
}

/** A shape without parts: `expected` completes the sentence “expected …”. */
function plain<Value>(expected: string, fits: (value: unknown) => boolean): Shape<Value> {
  return shape((value, path) =>
    fits(value) ? undefined : `${path || 'the value'}: expected ${expected}, got ${shown(value)}`,
  )
}

const matches =
  (pattern: RegExp) =>
  (value: unknown): boolean =>
    typeof value === 'string' && pattern.test(value)

/** An address, in upper or lower case. */
export const ADDRESS: Shape<Hex> = plain('an address (0x and 40 hex digits)', matches(/^0x[0-9a-f]{40}$/i))
/** A word of 32 bytes. */
export const WORD: Shape<Hex> = plain('a word (0x and 64 hex digits)', matches(/^0x[0-9a-f]{64}$/i))
/** An amount in hex without leading zeros. */
export const QUANTITY: Shape<Hex> = plain(
  'a quantity (0x and hex digits without leading zeros)',
  matches(/^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/i),
)
/** Bytes in hex. */
export const BYTES: Shape<Hex> = plain(
  'bytes (0x and two hex digits a byte)',
  matches(/^0x(?:[0-9a-f]{2})*$/i),
)
export const TRUE: Shape<true> = plain('true', (value) => value === true)

/** A text, a number, a truth value, or lists and objects of them. */
export type Json = string | number | boolean | readonly Json[] | { readonly [name: string]: Json }

/** Nesting of lists and objects. */
const MOST_DEPTH = 32

function isJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isSafeInteger(value)
  if (depth >= MOST_DEPTH || typeof value !== 'object' || value === null) return false
  return Object.values(value).every((each) => isJson(each, depth + 1))
}

export const JSON_VALUE: Shape<Json> = plain(
  'a text, a whole number, true, false, or a list or object of them',
  (value) => isJson(value),
)

/** A text of at most some characters. */
export function textShape(most: number): Shape<string> {
  return plain(
    `a text of at most ${most} characters`,
    (value) => typeof value === 'string' && value.length <= most,
  )
}

/** A text that matches. */
export function patternShape(expected: string, pattern: RegExp): Shape<string> {
  return plain(expected, matches(pattern))
}

/** A whole number from 0 to `most`. */
export function countShape(most: number): Shape<number> {
  return plain(
    `a whole number up to ${most}`,
    (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= most,
  )
}

/** A list of at most `most` values. */
export function listShape<Value>(part: Shape<Value>, most: number): Shape<readonly Value[]> {
  const own = plain(`a list of at most ${most}`, (value) => Array.isArray(value) && value.length <= most)
  return shape((value, path) => {
    const fault = own.faultOf(value, path)
    if (fault !== undefined || !Array.isArray(value)) return fault
    return firstFault(value.map((each, i) => [part, each, `${path}[${i}]`] as const))
  })
}

type Part = readonly [shape: Shape<unknown>, value: unknown, path: string]

function firstFault(parts: readonly Part[]): string | undefined {
  for (const [part, value, path] of parts) {
    const fault = part.faultOf(value, path)
    if (fault !== undefined) return fault
  }
  return undefined
}

const OBJECT = plain('an object', isObject)

const memberPath = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

/** An object that holds values by keys, at most `most`. */
export function recordShape<Key extends string, Value>(
  key: Shape<Key>,
  part: Shape<Value>,
  most: number,
): Shape<Readonly<Record<Key, Value>>> {
  return shape((value, path) => {
    if (!isObject(value)) return OBJECT.faultOf(value, path)
    const entries = Object.entries(value)
    if (entries.length > most) return `${path}: expected at most ${most} members, got ${entries.length}`
    return firstFault(
      entries.flatMap(([name, each]): Part[] => {
        const where = memberPath(path, name)
        return [
          [key, name, where],
          [part, each, where],
        ]
      }),
    )
  })
}

type Shapes = Readonly<Record<string, Shape<unknown>>>
type ObjectOf<Needed extends Shapes, Possible extends Shapes> = {
  readonly [Name in keyof Needed]: Shaped<Needed[Name]>
} & { readonly [Name in keyof Possible]?: Shaped<Possible[Name]> }

/** An object with these members, with the second ones or without, and with no others. */
export function objectShape<Needed extends Shapes, Possible extends Shapes>(
  needed: Needed,
  possible: Possible,
): Shape<ObjectOf<Needed, Possible>> {
  const names = new Map<string, Shape<unknown>>([...Object.entries(needed), ...Object.entries(possible)])
  return shape((value, path) => {
    if (!isObject(value)) return OBJECT.faultOf(value, path)
    const unknown = Object.keys(value).find((name) => !names.has(name))
    if (unknown !== undefined) return `${memberPath(path, unknown)}: there is no such member`
    return firstFault(
      [...names]
        .filter(([name]) => name in value || name in needed)
        .map(([name, part]) => [part, value[name], memberPath(path, name)] as const),
    )
  })
}

/** A shape whose values have to pass a further check, which returns what is wrong with them. */
export function refined<Value>(
  base: Shape<Value>,
  wrong: (value: Value) => string | undefined,
): Shape<Value> {
  return shape((value, path) => {
    if (!base.isValue(value)) return base.faultOf(value, path)
    const fault = wrong(value)
    return fault === undefined ? undefined : `${path || 'the value'}: ${fault}`
  })
}

/** The value with its type. Throws an Error with the path of the first wrong member. */
export function shaped<Value>(expected: Shape<Value>, value: unknown): Value {
  if (expected.isValue(value)) return value
  throw new Error(expected.faultOf(value, ''))
}
