/** Every example of every method holds on a fresh local chain, and every result is of its schema. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'

let node: Node
beforeAll(async () => {
  node = await createNode()
})
afterAll(() => node.close())

const examples = METHODS.flatMap((method) => method.examples.map((example) => ({ method, example })))

describe('the examples in the methods’ own words', () => {
  it('are there for most methods', () => {
    expect(new Set(examples.map(({ method }) => method.name)).size).toBeGreaterThan(METHODS.length / 2)
  })

  it.each(
    examples.map(
      ({ method, example }) => [`${method.name} ${JSON.stringify(example.params)}`, method, example] as const,
    ),
  )('%s', async (_, method, example) => {
    const result = await node.request({ method: method.name, params: example.params })
    expect(result).toEqual(example.result)
    expect(method.result.safeParse(result).error).toBeUndefined()
  })
})
