/** Methods that mine, and that set the coinbase, gas limit and timestamps of the next blocks. */
import { z } from 'zod'
import { intervalOf, minesAtOnce } from '../../../engine/model.ts'
import { LONGEST_INTERVAL } from '../../../options/kinds.ts'
import { method } from '../../method.ts'
import { optional, orNull } from '../../parameter.ts'
import { MinedCount, Timestamp } from '../../wire/fork.ts'
import { Address, Quantity, wholeNumber } from '../../wire/scalars.ts'
import { evm_setAutomine } from '../evm.ts'
import { order, under } from './family.ts'

/** A smaller number of milliseconds would be a time before 1974, so it is read as seconds. */
const FIRST_MILLISECONDS = 10 ** 11

const MINE = order({
  name: 'mine',
  summary:
    'Mines blocks, one by default. The second parameter is the number of seconds between two blocks, 1 by default; with --dialect anvil it applies before the first block too, and without it the timestamps follow the clock. A revert takes some 11 kB of memory for each block that it removes.',
  params: {
    blocks: optional(orNull(MinedCount, 1), 1),
    interval: optional(
      orNull(wholeNumber('seconds between two blocks; at least 1', 10 ** 9), undefined),
      null,
    ),
  },
  errors: ['mining-refused'],
  example: ['0x0'],
  run({ blocks, interval }, { engine, options }) {
    const usual = options.dialect === 'anvil' ? undefined : 1
    return engine.commands.mine({ blocks, interval: interval ?? usual })
  },
})

const SET_COINBASE = order({
  name: 'setCoinbase',
  summary: 'Sets the coinbase of blocks mined here from now on.',
  params: { address: Address },
  example: ['0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d'],
  run: ({ address }, { engine }) => engine.dev.setCoinbase(address),
})

const SET_MIN_GAS_PRICE = order({
  name: 'setMinGasPrice',
  summary: 'Sets the minimum gas price of the pool and of all blocks mined here from now on, in wei.',
  params: { gasPrice: Quantity },
  example: ['0x3938700'],
  run: ({ gasPrice }, { engine }) => engine.dev.setMinimumGasPrice(gasPrice),
})

export const evm_setBlockGasLimit = method({
  name: 'evm_setBlockGasLimit',
  changesState: true,
  summary:
    'Sets the gas limit of all blocks mined here from now on, immediately instead of in small steps; one transaction may use all of it.',
  params: { gasLimit: Quantity },
  result: () => z.literal(true),
  examples: [{ params: ['0x1c9c380'], result: true }],
  async run({ gasLimit }, { engine }) {
    await engine.dev.setBlockGasLimit(gasLimit)
    return true as const
  },
})

export const hardhat_getAutomine = method({
  name: 'hardhat_getAutomine',
  aliases: ['anvil_getAutomine'],
  summary: 'Whether a block is mined for each transaction.',
  params: {},
  result: () => z.boolean(),
  examples: [{ params: [], result: true }],
  run: (_, { engine }) => minesAtOnce(engine.dev.miningMode()),
})

export const anvil_setIntervalMining = method({
  name: 'anvil_setIntervalMining',
  changesState: true,
  summary: 'Mines a block at this interval in seconds (`evm_setIntervalMining` takes milliseconds); 0 stops.',
  params: { seconds: wholeNumber('seconds; 0 stops', LONGEST_INTERVAL) },
  result: () => z.null(),
  examples: [{ params: [5], result: null }],
  async run({ seconds }, { engine }) {
    await engine.commands.setIntervalMining(seconds * 1000)
    return null
  },
})

export const anvil_getIntervalMining = method({
  name: 'anvil_getIntervalMining',
  summary: 'Seconds between blocks mined on a timer, rounded up, or null without a timer.',
  params: {},
  result: () => z.int().nullable(),
  examples: [{ params: [], result: null }],
  run(_, { engine }) {
    const milliseconds = intervalOf(engine.dev.miningMode())
    return milliseconds === undefined ? null : Math.ceil(milliseconds / 1000)
  },
})

export const evm_setTime = method({
  name: 'evm_setTime',
  changesState: true,
  summary:
    'Sets the clock of the next block, in milliseconds since 1970 (a number below 10^11 is read as seconds). Returns its offset from the wall clock in seconds; with --dialect anvil the seconds by which it was moved forward.',
  params: { time: Timestamp },
  result: () => z.int(),
  examples: [{ params: [4_102_444_800_000], result: 2_307_194_960, varies: true }],
  async run({ time }, { engine, options }) {
    const seconds = time < FIRST_MILLISECONDS ? time : Math.floor(time / 1000)
    const { offset, moved } = await engine.dev.setTime(seconds)
    return options.dialect === 'anvil' ? Math.max(0, moved) : offset
  },
})

export const anvil_setBlockTimestampInterval = method({
  name: 'anvil_setBlockTimestampInterval',
  changesState: true,
  summary: "Sets the timestamp of each block to its parent's plus this many seconds, ignoring the clock.",
  params: { seconds: wholeNumber('seconds; at least 1 passes between blocks', 10 ** 9) },
  result: () => z.null(),
  examples: [{ params: [12], result: null }],
  async run({ seconds }, { engine }) {
    await engine.dev.setBlockTimestampInterval(seconds)
    return null
  },
})

export const anvil_removeBlockTimestampInterval = method({
  name: 'anvil_removeBlockTimestampInterval',
  changesState: true,
  summary: 'Removes the fixed timestamp interval; false when there was none.',
  params: {},
  result: () => z.boolean(),
  examples: [{ params: [], result: false }],
  run: (_, { engine }) => engine.dev.setBlockTimestampInterval(undefined),
})

/** Also starts mining on a node that was started without it, as clients of this method expect. */
export const miner_start = method({
  name: 'miner_start',
  changesState: true,
  summary:
    'Turns mining on again: in the mode that the node was started with, or if it was started without mining, a block for each transaction.',
  params: { threads: optional(orNull(wholeNumber('ignored', 2 ** 31), 0), 0) },
  result: () => z.literal(true),
  errors: ['mining-refused'],
  examples: [{ params: [], result: true }],
  async run(_, { engine }) {
    await engine.commands.startMining()
    if (engine.dev.miningMode() === 'manual') await engine.commands.setAutomine(true)
    return true as const
  },
})

export const miner_stop = method({
  name: 'miner_stop',
  changesState: true,
  summary: 'Turns mining off; transactions stay in the pool until blocks are mined on request.',
  params: {},
  result: () => z.literal(true),
  examples: [{ params: [], result: true }],
  async run(_, { engine }) {
    await engine.commands.stopMining()
    return true as const
  },
})

/** The methods of this file, in the order of the document. */
export const DEV_MINING_METHODS = [
  ...MINE,
  ...SET_COINBASE,
  ...SET_MIN_GAS_PRICE,
  evm_setBlockGasLimit,
  under('anvil_setBlockGasLimit', evm_setBlockGasLimit),
  hardhat_getAutomine,
  under('anvil_setAutomine', evm_setAutomine),
  anvil_setIntervalMining,
  anvil_getIntervalMining,
  evm_setTime,
  under('anvil_setTime', evm_setTime),
  anvil_setBlockTimestampInterval,
  anvil_removeBlockTimestampInterval,
  miner_start,
  miner_stop,
] as const
