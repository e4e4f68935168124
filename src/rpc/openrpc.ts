/** The method list as an OpenRPC document; everything in it derives from the method values. */
import { z } from 'zod'
import type { AnyMethod } from './method.ts'

/** A JSON value of the document. */
type Json = Record<string, unknown>

function jsonSchema(schema: z.ZodType): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as Json
  return rest
}

function describeMethod(method: AnyMethod): Json {
  return {
    name: method.name,
    ...(method.aliases.length > 0 && { 'x-aliases': method.aliases }),
    summary: method.summary,
    tags: [{ name: method.namespace }],
    paramStructure: 'by-position',
    params: method.params.map(({ name, parameter: { schema, absent } }) => ({
      name,
      required: absent === undefined,
      schema: absent === undefined ? jsonSchema(schema) : { ...jsonSchema(schema), default: absent.wire },
    })),
    result: { name: 'result', schema: jsonSchema(method.result) },
    examples: method.examples.map(({ params, result }, i) => ({
      name: `${method.name} ${i + 1}`,
      params: params.map((value, at) => ({ name: method.params[at]?.name ?? String(at), value })),
      result: { name: 'result', value: result },
    })),
  }
}

/** Methods never change, and a document is made of many. */
const entries = new WeakMap<AnyMethod, Json>()

function entryOf(method: AnyMethod): Json {
  const known = entries.get(method)
  if (known !== undefined) return known
  const made = describeMethod(method)
  entries.set(method, made)
  return made
}

/** An OpenRPC document of these methods; `release` is the version of this software. */
export function openRpcDocument(methods: readonly AnyMethod[], release: string): Json {
  return {
    openrpc: '1.2.6',
    info: { title: 'Tandem JSON-RPC', version: release },
    methods: methods.map(entryOf),
  }
}
