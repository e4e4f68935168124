import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ExecutedBlock } from '../../../src/chain/block.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import type { Queries } from '../../../src/engine/engine.ts'
import type { LogView } from '../../../src/engine/model.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import { Backlog } from '../../../src/rpc/feeds/backlog.ts'
import { type BlockStep, createLogPoll, type LogCursor } from '../../../src/rpc/feeds/log-poll.ts'
import type { BlockArgument } from '../../../src/rpc/wire/block-reference.ts'
import type { LogFilter } from '../../../src/rpc/wire/log-filter.ts'
import { callsOf, deployNotes } from '../../support/noting-chain.ts'
import { saying } from '../../support/refusals.ts'

const ENDLESS = { bytes: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY }
let node: Node
let address: Hex
/** Blocks with one log each. */
const blocks: ExecutedBlock[] = []

beforeAll(async () => {
  node = await createNode()
  const contract = await deployNotes(callsOf(node))
  address = contract.address
  for (let i = 0; i < 4; i++) {
    await contract.note(i)
    blocks.push(node.engine.queries.head())
  }
})
afterAll(() => node.close())

function stepOf(block: ExecutedBlock, removed = false): BlockStep {
  const { number, logsBloom } = block.block.header
  return { hash: block.hash, number, logsBloom, removed, head: block.hash, ...(removed && { block }) }
}

/** A filter on the contract's logs at the start of a backlog, and its polls. */
function pollOf(
  steps: readonly BlockStep[],
  block: Queries['block'] = node.engine.queries.block,
  wanted: Partial<LogFilter> = {},
) {
  let backlog = new Backlog<BlockStep>()
  for (const step of steps) backlog.push(step)
  let time = 0
  const poll = createLogPoll({
    node: { engine: { ...node.engine, queries: { ...node.engine.queries, block } } },
    elapsed: () => ++time,
    steps: () => backlog,
    hideRemasc: false,
  })
  const at = { cursor: 0 }
  const of: LogCursor = { filter: { addresses: [address], topics: [], ...wanted }, waiting: [] }
  return {
    at,
    of,
    drop: () => {
      backlog = new Backlog()
    },
    poll: async (limits = ENDLESS) => (await poll(at, of, limits)).map(summary),
  }
}
const summary = ({ block, removed }: LogView) => [block.hash, removed]
const hashes = () => blocks.map(({ hash }) => hash)

it('returns the logs of added and removed blocks, in order, once', async () => {
  const [first, second] = blocks as [ExecutedBlock, ExecutedBlock]
  const { poll } = pollOf([stepOf(first), stepOf(first, true), stepOf(second)])
  expect(await poll()).toEqual([
    [first.hash, false],
    [first.hash, true],
    [second.hash, false],
  ])
  expect(await poll()).toEqual([])
})

it('returns as many logs as fit a reply, at least one, and keeps the rest', async () => {
  const { poll, of, at } = pollOf(blocks.map((block) => stepOf(block)))
  expect(await poll({ ...ENDLESS, bytes: 1 })).toHaveLength(1)
  expect([at.cursor, of.waiting.length]).toEqual([1, 0])
  expect(await poll({ ...ENDLESS, bytes: 2000 })).toHaveLength(2)
  const rest = await poll()
  expect(rest.map(([hash]) => hash)).toEqual(hashes().slice(at.cursor - rest.length))
  expect(at.cursor).toBe(4)
})

it('stops at its deadline, after at least one block', async () => {
  const { poll } = pollOf(blocks.map((block) => stepOf(block)))
  expect(await poll({ ...ENDLESS, until: 0 })).toHaveLength(1)
  expect(await poll({ ...ENDLESS, until: 4 })).toHaveLength(3)
})

it('is restricted to the requested heights or block', async () => {
  const steps = blocks.map((block) => stepOf(block))
  const [, second, third] = blocks as [ExecutedBlock, ExecutedBlock, ExecutedBlock]
  const at = ({ block }: ExecutedBlock): BlockArgument => {
    return { reference: { number: block.header.number }, label: '', exact: false }
  }
  const between = pollOf(steps, undefined, { fromBlock: at(second), toBlock: at(third) })
  expect((await between.poll()).map(([hash]) => hash)).toEqual([second.hash, third.hash])
  expect(await pollOf(steps, undefined, { blockHash: third.hash }).poll()).toEqual([[third.hash, false]])
})

it('does not need blocks that were pruned after they left the chain', async () => {
  const [first] = blocks as [ExecutedBlock]
  const forgot = async () => undefined
  expect(await pollOf([stepOf(first), stepOf(first, true)], forgot).poll()).toHaveLength(2)
  await expect(pollOf([stepOf(first)], forgot).poll()).rejects.toThrow(
    saying(`block ${first.hash} is missing and was not removed`),
  )
})

it('ends without an error when the last filter is removed while it reads', async () => {
  const { poll, drop } = pollOf(
    blocks.map((block) => stepOf(block)),
    async (reference) => {
      drop()
      return node.engine.queries.block(reference)
    },
  )
  expect(await poll()).toHaveLength(1)
})
