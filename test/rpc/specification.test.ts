/** Every method that the specification names is served, or refused with a message that gives the reason. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'
import { namesOf } from '../../src/rpc/method-names.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { fixture } from '../support/fixture.ts'

const { served, refused } = fixture<{ served: string[]; refused: Record<string, string[]> }>(
  'methods/specification.json',
)

const REASONS: Readonly<Record<string, string>> = {
  deprecated: 'the db_ methods are deprecated',
  compilers: 'the node holds no compilers',
  messaging: 'the messaging protocol is not supported',
}

let node: Node
beforeAll(async () => {
  node = await createNode()
})
afterAll(() => node.close())

describe('the methods of the specification', () => {
  it.each(served)('%s is served', (name) => {
    expect(METHODS.flatMap(namesOf)).toContain(name)
  })

  it.each(Object.entries(refused).flatMap(([reason, names]) => names.map((name) => [name, reason] as const)))(
    '%s is refused: %s',
    async (name, reason) => {
      for (const params of [[], ['0x1']]) {
        await expect(node.request({ method: name, params })).rejects.toMatchObject({
          code: -32601,
          message: `the method ${name} does not exist/is not available: ${REASONS[reason]}`,
        })
      }
    },
  )
})
