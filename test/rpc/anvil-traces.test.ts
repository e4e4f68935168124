/**
 * Call frames against those of Anvil, in situations in which both chains agree: always against the recorded ones
 * (fixtures/traces/anvil), and against a running Anvil where it is installed. Replays against recorded ones.
 */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'
import {
  type Anvil,
  type Call,
  framesBy,
  MNEMONIC,
  type RpcFrame,
  repliesBy,
  replyShape,
  sentBy,
  shapeOf,
  startAnvil,
  withCode,
} from '../support/anvil-frames.ts'
import { fixture } from '../support/fixture.ts'
import { ANVIL, describeWith } from '../support/tools.ts'
import { TRACE_CASES } from '../support/trace-cases.ts'

const CASES = TRACE_CASES.filter(({ asOnEthereum }) => asOnEthereum)
const { frames: RECORDED } = fixture<{ frames: Readonly<Record<string, RpcFrame>> }>(
  'traces/anvil/frames.json',
)

function recorded(name: string): RpcFrame {
  const frame = RECORDED[name]
  if (frame === undefined) throw new Error(`${name} is not recorded`)
  return frame
}

let node: Node
const ours: Call = (method, params) => node.request({ method, params })
beforeAll(async () => {
  node = await createNode({ mnemonic: MNEMONIC, accounts: 1, minedReverts: 'hash' })
})
afterAll(() => node.close())

describe('call frames equal to those of Anvil', () => {
  it('are recorded for each situation', () => {
    expect(Object.keys(RECORDED)).toEqual(CASES.map(({ name }) => name))
  })

  it.each(CASES)('$name', async (situation) => {
    expect(shapeOf(await withCode(ours, await framesBy(ours, situation)))).toEqual(
      shapeOf(recorded(situation.name)),
    )
  })
})

const errorsOf = ({ error, calls = [] }: RpcFrame): readonly string[] => [
  ...(error === undefined ? [] : [error]),
  ...calls.flatMap(errorsOf),
]

describe('error texts with --dialect anvil', () => {
  let node: Node
  const call: Call = (method, params) => node.request({ method, params })
  beforeAll(async () => {
    node = await createNode({ mnemonic: MNEMONIC, accounts: 1, minedReverts: 'hash', dialect: 'anvil' })
  })
  afterAll(() => node.close())

  it.each(CASES)('of callTracer are those of Anvil: $name', async (situation) => {
    expect(errorsOf(await framesBy(call, situation))).toEqual(errorsOf(recorded(situation.name)))
  })

  // OpenEthereum's words where it has any (`TraceError`), which Anvil uses too.
  it.each([
    ['out-of-gas-at-the-top', ['Out of gas']],
    ['exceptions', [undefined, 'Bad instruction', 'Bad jump destination', 'StackUnderflow', 'OutOfOffset']],
  ])('of trace_transaction are plain: %s', async (name, errors) => {
    const situation = CASES.find((each) => each.name === name)
    if (situation === undefined) throw new Error(`there is no case ${name}`)
    const hash = await sentBy(call, situation)
    const rows = (await call('trace_transaction', [hash])) as readonly { readonly error?: string }[]
    expect(rows.map(({ error }) => error)).toEqual(errors)
  })
})

describeWith(ANVIL, 'call frames of a running Anvil', () => {
  let anvil: Anvil
  beforeAll(async () => {
    anvil = await startAnvil(ANVIL.path)
  }, 60_000)
  afterAll(() => anvil.close())

  it.each(CASES)('$name', async (situation) => {
    const theirs = shapeOf(await framesBy(anvil.call, situation))
    expect(shapeOf(await withCode(ours, await framesBy(ours, situation)))).toEqual(theirs)
    expect(theirs).toEqual(shapeOf(recorded(situation.name)))
  })
})

/** Where Anvil is wrong: it lists creations that failed, and shows a new account without code as one that changed. */
const CORRECTED: Readonly<Record<string, object>> = {
  'failed-creation': { operations: [] },
  'empty-account': { stateDiff: ['["*","=","*",{}]', '["+","+","+",{}]'] },
}

describe('replays equal to those of Anvil', () => {
  const file = readFileSync(new URL('../../fixtures/traces/anvil/replies.json.gz', import.meta.url))
  const { replies } = JSON.parse(gunzipSync(file).toString()) as {
    replies: Readonly<Record<string, unknown>>
  }
  let fresh: Node
  beforeAll(async () => {
    fresh = await createNode({ mnemonic: MNEMONIC, accounts: 1, minedReverts: 'hash' })
  })
  afterAll(() => fresh.close())

  // Anvil lists calls that were not made.
  it.each(CASES.filter(({ name }) => name !== 'too-little-balance'))('$name', async (situation) => {
    const call: Call = (method, params) => fresh.request({ method, params })
    const ours = replyShape(await repliesBy(call, situation))
    const theirs = replies[situation.name] as ReturnType<typeof replyShape>
    const expected = { ...theirs, ...CORRECTED[situation.name] }
    expect(JSON.parse(JSON.stringify(ours))).toEqual(expected)
  })
})
