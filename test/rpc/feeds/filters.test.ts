import { afterEach, describe, expect, it } from 'vitest'
import type { LogView } from '../../../src/engine/model.ts'
import { createRandomness } from '../../../src/engine/randomness.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import { Filters } from '../../../src/rpc/feeds/filters.ts'
import { callsOf, deployNotes } from '../../support/noting-chain.ts'
import { held, OPTIONS } from '../../support/rpc.ts'

const random = createRandomness(undefined)
let node: Node | undefined

afterEach(() => node?.close())

describe('a poll for logs', () => {
  it('that reaches its deadline leaves the rest to the next poll, and loses nothing', async () => {
    node = await createNode()
    const { engine } = node
    const call = callsOf(node)
    const { address, note } = await deployNotes(call)
    // Each look at the clock finds it an hour later.
    let hours = 0
    const elapsed = () => ++hours * 3_600_000
    const filters = new Filters({
      node: held(engine),
      options: { ...OPTIONS, filterTimeoutMs: 0 },
      elapsed,
      random,
    })
    const id = await filters.onLogs({ addresses: [address], topics: [] }, '')
    const notes: string[] = []
    for (let i = 0; i < 5; i++) notes.push(await note(i))

    const polls: string[][] = []
    for (let i = 0; i < 6; i++) {
      const entries = (await filters.changes(id, '', 1000)) as LogView[]
      polls.push(entries.map(({ transaction }) => transaction.hash))
    }
    expect(polls).toEqual([...notes.map((hash) => [hash]), []])
  })

  it('returns all logs at once within the time limit', async () => {
    node = await createNode()
    const { engine } = node
    const { address, note } = await deployNotes(callsOf(node))
    const filters = new Filters({ node: held(engine), options: OPTIONS, elapsed: () => 0, random })
    const id = await filters.onLogs({ addresses: [address], topics: [] }, '')
    for (let i = 0; i < 5; i++) await note(i)
    expect(await filters.changes(id, '', 1000)).toHaveLength(5)
    expect(await filters.changes(id, '', 1000)).toEqual([])
  })
})
