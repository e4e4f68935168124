/** Every parameter of every method, given what it does not expect: an answer each, and never a failure of the node. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AnyMethod } from '../../src/rpc/method.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { valuesOf } from '../support/schema-values.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { type Conversation, converse } from './conversation.ts'
import { HOSTILE, spoiled } from './hostile-values.ts'
import { expectCleanPrototypes, faultOf } from './reply-check.ts'

// Hundreds of passphrases are tried; to stretch each like a real one would take minutes.
vi.mock(import('../../src/engine/wallet/encrypted-key.ts'), async (original) => ({
  ...(await original()),
  STANDARD_COST: { n: 2, r: 1, p: 1 },
}))

const SEED = 20_240_229

/** Methods that are open under other presets only. */
const UNOPENED = METHODS.filter(({ presets }) => presets !== undefined).map(({ name }) => `+${name}`)

/** Parameters that fit a method's schemas. */
function fittingParams({ params }: AnyMethod): fc.Arbitrary<readonly unknown[]> {
  return fc.tuple(...params.map(({ parameter }) => valuesOf(parameter)))
}

/** What a method is called with by those who mean no harm: an example, and what its schemas describe. */
function goodParams(method: AnyMethod): (readonly unknown[])[] {
  const made = fc.sample(fittingParams(method), { numRuns: 1, seed: SEED })
  return [...method.examples.slice(0, 1).map(({ params }) => params), ...made]
}

/** All calls of a method with one thing wrong in its parameters, each once. */
function badCalls(method: AnyMethod): readonly string[] {
  const texts = new Set<string>()
  for (const good of goodParams(method)) {
    for (const hostile of HOSTILE) {
      for (const [at, value] of good.entries()) {
        for (const bad of spoiled(value, hostile)) texts.add(JSON.stringify(good.with(at, bad)))
      }
    }
  }
  return [...texts]
}

/** Calls with too few parameters, too many, and what is no list of them. */
function miscountedCalls({ params }: AnyMethod): readonly string[] {
  const required = params.filter(({ parameter }) => parameter.absent === undefined).length
  const counts = [params.length + 1, params.length + 1000, ...(required > 0 ? [0, required - 1] : [])]
  const lists = counts.map((count) => JSON.stringify(new Array(count).fill(null)))
  return [...lists, '{"name":"value"}', ...(required > 0 ? ['{}', 'null'] : [])]
}

function faults(calls: readonly string[], replies: readonly string[]): string[] {
  return replies.flatMap((reply, i) => {
    const fault = faultOf(reply)
    return fault === undefined ? [] : [`${calls[i]?.slice(0, 400)} ${fault}: ${reply.slice(0, 400)}`]
  })
}

describe.each([...new Set(METHODS.map(({ namespace }) => namespace))])('the methods of %s', (namespace) => {
  let served: ServedNode
  let conversation: Conversation
  beforeAll(async () => {
    served = await servedNode({ methods: UNOPENED, bitcoin: ['btc', 'fed'].includes(namespace) })
    conversation = await converse(served.wsUrl)
  })
  afterAll(async () => {
    conversation.close()
    await served.close()
  })

  const methods = METHODS.filter((method) => method.namespace === namespace)
  it.each(methods.map((method) => [method.name, method] as const))('%s', async (name, method) => {
    const calls = badCalls(method)
    expect(faults(calls, await conversation.callAll(name, calls))).toEqual([])
    const miscounted = miscountedCalls(method)
    for (const reply of await conversation.callAll(name, miscounted)) {
      expect(JSON.parse(reply).error.code).toBe(-32602)
    }
    for (const params of ['"0x0"', '7', 'true']) {
      const [reply = ''] = await conversation.callAll(name, [params])
      expect(JSON.parse(reply).error.code).toBe(-32600)
    }
    expectCleanPrototypes()
  })
})

describe('any call', () => {
  let served: ServedNode
  let conversation: Conversation
  beforeAll(async () => {
    served = await servedNode({ methods: UNOPENED })
    conversation = await converse(served.wsUrl)
  })
  afterAll(async () => {
    conversation.close()
    await served.close()
  })

  const callOf = (method: AnyMethod) =>
    fc
      .oneof(
        fittingParams(method),
        fc.array(fc.oneof(fc.jsonValue(), fc.constantFrom(...HOSTILE)), { maxLength: 4 }),
      )
      .map((params) => ({ name: method.name, params: JSON.stringify(params) }))

  it('is answered, with valid and with invalid parameters', async () => {
    const property = fc.asyncProperty(fc.oneof(...METHODS.map(callOf)), async ({ name, params }) => {
      expect(faults([params], await conversation.callAll(name, [params]))).toEqual([])
    })
    await fc.assert(property, { numRuns: 300 })
    expect(await served.call('net_version')).toBe('33')
    expectCleanPrototypes()
  })
})
