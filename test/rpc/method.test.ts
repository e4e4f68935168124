/** The proof that runs beside every test: what a method answers is what it describes. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { method } from '../../src/rpc/method.ts'
import { fakeEngine } from '../support/fake-engine.ts'
import { takeBroken } from '../support/method-proof.ts'
import { ask, dispatcherOf } from '../support/rpc.ts'

const parts = { params: {}, examples: [], summary: 'Answers.' }
const early = method({ ...parts, name: 'a_b', result: z.literal(1), run: () => 2 as 1 })
const late = method({ ...parts, name: 'a_c', result: z.literal(1), run: async () => 2 as 1 })
const right = method({ ...parts, name: 'a_d', result: z.literal(1), run: async () => 1 as const })

it('notices an answer that its schema does not have, at once or later', async () => {
  const dispatcher = dispatcherOf(fakeEngine().engine, {}, { methods: [early, late, right] })
  for (const name of ['a_b', 'a_c', 'a_d']) await ask(dispatcher, name)
  expect(takeBroken().map((text) => text.split(' ')[0])).toEqual(['a_b', 'a_c'])
})
