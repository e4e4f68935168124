/** The `evm_` methods of a development node: save points, clock, mining on request (rpc-methods 7.12). */
import { z } from 'zod'
import { toQuantity } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import { method, optional, type Parameter } from '../method.ts'
import { Flag, MAX_TIMESTAMP, QuantityText, refuse, wholeNumber } from '../wire/scalars.ts'

/** Most blocks of one `evm_mine`: they are mined in one turn, and everything else waits. */
const MAX_BLOCKS = 10_000
/** Longest interval that a Node timer can wait, milliseconds. */
const MAX_INTERVAL = 2 ** 31 - 1

const Timestamp = wholeNumber('seconds since 1970, number or hex', MAX_TIMESTAMP)
const BlockCount = wholeNumber('how many blocks, number or hex', MAX_BLOCKS)

/** The id of a save point; a number that none can have stays unknown rather than wrong. */
const SnapshotId: Parameter<number> = {
  schema: z.string().regex(/^0x[0-9a-fA-F]+$/),
  read(value) {
    if (typeof value !== 'string' || !/^0x[0-9a-fA-F]+$/.test(value)) {
      throw invalidParams(`invalid snapshot id ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    }
    return Number(value)
  },
}

/** Seconds to add to the clock: JSON integer, decimal text, or `0x` hex; negative ones are taken, and change nothing. */
const Seconds: Parameter<number> = {
  schema: z.union([z.int(), z.string()]).describe('seconds, number or text'),
  read(value) {
    const fits =
      typeof value === 'number' || (typeof value === 'string' && /^(0x[0-9a-f]+|-?\d+)$/i.test(value))
    const seconds = fits ? Number(value) : Number.NaN
    if (!Number.isInteger(seconds) || Math.abs(seconds) > MAX_TIMESTAMP) {
      throw invalidParams(
        `invalid number of seconds ${typeof value === 'object' ? JSON.stringify(value) : value}`,
      )
    }
    return seconds
  },
}

/** What to mine: nothing said, the timestamp of the block, or an object. */
const MineOptions: Parameter<{ readonly blocks?: number; readonly timestamp?: number }> = {
  schema: z.union([
    Timestamp.schema,
    z.object({ timestamp: Timestamp.schema.optional(), blocks: BlockCount.schema.optional() }),
  ]),
  read(value, name) {
    if (typeof value !== 'object') return { timestamp: Timestamp.read(value, name) }
    if (value === null) return {}
    if (Array.isArray(value)) refuse(name, 'a timestamp or an object')
    const { timestamp, blocks, ...unknown } = value as Record<string, unknown>
    const [other] = Object.keys(unknown)
    if (other !== undefined) refuse(`${name}.${other}`, 'timestamp or blocks only')
    return {
      ...(timestamp !== undefined && { timestamp: Timestamp.read(timestamp, `${name}.timestamp`) }),
      ...(blocks !== undefined && { blocks: BlockCount.read(blocks, `${name}.blocks`) }),
    }
  },
}

export const evm_snapshot = method({
  name: 'evm_snapshot',
  summary: 'Takes a save point of head and clock; its id.',
  params: {},
  result: QuantityText,
  examples: [],
  run: async (_, { engine }) => toQuantity(await engine.commands.snapshot()),
})

export const evm_revert = method({
  name: 'evm_revert',
  summary:
    'Back to a save point, which stays valid while later ones are dropped; false when there is no such one.',
  params: { snapshot: SnapshotId },
  result: z.boolean(),
  examples: [{ params: ['0x63'], result: false }],
  run: ({ snapshot }, { engine }) => engine.commands.revert(snapshot),
})

export const evm_reset = method({
  name: 'evm_reset',
  summary: 'Back to genesis; save points and pool are forgotten.',
  params: {},
  result: z.null(),
  examples: [],
  async run(_, { engine }) {
    await engine.commands.reset()
    return null
  },
})

export const evm_mine = method({
  name: 'evm_mine',
  summary: 'Mines now: one block, one with a timestamp, or `{ timestamp, blocks }`.',
  params: { options: optional(MineOptions, {}) },
  result: z.null(),
  examples: [],
  async run({ options }, { engine }) {
    await engine.commands.mine(options)
    return null
  },
})

export const evm_increaseTime = method({
  name: 'evm_increaseTime',
  summary: 'Adds seconds to the clock of the next block; the total of such seconds.',
  params: { seconds: Seconds },
  result: QuantityText,
  examples: [],
  run: async ({ seconds }, { engine }) => toQuantity(await engine.commands.increaseTime(seconds)),
})

export const evm_setNextBlockTimestamp = method({
  name: 'evm_setNextBlockTimestamp',
  summary: 'Sets the exact timestamp of the next block, in seconds since 1970.',
  params: { timestamp: Timestamp },
  result: z.null(),
  examples: [],
  async run({ timestamp }, { engine }) {
    await engine.commands.setNextBlockTimestamp(timestamp)
    return null
  },
})

export const evm_startMining = method({
  name: 'evm_startMining',
  summary: 'Starts the mining schedule that the node was started with.',
  params: {},
  result: z.null(),
  examples: [],
  async run(_, { engine }) {
    await engine.commands.startMining()
    return null
  },
})

export const evm_stopMining = method({
  name: 'evm_stopMining',
  summary: 'Stops mining by schedule; `evm_mine` still mines.',
  params: {},
  result: z.null(),
  examples: [],
  async run(_, { engine }) {
    await engine.commands.stopMining()
    return null
  },
})

// The two switches answer true, as the development nodes do whose clients call them.

export const evm_setAutomine = method({
  name: 'evm_setAutomine',
  summary: 'Switches mining a block for each transaction on or off.',
  params: { on: Flag },
  result: z.literal(true),
  examples: [],
  async run({ on }, { engine }) {
    await engine.commands.setAutomine(on)
    return true as const
  },
})

export const evm_setIntervalMining = method({
  name: 'evm_setIntervalMining',
  summary: 'Mines a block every so many milliseconds; 0 stops.',
  params: { milliseconds: wholeNumber('milliseconds; 0 stops', MAX_INTERVAL) },
  result: z.literal(true),
  examples: [],
  async run({ milliseconds }, { engine }) {
    await engine.commands.setIntervalMining(milliseconds)
    return true as const
  },
})

/** The methods of this file, in the order of the document. */
export const EVM_METHODS = [
  evm_snapshot,
  evm_revert,
  evm_reset,
  evm_mine,
  evm_increaseTime,
  evm_setNextBlockTimestamp,
  evm_startMining,
  evm_stopMining,
  evm_setAutomine,
  evm_setIntervalMining,
] as const
