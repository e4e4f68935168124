/** The proof that runs beside every test: what a method answers is what it describes. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { method } from '../../src/rpc/method.ts'
import { rawJson } from '../../src/rpc/raw-json.ts'
import { fakeEngine } from '../support/fake-engine.ts'
import { ask, dispatcherOf } from '../support/rpc.ts'
import { takeViolations } from '../support/schema-violations.ts'

const parts = { params: {}, examples: [], summary: 'Answers.' }
const early = method({ ...parts, name: 'a_b', result: () => z.literal(1), run: () => 2 as 1 })
const late = method({ ...parts, name: 'a_c', result: () => z.literal(1), run: async () => 2 as 1 })
const right = method({ ...parts, name: 'a_d', result: () => z.literal(1), run: async () => 1 as const })
const raw = method({
  ...parts,
  name: 'a_e',
  result: () => z.array(z.literal(1)),
  run: () => rawJson('[1,2]') as never,
})
const rawRight = method({
  ...parts,
  name: 'a_f',
  result: () => z.array(z.literal(1)),
  run: () => rawJson('[1,1]') as never,
})

it('detects raw JSON that does not match its schema', async () => {
  const dispatcher = dispatcherOf(fakeEngine().engine, {}, { methods: [raw, rawRight] })
  for (const name of ['a_e', 'a_f']) await ask(dispatcher, name)
  expect(takeViolations().map((text) => text.split(' ')[0])).toEqual(['a_e'])
})

it('detects a synchronous or asynchronous answer that does not match its schema', async () => {
  const dispatcher = dispatcherOf(fakeEngine().engine, {}, { methods: [early, late, right] })
  for (const name of ['a_b', 'a_c', 'a_d']) await ask(dispatcher, name)
  expect(takeViolations().map((text) => text.split(' ')[0])).toEqual(['a_b', 'a_c'])
})
