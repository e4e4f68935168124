/** The method list as an OpenRPC document (spec.open-rpc.org); everything in it derives from the method values. */
import { z } from 'zod'
import type { RuleTable } from '../chain/rule-table.ts'
import { ERROR_CODES } from './error-codes.ts'
import { type AnswerKind, ERROR_MEANINGS, OF_ANY_CALL } from './error-meanings.ts'
import type { AnyMethod } from './method.ts'

/** A JSON value of the document. */
type Json = Record<string, unknown>

/** The description of one method, and the named schemas that it refers to. */
interface Entry {
  readonly described: Json
  readonly schemas: Json
}

const DESCRIPTION =
  'JSON-RPC 2.0 over HTTP (POST to any path) and WebSocket, parameters by position. Beside the errors that a method ' +
  'names, any call may get those of the components MethodNotFound, Unauthorized, RateLimited, Overloaded and Internal, ' +
  'and a message that is no call ParseError or InvalidRequest.'

/** The errors of any call that each method names: those that depend on its parameters. */
const NAMED_ALWAYS: readonly AnswerKind[] = ['invalid-params', 'limit-exceeded']

/** `block-not-found` → `BlockNotFound`. */
function componentName(kind: AnswerKind): string {
  return kind.replace(/(^|-)([a-z])/g, (_, _dash, letter: string) => letter.toUpperCase())
}

/** A schema of the document; named schemas go to `schemas` and are referred to. */
function jsonSchema(schema: z.ZodType, schemas: Json): Json {
  const made = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as Json
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = JSON.parse(JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/'))
  Object.assign(schemas, $defs)
  return rest
}

/** The errors of a method. The standard wants each code once, so kinds that share one are described together. */
function errorsOf(method: AnyMethod): Json[] {
  const byCode = new Map<number, AnswerKind[]>()
  for (const kind of new Set([...NAMED_ALWAYS, ...method.errors])) {
    const code = ERROR_CODES[kind]
    byCode.set(code, [...(byCode.get(code) ?? []), kind])
  }
  return [...byCode].map(([code, kinds]) => {
    const [kind] = kinds
    return kinds.length === 1 && kind !== undefined
      ? { $ref: `#/components/errors/${componentName(kind)}` }
      : { code, message: kinds.map((shared) => ERROR_MEANINGS[shared]).join(' Or: ') }
  })
}

function describeMethod(method: AnyMethod): Entry {
  const schemas: Json = {}
  const described = {
    name: method.name,
    ...(method.aliases.length > 0 && { 'x-aliases': method.aliases }),
    ...(method.changesState && { 'x-changes-state': true }),
    summary: method.summary,
    tags: [{ name: method.namespace }],
    paramStructure: 'by-position',
    params: method.params.map(({ name, parameter: { schema, absent } }) => ({
      name,
      required: absent === undefined,
      schema:
        absent === undefined
          ? jsonSchema(schema(), schemas)
          : { ...jsonSchema(schema(), schemas), default: absent.wire },
    })),
    result: { name: 'result', schema: jsonSchema(method.result(), schemas) },
    errors: errorsOf(method),
    examples: method.examples.map(({ after, params, result, varies }, i) => ({
      name: `${method.name} ${i + 1}`,
      ...(after && { summary: `After ${after.map((call) => JSON.stringify(call)).join(', ')}` }),
      ...(varies && { description: 'The answer is another one each time, or on each machine.' }),
      params: params.map((value, at) => ({ name: method.params[at]?.name ?? String(at), value })),
      result: { name: 'result', value: result },
    })),
  }
  return { described, schemas }
}

/** Methods never change, and a document is made of many. */
const entries = new WeakMap<AnyMethod, Entry>()

function entryOf(method: AnyMethod): Entry {
  const known = entries.get(method)
  if (known !== undefined) return known
  const made = describeMethod(method)
  entries.set(method, made)
  return made
}

function errorComponents(methods: readonly AnyMethod[]): Json {
  const always: readonly AnswerKind[] = ['parse-error', 'invalid-request', ...OF_ANY_CALL]
  const kinds = new Set([...always, ...methods.flatMap(({ errors }) => errors)])
  return Object.fromEntries(
    [...kinds].map((kind) => [
      componentName(kind),
      { code: ERROR_CODES[kind], message: ERROR_MEANINGS[kind] },
    ]),
  )
}

/**
 * An OpenRPC document of these methods; `release` is the version of this software, `rules` those that the chain has
 * other than its network.
 */
export function openRpcDocument(methods: readonly AnyMethod[], release: string, rules: RuleTable = {}): Json {
  const made = methods.map(entryOf)
  return {
    openrpc: '1.3.2',
    info: {
      title: 'Tandem JSON-RPC',
      version: release,
      description: DESCRIPTION,
      ...(Object.keys(rules).length > 0 && { 'x-rules': rules }),
    },
    methods: made.map(({ described }) => described),
    components: {
      schemas: Object.assign({}, ...made.map(({ schemas }) => schemas)),
      errors: errorComponents(methods),
    },
  }
}
