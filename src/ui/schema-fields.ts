/** The parameters of a method as fields of a form, by their JSON schemas, and what a user typed as JSON. */
import {
  type Check,
  type Checked,
  either,
  isAnything,
  isFlag,
  isText,
  listOf,
  objectOf,
  recordOf,
} from './checks.ts'

/** How a parameter is entered: as a choice, as text, or as JSON. */
export interface SchemaField {
  readonly name: string
  readonly isRequired: boolean
  readonly kind: 'choice' | 'text' | 'json'
  readonly choices: readonly string[]
  /** Digits are a JSON number. */
  readonly takesNumbers: boolean
  /** The schema in a few words. */
  readonly hint: string
}

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly title?: string
  readonly description?: string
}

const isSchema: Check<Schema> = objectOf(
  {},
  {
    $ref: isText,
    type: either(isText, listOf(isText)),
    enum: listOf(isAnything),
    const: isAnything,
    anyOf: (value): value is readonly Schema[] => areSchemas(value),
    oneOf: (value): value is readonly Schema[] => areSchemas(value),
    title: isText,
    description: isText,
  },
)
const areSchemas = listOf(isSchema)

const isMethod = objectOf(
  {
    name: isText,
    params: listOf(objectOf({ name: isText, schema: isSchema }, { required: isFlag, description: isText })),
  },
  { summary: isText },
)
/** A method of an OpenRPC document. */
export type OpenRpcMethod = Checked<typeof isMethod>

/** The part of an OpenRPC document that pages use. */
export const isOpenRpc = objectOf(
  { methods: listOf(isMethod) },
  { components: objectOf({}, { schemas: recordOf(isText, isSchema) }) },
)
export type OpenRpc = Checked<typeof isOpenRpc>

const MOST_CHOICES = 60

function resolve(schema: Schema, document: OpenRpc, depth = 0): Schema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '')?.[1]
  const found = name === undefined ? undefined : document.components?.schemas?.[name]
  return found === undefined || depth > 8 ? schema : resolve(found, document, depth + 1)
}

/** The forms that a value may have. */
function formsOf(schema: Schema, document: OpenRpc, depth = 0): readonly Schema[] {
  const resolved = resolve(schema, document)
  const parts = resolved.anyOf ?? resolved.oneOf
  return parts === undefined || depth > 4
    ? [resolved]
    : parts.flatMap((part) => formsOf(part, document, depth + 1))
}

const FLAGS = ['true', 'false'] as const

function choicesOf(forms: readonly Schema[]): readonly string[] | undefined {
  // Flags that callers may send as text or number as well.
  if (forms.some((form) => form.enum?.includes(true) && form.enum.includes(false))) return FLAGS
  const values: string[] = []
  for (const form of forms) {
    if (form.type === 'boolean') values.push(...FLAGS)
    else if (form.enum !== undefined) values.push(...form.enum.map((value) => String(value)))
    else if (form.const !== undefined) values.push(String(form.const))
    else if (form.type !== 'null') return undefined
  }
  return values.length > 0 && values.length <= MOST_CHOICES ? [...new Set(values)] : undefined
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'null'])

/** The fields of a method. */
export function fieldsOf(method: OpenRpcMethod, document: OpenRpc): readonly SchemaField[] {
  return method.params.map(({ name, required, description, schema }) => {
    const forms = formsOf(schema, document)
    const types = new Set(forms.flatMap(({ type = 'any' }) => type))
    const choices = choicesOf(forms)
    const isText = [...types].every((type) => SCALARS.has(type))
    const own = schema.description ?? forms.find((form) => form.description)?.description
    return {
      name,
      isRequired: required === true,
      kind: choices !== undefined ? 'choice' : isText ? 'text' : 'json',
      choices: choices ?? [],
      takesNumbers: types.has('number') || types.has('integer'),
      hint: description ?? own ?? [...types].join(' or '),
    }
  })
}

/** A typed text as the value of a parameter: JSON where it is JSON, text otherwise. */
function typedValue({ kind, name, takesNumbers }: SchemaField, text: string): unknown {
  const plain = text.trim()
  if (kind === 'text') {
    // Quoted text stays possible, for texts such as " a" or "null".
    if (/^".*"$/s.test(plain) || plain === 'null') return JSON.parse(plain)
    return takesNumbers && /^-?\d{1,15}$/.test(plain) ? Number(plain) : plain
  }
  try {
    return JSON.parse(plain)
  } catch {
    if (/^[[{"]/.test(plain)) throw new Error(`${name}: this is not JSON`)
    return plain
  }
}

/**
 * The parameters of a call: those after the last one that was entered are left out. Throws an Error with a message for
 * the user.
 */
export function parametersOf(fields: readonly SchemaField[], texts: readonly string[]): unknown[] {
  let count = fields.length
  while (count > 0 && (texts[count - 1] ?? '').trim() === '') count--
  return fields.slice(0, count).map((field, i) => {
    const text = texts[i] ?? ''
    if (text.trim() === '') {
      if (field.isRequired) throw new Error(`${field.name} is missing`)
      return null
    }
    return typedValue(field, text)
  })
}
