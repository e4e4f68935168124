/** The schemas of tools accept what the methods accept, and are schemas. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { groupOf } from '../../src/mcp/groups.ts'
import { toolOf } from '../../src/mcp/method-tool.ts'
import { objectSchema } from '../../src/mcp/short-schema.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { argumentsOf } from '../support/agent.ts'

/** What a short schema has no form for: null, and numbers where texts do as well. */
const isPlain = (value: unknown): boolean => !/:(null|-?\d)|[[,](null|-?\d)/.test(JSON.stringify(value))

const methods = METHODS.filter((method) => groupOf(method) !== undefined)

describe('the schema of a tool', () => {
  it.each(methods.map((method) => [method.name, method] as const))('%s', (_, method) => {
    const { inputSchema } = toolOf(method)
    const schema = z.fromJSONSchema(inputSchema as Parameters<typeof z.fromJSONSchema>[0])
    for (const example of method.examples) {
      const args = argumentsOf(method, example)
      if (isPlain(args)) expect(schema.safeParse(args).error, JSON.stringify(args)).toBeUndefined()
    }
    expect(JSON.stringify(inputSchema)).not.toContain('"anyOf":[]')
  })

  it('has one form for each type', () => {
    const quantity = z.union([z.string().regex(/^0x/).describe('hex'), z.int()])
    const shape = {
      amount: quantity.nullable(),
      block: z.union([z.enum(['latest']), z.string().regex(/^0x/)]),
      kind: z.union([z.literal('a'), z.literal('b')]),
      on: z.enum({ yes: 'true', no: 'false' }).or(z.boolean()),
      nothing: z.null(),
    }
    expect(objectSchema(z.strictObject(shape)).properties).toEqual({
      amount: { type: 'string', description: 'hex' },
      block: { type: 'string', examples: ['latest'] },
      kind: { type: 'string', enum: ['a', 'b'] },
      on: { anyOf: [{ type: 'string', enum: ['true', 'false'] }, { type: 'boolean' }] },
      nothing: { type: 'null' },
    })
  })
})
