/** Counts the work of every method of the registry, by its own example, on nodes that hold more and less. */
import { messageOf } from '../../../src/errors.ts'
import { createNode, type NodeOptions } from '../../../src/index.ts'
import { METHODS } from '../../../src/rpc/methods/index.ts'
import { addNamed, type COUNTED_EXAMPLES } from '../counted-examples.ts'
import { countWork } from '../work.ts'
import { CHANGE, endCollection, type Holding } from './holdings.ts'

/** A method, and the calls of its example with what it needs before. */
export type Example = (typeof COUNTED_EXAMPLES)[number]

/** Is this work more than by some steps of trees and binary searches? */
export const hasGrown = (least: number, most: number) => most > 1.5 * least + 60

/** A node that holds so much, and the work of examples on it. */
export interface CountedNode {
  /** The result of each example. */
  answers(examples: readonly Example[]): Promise<readonly unknown[]>
  /** Runs each example once, not counted. Throws when the node has lost data. */
  warm(examples: readonly Example[]): Promise<void>
  /** The work of each, run one after another. */
  count(examples: readonly Example[]): Promise<readonly number[]>
  /** Restores what the examples removed. */
  refill(): Promise<void>
  close(): Promise<void>
}

/** Opens a node that holds so much of each of these. */
export async function nodeWith(size: number, holdings: readonly Holding[]): Promise<CountedNode> {
  const options: NodeOptions = Object.assign({}, ...holdings.map((holding) => holding.options))
  const { mining = 'auto' } = options
  const all: NodeOptions = {
    now: () => 1_900_000_000,
    rpcTimeoutMs: 0,
    methods: METHODS.filter(({ presets }) => presets !== undefined).map(({ name }) => `+${name}` as const),
    accountSlots: 1000,
    maxLogBlocks: 0,
    ...options,
  }
  const open = holdings.find((holding) => holding.open !== undefined)?.open
  const opened = await open?.(all, size)
  const node = opened?.node ?? (await createNode(all))
  const named = await addNamed(node)
  const ends = holdings.map(() => 0)
  async function refill(): Promise<void> {
    for (const [at, holding] of holdings.entries()) {
      const held = ends[at] === 0 ? 0 : await holding.size(node)
      const first = ends[at] ?? 0
      if (held >= size) continue
      ends[at] = first + size - held
      await holding.grow(node, first + size - held, first)
    }
  }
  await refill()
  async function run(example: Example): Promise<unknown> {
    // The node discards the pending block, which it would otherwise have from an earlier call.
    await node.request(CHANGE)
    const answer = await example.run(node, named).catch((cause) => {
      throw new Error(`${example.name}: ${messageOf(cause)}`, { cause })
    })
    // Some change how it mines.
    await node.engine.commands.setMiningMode(mining)
    return answer
  }
  async function answers(examples: readonly Example[]): Promise<readonly unknown[]> {
    const found: unknown[] = []
    for (const example of examples) found.push(await run(example))
    return found
  }
  return {
    answers,
    async warm(examples) {
      await answers(examples)
      await endCollection(node, size)
      for (const holding of holdings) {
        const held = await holding.size(node)
        if (held < size) throw new Error(`the examples left ${held} of ${size}`)
      }
    },
    count: (examples) => countWork(examples.map((example) => () => run(example))),
    refill,
    close: () => (opened ?? node).close(),
  }
}

/** Counted again so often where it has grown, and the least counts: a timer of the node may have run meanwhile. */
const RECOUNTS = 3

/** A method whose work has grown, and its work on each node. */
export interface Grown {
  readonly name: string
  readonly works: readonly number[]
}

/** Which of these examples are more work on the other nodes than on the first; each has run before. */
export async function grownOn(
  nodes: readonly CountedNode[],
  examples: readonly Example[],
): Promise<readonly Grown[]> {
  let grown = examples.map((example) => ({ example, works: nodes.map(() => Number.POSITIVE_INFINITY) }))
  for (const node of nodes) await node.warm(examples)
  for (let count = 0; count <= RECOUNTS && grown.length > 0; count++) {
    const asked = grown.map(({ example }) => example)
    const counts: (readonly number[])[] = []
    for (const node of nodes) counts.push(await node.count(asked))
    const isMore = ([least = 0, ...others]: readonly number[]) => hasGrown(least, Math.max(...others))
    grown = grown.flatMap(({ example, works }, at) => {
      const latest = counts.map((ofNode) => ofNode[at] ?? 0)
      const least = works.map((work, node) => Math.min(work, latest[node] ?? work))
      return isMore(latest) && isMore(least) ? [{ example, works: least }] : []
    })
  }
  return grown.map(({ example: { name }, works }) => ({ name, works }))
}
