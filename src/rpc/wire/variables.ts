/** Values of a contract's variables as JSON: by path, as `balances[0x…]`, texts, numbers, booleans, and lists and objects of them. */
import { z } from 'zod'
import type { VariableValue } from '../../abi/storage/value-type.ts'
import { toHex } from '../../encoding/hex.ts'
import { isObject } from '../../encoding/json-object.ts'
import { invalidParams } from '../../errors.ts'
import { type Parameter, refuse } from '../parameter.ts'

/** Values of one request, those within others included; each takes some 5 µs to write. */
const MOST_VALUES = 8192
/** Nesting of lists and objects. */
const MAX_DEPTH = 32

const ValueSchema: z.ZodType<VariableValue> = z
  .union([
    z.string(),
    z.boolean(),
    z.int(),
    z.array(z.lazy(() => ValueSchema)),
    z.record(
      z.string(),
      z.lazy(() => ValueSchema),
    ),
  ])
  .meta({
    id: 'VariableValue',
    description:
      'The value of a variable: integers in decimal or hex text or as JSON integers, bytes and addresses in hex, structs and mappings as objects, arrays as lists',
  })

/** Reads values, and counts them. */
class ValueReader {
  #count = 0

  read(value: unknown, name: string, depth = 0): VariableValue {
    this.#count += 1
    if (this.#count > MOST_VALUES) refuse(name, `at most ${MOST_VALUES} values`)
    if (typeof value === 'string' || typeof value === 'boolean') return value
    // Not in JSON; a program in the node's process has them.
    if (typeof value === 'bigint' || value instanceof Uint8Array) return value
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
    if (typeof value === 'number') refuse(name, 'a whole number up to 2^53 - 1, or a larger one as text')
    if (!Array.isArray(value) && !isObject(value))
      refuse(name, 'a text, a number, a boolean, a list or an object')
    if (depth >= MAX_DEPTH) refuse(name, `values that are nested at most ${MAX_DEPTH} deep`)
    if (Array.isArray(value)) return value.map((each, i) => this.read(each, `${name}[${i}]`, depth + 1))
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, this.read(each, `${name}[${key}]`, depth + 1)]),
    )
  }
}

/** Values within values, and themselves. */
function countValues(value: VariableValue): number {
  if (typeof value !== 'object' || value instanceof Uint8Array) return 1
  return Object.values(value).reduce<number>((sum, each) => sum + countValues(each), 1)
}

/** Throws `invalid-params` for more values in several objects than one may have. */
export function requireFewValues(
  variables: Iterable<ReadonlyMap<string, VariableValue>>,
  path: string,
): void {
  let count = 0
  for (const values of variables) for (const value of values.values()) count += countValues(value)
  if (count > MOST_VALUES) throw invalidParams(`${path}: the variables have more than ${MOST_VALUES} values`)
}

function readVariables(value: unknown, name: string): ReadonlyMap<string, VariableValue> {
  if (!isObject(value)) refuse(name, 'an object of values by variable')
  const reader = new ValueReader()
  return new Map(Object.entries(value).map(([path, each]) => [path, reader.read(each, `${name}.${path}`)]))
}

/** A value in an answer. */
export type RpcVariable =
  | string
  | boolean
  | readonly RpcVariable[]
  | { readonly [member: string]: RpcVariable }

/** Integers in decimal text, bytes and addresses in hex, structs as objects, arrays as lists. */
export const ShownValueSchema: z.ZodType<RpcVariable> = z
  .union([
    z.string(),
    z.boolean(),
    z.array(z.lazy(() => ShownValueSchema)),
    z.record(
      z.string(),
      z.lazy(() => ShownValueSchema),
    ),
  ])
  .meta({
    id: 'ShownVariable',
    description:
      'The value of a variable: integers in decimal text, bytes and addresses in hex, structs as objects, arrays as lists',
  })

function toRpcVariable(value: VariableValue): RpcVariable {
  if (typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString()
  if (value instanceof Uint8Array) return toHex(value)
  if (isList(value)) return value.map(toRpcVariable)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toRpcVariable(each)]))
}

const isList = (value: VariableValue): value is readonly VariableValue[] => Array.isArray(value)

/** Values by path. */
export function toRpcVariables(values: ReadonlyMap<string, VariableValue>): Record<string, RpcVariable> {
  return Object.fromEntries([...values].map(([path, value]) => [path, toRpcVariable(value)]))
}

/** Values by path, in the order sent. Whether they fit the contract is checked where they are written. */
export const Variables: Parameter<ReadonlyMap<string, VariableValue>> = {
  schema: () => z.record(z.string(), ValueSchema),
  read: readVariables,
}
