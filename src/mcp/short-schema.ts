/**
 * JSON schemas as short as an agent needs them: it reads those of all tools before it begins, and the node checks every
 * value itself. Limits and patterns are left out, and null; forms of one type become one, and a number that may be text
 * as well is text.
 */
import { z } from 'zod'

/** A JSON schema. */
export type JsonSchema = Record<string, unknown>

/** What limits values of a type; descriptions say in words what matters. */
const LIMITS: ReadonlySet<string> = new Set([
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'maxItems',
  'propertyNames',
  '$schema',
])

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The alternatives of a schema; those of alternatives too. */
function alternativesOf(schema: unknown): JsonSchema[] {
  if (!isSchema(schema)) return []
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf)) return [schema]
  return anyOf.flatMap(alternativesOf).map((one) => ({ ...rest, ...one }))
}

/** The names that a schema is limited to, or has as examples. */
function namesIn({ enum: names, const: name, examples }: JsonSchema): readonly unknown[] {
  const listed = names ?? examples
  return Array.isArray(listed) ? listed : name === undefined ? [] : [name]
}

const isClosed = (schema: JsonSchema): boolean => schema.enum !== undefined || schema.const !== undefined

/** Two schemas of one scalar type as one; names are examples where other values are accepted too. */
function merged(one: JsonSchema, other: JsonSchema): JsonSchema {
  const { enum: _, const: __, examples: ___, ...rest } = { ...other, ...one }
  const names = [...new Set([...namesIn(one), ...namesIn(other)])]
  if (names.length === 0) return rest
  return isClosed(one) && isClosed(other) ? { ...rest, enum: names } : { ...rest, examples: names }
}

const isNumber = ({ type }: JsonSchema): boolean => type === 'integer' || type === 'number'

/** The alternatives without null, with one for each type of scalars, and without numbers where a text does as well. */
function united(alternatives: readonly JsonSchema[]): JsonSchema[] {
  const kept: JsonSchema[] = []
  for (const schema of alternatives.map(shortSchema)) {
    const isScalar = ['string', 'boolean', 'integer', 'number'].includes(String(schema.type))
    const at = isScalar ? kept.findIndex(({ type }) => type === schema.type) : -1
    if (at === -1) kept.push(schema)
    else kept[at] = merged(kept[at] ?? {}, schema)
  }
  const others = kept.filter(({ type }) => type !== 'null')
  const isText = others.some(({ type }) => type === 'string' || type === 'boolean')
  const rest = isText ? others.filter((schema) => !isNumber(schema)) : others
  return rest.length === 0 ? kept : rest
}

/** The short form of a schema; it accepts what the schema does, null and such numbers aside, and more. */
export function shortSchema(schema: JsonSchema): JsonSchema {
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 1) {
    const { anyOf: _, ...own } = schema
    const kept = united(alternatives)
    const [only] = kept
    const shared = Object.fromEntries(Object.entries(own).filter(([key]) => !LIMITS.has(key)))
    if (kept.length === 1) return { ...shared, ...only }
    const bare = kept.map((one) =>
      Object.fromEntries(Object.entries(one).filter(([key, value]) => shared[key] !== value)),
    )
    return { ...shared, anyOf: bare }
  }
  // JSON as some clients write it has truth values in texts.
  if (namesIn(schema).includes(true) && namesIn(schema).includes(false)) return { type: 'boolean' }
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !LIMITS.has(key))
      .map(([key, value]) => [key, shortMember(key, value)]),
  )
}

function shortMember(key: string, value: unknown): unknown {
  if ((key === 'properties' || key === '$defs') && isSchema(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, own]) => [name, isSchema(own) ? shortSchema(own) : own]),
    )
  }
  const holdsOne = key === 'items' || key === 'additionalProperties'
  if (holdsOne && isSchema(value)) return shortSchema(value)
  return Array.isArray(value) && (key === 'prefixItems' || key === 'allOf' || key === 'oneOf')
    ? value.map((own) => (isSchema(own) ? shortSchema(own) : own))
    : value
}

/** The short JSON schema of the object that a zod schema reads. */
export function objectSchema(schema: z.ZodType): JsonSchema & { readonly type: 'object' } {
  const made: JsonSchema = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })
  return { ...shortSchema(made), type: 'object' }
}
