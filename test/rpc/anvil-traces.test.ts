/**
 * Call frames against those of Anvil, in situations in which both chains agree: always against the recorded ones
 * (fixtures/traces/anvil), and against a running Anvil where it is installed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'
import {
  type Anvil,
  type Call,
  framesBy,
  MNEMONIC,
  type RpcFrame,
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

describe('call frames as Anvil has them', () => {
  it('are recorded for each situation', () => {
    expect(Object.keys(RECORDED)).toEqual(CASES.map(({ name }) => name))
  })

  it.each(CASES)('$name', async (situation) => {
    expect(shapeOf(await withCode(ours, await framesBy(ours, situation)))).toEqual(
      shapeOf(recorded(situation.name)),
    )
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
