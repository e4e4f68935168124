/** Methods whose work must not grow with what the node holds: counted work, not time, at two sizes. */
import { describe, expect, it } from 'vitest'
import { creationOf } from '../../src/abi/artifact.ts'
import { createAbiRegistry } from '../../src/abi/registry.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { createNode, type Node } from '../../src/index.ts'
import { createLivePool } from '../../src/node/pool.ts'
import { GROWTHS, workAt, workInPool } from '../support/growth/calls.ts'
import { accountAt, eachOf } from '../support/growth/holdings.ts'
import { ask } from '../support/state-files.ts'
import { countWork } from '../support/work.ts'

const [FEW, MANY] = [60, 320] as const
/** Trees and binary searches grow by a step or three. */
const SLACK = 1.5

/** Is the work clearly more than that at the smaller size? */
const hasGrown = (few: number, many: number) => many > SLACK * few + 20

it.each(Object.entries(GROWTHS))('a call takes as much work with more %s', async (_what, growth) => {
  const [few, many] = [await workAt(FEW, growth), await workAt(MANY, growth)]
  const grown = few.map(([call, work], at) => ({ call, from: work, to: many[at]?.[1] ?? 0 }))
  expect(grown.filter(({ from, to }) => hasGrown(from, to))).toEqual([])
})

it('init code is recognised among many contracts without a comparison with each', async () => {
  const registry = createAbiRegistry()
  const codeAt = (index: number) => {
    const code = new Uint8Array(64 + 32 * (index % 50)).fill(index & 0xff)
    code[0] = index >> 8
    return code
  }
  async function register(index: number) {
    const creation = creationOf(codeAt(index))
    await registry.register({ name: `C${index}`, entries: [], ...(creation && { creation }) })
  }
  const [known, argument] = [codeAt(3), new Uint8Array(32)]
  const recognise = () => registry.creation(concat(known, argument))
  await eachOf(FEW, register)
  const [few = 0] = await countWork([recognise])
  for (let index = FEW; index < MANY; index++) await register(index)
  expect(recognise()?.name).toBe('C3')
  const [many = 0] = await countWork([recognise])
  expect(many).toBeLessThan(SLACK * few + 20)
})

describe('with a pool of chains', () => {
  it('a chain is opened, queried and closed with the same work when there are many', async () => {
    const [few, many] = [await workInPool(4), await workInPool(40)]
    const grown = few.map(([step, work], at) => ({ step, from: work, to: many[at]?.[1] ?? 0 }))
    expect(grown.filter(({ from, to }) => hasGrown(from, to))).toEqual([])
  })

  it('a chain starts with the same work for any number of registered ABIs, and keeps its own', async () => {
    const most = 1500
    const base = await createNode()
    const pool = createLivePool(10, base)
    const names = async (node: Node) => (await ask(node, 'evm_contracts')).length
    const open = (name: string) => countWork([() => pool.chain(name)])
    try {
      const register = (index: number) => ask(base, 'evm_setAbi', accountAt(index), [`function f${index}()`])
      await eachOf(FEW, register)
      await pool.chain('first')
      const [few = 0] = await open('few')
      for (let index = FEW; index < most; index++) await register(index)
      const [many = 0] = await open('many')
      expect(many).toBeLessThan(SLACK * few + 20)
      await register(most)
      const [older, newer] = [await pool.chain('few'), await pool.chain('many')]
      await ask(newer, 'evm_setAbi', accountAt(most + 1), ['function other()'])
      await ask(newer, 'evm_setAbi', accountAt(most + 2), ['function another()'])
      expect([await names(older), await names(newer), await names(base)]).toEqual([FEW, most + 2, most + 1])
    } finally {
      await pool.close()
      await base.close()
    }
  })
})
