/** A method as a tool: its schema, its marks, and the parameters that an agent's arguments stand for. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { NodeError } from '../errors.ts'
import type { AnyMethod } from '../rpc/method.ts'
import { objectSchema } from './short-schema.ts'

/** They only add to the chain: an agent need not ask a person first. */
const ADDING =
  /^(eth_send|evm_(snapshot|mine|addSources|setAbi|increaseTime)|btc_(mine|faucet|pegIn|pegOut|flush)|fed_updateBridge)/

/** A second call with the same arguments changes nothing more. */
const SETTING = /_set[A-Z]|impersonat|_(addSources|dealERC)/i

/** A name without the dots, which tools may not have. */
export const toolName = ({ name }: Pick<AnyMethod, 'name'>): string => name.replaceAll('.', '_')

/** The arguments of a method as one JSON schema: the parameters by name. */
function inputSchema({ params }: AnyMethod): Tool['inputSchema'] {
  const shape = Object.fromEntries(
    params.map(({ name, parameter: { schema, absent } }) => [
      name,
      absent === undefined ? schema() : schema().meta({ default: absent.wire }).optional(),
    ]),
  )
  return objectSchema(z.strictObject(shape))
}

function annotations({ name, changesState }: AnyMethod): NonNullable<Tool['annotations']> {
  return {
    title: name,
    readOnlyHint: !changesState,
    openWorldHint: false,
    ...(changesState && { destructiveHint: !ADDING.test(name), idempotentHint: SETTING.test(name) }),
  }
}

/** Methods never change, and making the schemas of all tools takes tens of milliseconds. */
const made = new WeakMap<AnyMethod, Tool>()

/** The tool of a method: its name, its summary, its parameters by name. */
export function toolOf(method: AnyMethod): Tool {
  const known = made.get(method)
  if (known !== undefined) return known
  const tool = {
    name: toolName(method),
    description: method.summary,
    inputSchema: inputSchema(method),
    annotations: annotations(method),
  }
  made.set(method, tool)
  return tool
}

/** A short line about a method, for lists: `eth_getBalance(address, block?): Balance of …`. */
export function methodLine({ name, params, summary }: AnyMethod): string {
  const listed = params.map(({ name: own, parameter }) => (parameter.absent === undefined ? own : `${own}?`))
  return `${name}(${listed.join(', ')}): ${summary}`
}

function refuse(message: string): never {
  throw new NodeError('invalid-params', message)
}

/**
 * The parameters by position that arguments by name stand for; those left out in the middle have their default. The node
 * checks the values. Throws `invalid-params` naming an argument that is missing or not known.
 */
export function positionalParams(
  { name, params }: AnyMethod,
  args: Readonly<Record<string, unknown>>,
): unknown[] {
  const names = params.map((one) => one.name)
  const listed = names.length === 0 ? 'none' : names.join(', ')
  const unknown = Object.keys(args).find((key) => !names.includes(key))
  if (unknown !== undefined) refuse(`${name} has no argument ${unknown}: it takes ${listed}.`)
  const last = names.findLastIndex((own) => args[own] !== undefined)
  const required = params.findLastIndex(({ parameter }) => parameter.absent === undefined)
  return params.slice(0, Math.max(last, required) + 1).map(({ name: own, parameter: { absent } }) => {
    const value = args[own]
    if (value !== undefined) return value
    if (absent === undefined) refuse(`${name} needs the argument ${own}: it takes ${listed}.`)
    return absent.wire
  })
}
