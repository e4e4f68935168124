/** The tools of a caller: methods of the allowed groups, and three for all else (find, call, read on). */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { NodeError } from '../errors.ts'
import type { AnyMethod } from '../rpc/method.ts'
import { methodsByName } from '../rpc/method-table.ts'
import type { Access } from './access.ts'
import { MOST_LENGTH, USUAL_LENGTH } from './answers.ts'
import { groupOf, isTool } from './groups.ts'
import { methodLine, positionalParams, toolName, toolOf } from './method-tool.ts'
import { objectSchema } from './short-schema.ts'

/** Methods that one search lists. */
const MOST_FOUND = 20

const Length = z
  .int()
  .min(1000)
  .max(MOST_LENGTH)
  .optional()
  .describe(`characters of one part of the answer (default: ${USUAL_LENGTH})`)

const FindArguments = z.strictObject({
  words: z.string().max(200).describe('words of the name or the description, such as "storage proof"'),
})
const CallArguments = z.strictObject({
  method: z.string().max(100).describe('name of the method, such as eth_getProof'),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('its parameters by name'),
  length: Length,
})
const ReadArguments = z.strictObject({
  cursor: z.string().max(100).describe('the cursor that the part before named'),
  length: Length,
})

/** Reads the arguments of one of the three. Throws `invalid-params` naming what is wrong. */
function argumentsAs<T>(schema: z.ZodType<T>, given: unknown): T {
  const read = schema.safeParse(given ?? {})
  if (read.success) return read.data
  const [issue] = read.error.issues
  const place = issue?.path.join('.') ?? ''
  throw new NodeError('invalid-params', `Invalid ${place === '' ? 'arguments' : place}: ${issue?.message}.`)
}

/** The tools of one caller. */
export class Tools {
  readonly #access: Access
  /** The methods of the allowed groups. */
  readonly #methods: readonly AnyMethod[]
  readonly #byName: ReadonlyMap<string, AnyMethod>

  constructor(access: Access) {
    this.#access = access
    this.#methods = access.methods.filter((method) => this.#isAllowed(method))
    this.#byName = methodsByName(this.#methods)
  }

  /** The methods that the caller may call. */
  get methods(): readonly AnyMethod[] {
    return this.#methods
  }

  list(): Tool[] {
    return [...this.#methods.filter(isTool).map(toolOf), ...this.#general()]
  }

  /** Runs a tool. A refusal is a result that says so; throws `NodeError` for a tool that does not exist. */
  async run(name: string, args: Readonly<Record<string, unknown>>): Promise<CallToolResult> {
    try {
      return await this.#run(name, args)
    } catch (error) {
      if (!(error instanceof NodeError) || error.kind === 'method-not-found') throw error
      return { content: [{ type: 'text', text: error.message }], isError: true }
    }
  }

  async #run(name: string, args: Readonly<Record<string, unknown>>): Promise<CallToolResult> {
    if (name === 'find_methods') return this.#find(argumentsAs(FindArguments, args))
    if (name === 'call_method') {
      const given = argumentsAs(CallArguments, args)
      return this.#call(this.#methodNamed(given.method), given.arguments, given.length)
    }
    if (name === 'read_more') {
      const { cursor, length } = argumentsAs(ReadArguments, args)
      return resultOf(this.#access.answers.next(cursor, this.#access.owner, length))
    }
    const method = this.#access.methods.find((one) => isTool(one) && toolName(one) === name)
    if (method === undefined) throw new NodeError('method-not-found', `There is no tool ${name}.`)
    return this.#call(this.#allowed(method), args)
  }

  async #call(
    method: AnyMethod,
    args: Readonly<Record<string, unknown>>,
    length?: number,
  ): Promise<CallToolResult> {
    const { node, answers, owner } = this.#access
    const outcome = await node.call(method.name, positionalParams(method, args))
    const isError = 'error' in outcome
    const text = JSON.stringify(isError ? outcome.error : outcome.result) ?? 'null'
    return { ...resultOf(answers.first(text, owner, length)), ...(isError && { isError }) }
  }

  #find({ words }: z.infer<typeof FindArguments>): CallToolResult {
    const wanted = words.toLowerCase().split(/\s+/)
    const found = this.#methods.filter((method) => {
      const line = methodLine(method).toLowerCase()
      return wanted.every((word) => line.includes(word))
    })
    const listed = found.slice(0, MOST_FOUND).map((method) => {
      const { inputSchema } = toolOf(method)
      return found.length <= 3 ? `${methodLine(method)}\n${JSON.stringify(inputSchema)}` : methodLine(method)
    })
    const left = found.length - listed.length
    if (left > 0) listed.push(`${left} more: search with further words.`)
    const text = listed.length === 0 ? 'No method that you may call has these words.' : listed.join('\n')
    return { content: [{ type: 'text', text }] }
  }

  /** Throws `invalid-params` for a method that does not exist or that is not open. */
  #methodNamed(name: string): AnyMethod {
    const own = this.#byName.get(name)
    if (own !== undefined) return own
    const closed = methodsByName(this.#access.methods).get(name)
    if (closed !== undefined) return this.#allowed(closed)
    throw new NodeError('invalid-params', `There is no method ${name}: search by find_methods.`)
  }

  /** Throws `invalid-params` for a method of a group that is not allowed. */
  #allowed(method: AnyMethod): AnyMethod {
    if (this.#isAllowed(method)) return method
    const group = groupOf(method)
    if (group === undefined) {
      throw new NodeError('invalid-params', `${method.name} is not for agents: it works with secrets.`)
    }
    const message = `${method.name} is in the group ${group}, which is not allowed: ${this.#access.howToAllow(group)}.`
    throw new NodeError('invalid-params', message)
  }

  #isAllowed(method: AnyMethod): boolean {
    const group = groupOf(method)
    return group !== undefined && this.#access.groups.has(group)
  }

  #general(): Tool[] {
    const mayChange = this.#methods.some(({ changesState }) => changesState)
    const reading = { readOnlyHint: true, openWorldHint: false }
    return [
      {
        name: 'find_methods',
        description: `Finds JSON-RPC methods that are not tools of their own, among the ${this.#methods.length} that you may call; with their parameters where at most three are found.`,
        inputSchema: objectSchema(FindArguments),
        annotations: { title: 'Find methods', ...reading },
      },
      {
        name: 'call_method',
        description:
          'Calls a JSON-RPC method by its name, with its parameters by name. Find it by find_methods first.',
        inputSchema: objectSchema(CallArguments),
        annotations: {
          title: 'Call a method',
          openWorldHint: false,
          readOnlyHint: !mayChange,
          ...(mayChange && { destructiveHint: true, idempotentHint: false }),
        },
      },
      {
        name: 'read_more',
        description: 'Returns the next part of an answer that was cut, by the cursor that stands at its end.',
        inputSchema: objectSchema(ReadArguments),
        annotations: { title: 'Read more of an answer', ...reading },
      },
    ]
  }
}

function resultOf({ text, rest }: ReturnType<Access['answers']['first']>): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text }]
  if (rest !== undefined) {
    const how =
      rest.cursor === undefined
        ? 'The answer is too long to be kept: ask for less.'
        : `Call read_more with the cursor ${rest.cursor}`
    content.push({ type: 'text', text: `The answer is cut: ${rest.characters} characters are left. ${how}` })
  }
  return { content }
}
