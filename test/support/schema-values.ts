/** Values that fit a parameter, made of its schema: what a caller who reads the document would send. */
import fc from 'fast-check'
import { z } from 'zod'
import type { Parameter } from '../../src/rpc/parameter.ts'

/** The part of JSON schema that the parameters of this node use. */
interface JsonSchema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly type?: string | readonly string[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly prefixItems?: readonly JsonSchema[]
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly propertyNames?: JsonSchema
  readonly additionalProperties?: JsonSchema | boolean
}

/** Numbers up to this stand for amounts of work, so that their bounds are not tried. */
const MOST_WORK = 1_000_000

/** Names within names: beyond, a schema that refers to itself gives values that do not. */
const MAX_NAMES = 3

/** What a schema refers to, and how many names led to it. */
interface Root {
  readonly defs: Readonly<Record<string, JsonSchema>>
  readonly names: number
}

const anything = fc.jsonValue({ maxDepth: 2 })

function whole({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: JsonSchema): fc.Arbitrary<unknown> {
  const small = fc.integer({ min: Math.max(minimum, -3), max: Math.min(maximum, 3) })
  return maximum > MOST_WORK ? fc.oneof(small, fc.constantFrom(minimum, maximum)) : small
}

/** Texts by the pattern that they match. fast-check takes milliseconds to make one; the patterns of all methods are a few. */
const matching = new Map<string, fc.Arbitrary<string>>()

function textMatching(pattern: string): fc.Arbitrary<string> {
  const made = matching.get(pattern) ?? fc.stringMatching(new RegExp(pattern), { size: 'small' })
  matching.set(pattern, made)
  return made
}

function text({ pattern, minLength, maxLength = 40 }: JsonSchema): fc.Arbitrary<unknown> {
  if (pattern !== undefined) return textMatching(pattern)
  return fc.string({ ...(minLength !== undefined && { minLength }), maxLength: Math.min(maxLength, 40) })
}

function object(schema: JsonSchema, root: Root): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, fits(member, root)]),
  )
  const named = fc.record(members, { requiredKeys: [...required] })
  if (typeof additionalProperties !== 'object') return named
  const keys = propertyNames === undefined ? fc.string() : fits(propertyNames, root)
  const rest = fc.dictionary(keys as fc.Arbitrary<string>, fits(additionalProperties, root), { maxKeys: 3 })
  return fc.tuple(rest, named).map(([some, known]) => ({ ...some, ...known }))
}

function array({ items = {}, prefixItems, minItems = 0, maxItems = 4 }: JsonSchema, root: Root) {
  if (prefixItems !== undefined) return fc.tuple(...prefixItems.map((item) => fits(item, root)))
  return fc.array(fits(items, root), {
    minLength: minItems,
    maxLength: Math.max(minItems, Math.min(maxItems, 4)),
  })
}

function ofType(type: string | undefined, schema: JsonSchema, root: Root): fc.Arbitrary<unknown> {
  if (type === 'string') return text(schema)
  if (type === 'integer') return whole(schema)
  if (type === 'number') return fc.oneof(whole(schema), fc.constant(0.5))
  if (type === 'boolean') return fc.boolean()
  if (type === 'null') return fc.constant(null)
  if (type === 'array') return array(schema, root)
  return type === 'object' ? object(schema, root) : anything
}

/** Values of a schema. */
function fits(schema: JsonSchema, root: Root): fc.Arbitrary<unknown> {
  const { $ref, anyOf, enum: choices, type } = schema
  if ($ref !== undefined) {
    const named = root.defs[$ref.slice('#/$defs/'.length)]
    if (named === undefined) throw new Error(`the schema refers to ${$ref}, which it does not have`)
    return fits(named, { ...root, names: root.names + 1 })
  }
  if (anyOf !== undefined) {
    const plain = anyOf.filter((choice) => !JSON.stringify(choice).includes('$ref'))
    const choices = root.names > MAX_NAMES && plain.length > 0 ? plain : anyOf
    return fc.oneof(...choices.map((choice) => fits(choice, root)))
  }
  if (choices !== undefined) return fc.constantFrom(...choices)
  if ('const' in schema) return fc.constant(schema.const)
  const types = typeof type === 'object' ? type : [type]
  return fc.oneof(...types.map((one) => ofType(one, schema, root)))
}

/** Values that fit a parameter. */
export function valuesOf({ schema }: Pick<Parameter<unknown>, 'schema'>): fc.Arbitrary<unknown> {
  const made = z.toJSONSchema(schema(), { unrepresentable: 'any', io: 'input' }) as JsonSchema
  return fits(made, { defs: made.$defs ?? {}, names: 0 })
}
