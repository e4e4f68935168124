/** The `evm_` methods of a development node: snapshots, clock, mining on request (docs/internals/rpc-reference.md#712-evm). */
import { z } from 'zod'
import { SeenWords } from '../../abi/storage/seen-words.ts'
import { type Block, decodeBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { LATEST_TIMESTAMP } from '../../chain/config.ts'
import { decodeTransaction } from '../../chain/transaction.ts'
import { type Hex, toQuantity } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { ReorgRequest } from '../../engine/model.ts'
import { invalidParams } from '../../errors.ts'
import { VariableChanges } from '../../execution/variable-changes.ts'
import { LONGEST_DELAY } from '../../options/kinds.ts'
import { anyOf, integer, text } from '../json-forms.ts'
import { method } from '../method.ts'
import { optional, orNull, type Parameter, scalar, type ValueOf } from '../parameter.ts'
import { layoutsOf } from '../simulation-options.ts'
import { readsTyped } from '../typed-request.ts'
import { IMPORT_RESULTS } from '../wire/block.ts'
import { MineOptions, ReorgOptions, Timestamp } from '../wire/fork.ts'
import { Data, Flag, HashText, QuantityText, wholeNumber } from '../wire/scalars.ts'
import {
  SnapshotDiffObject,
  SnapshotName,
  SnapshotOptions,
  SnapshotReference,
  snapshotId,
  toRpcSnapshotDiff,
} from '../wire/snapshot.ts'
import { RESET_SUMMARY, ResetOptions, resetChain } from './reset.ts'

/** Decimal text, as Hardhat answers times. */
const DecimalText = z.string().regex(/^-?\d+$/)

function shown(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Seconds to add to the clock: JSON integer, decimal text, or `0x` hex; a negative number is accepted and changes nothing. */
const Seconds: Parameter<number> = scalar({
  form: anyOf(
    integer(-LATEST_TIMESTAMP, LATEST_TIMESTAMP),
    text(/^(0[xX][0-9a-fA-F]+|-?[0-9]+)$/, { where: (value) => Math.abs(Number(value)) <= LATEST_TIMESTAMP }),
  ),
  description: 'seconds, number or text',
  decode: Number,
  refusal: (value) => `invalid number of seconds ${shown(value)}`,
})

/** Reads a whole block. Throws `invalid-params` when the bytes are not a block. */
export function blockOf(bytes: Uint8Array, config: ChainConfig): Block {
  try {
    return decodeBlock(bytes, config)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw invalidParams(`Invalid block: the bytes are not the RLP of a block: ${error.message}`)
  }
}

/** The same with decoded transactions. Throws `invalid-params` for bytes that are not a transaction. */
function reorgOf({ blocks, ...rest }: ValueOf<typeof ReorgOptions>, isTyped: boolean): ReorgRequest {
  if (blocks === undefined) return rest
  return {
    ...rest,
    blocks: blocks.map(({ transactions, ...block }) => ({
      ...block,
      ...(transactions && { transactions: transactions.map((raw) => decodeTransaction(raw, isTyped)) }),
    })),
  }
}

export const evm_snapshot = method({
  name: 'evm_snapshot',
  changesState: true,
  summary:
    'Takes a snapshot of head and clock and returns its id. It can have a name, and with `keep` it survives a restart of the node. Beyond 10,000 snapshots, the oldest one without a name that is not kept is dropped.',
  params: {
    name: optional(orNull(SnapshotName, undefined), null),
    options: optional(orNull(SnapshotOptions, {}), null),
  },
  result: () => QuantityText,
  errors: ['too-many'],
  examples: [{ params: [], result: '0x1' }],
  async run({ name, options }, { engine }) {
    const request = { ...options, ...(name !== undefined && { name }) }
    const isPlain = Object.keys(request).length === 0
    return toQuantity(await (isPlain ? engine.commands.snapshot() : engine.commands.snapshot(request)))
  },
})

export const evm_snapshots = method({
  name: 'evm_snapshots',
  summary: 'The snapshots that can be reverted to.',
  params: {},
  result: () =>
    z.array(
      z.object({
        id: QuantityText,
        name: z.string().nullable(),
        height: z.int(),
        time: z.int().describe('when it was taken, seconds since 1970'),
        bytes: z.int().describe('length of its record; blocks and states belong to the chain'),
      }),
    ),
  examples: [{ params: [], result: [] }],
  run: (_, { engine }) =>
    engine.dev.snapshots().map(({ id, name, height, time, bytes }) => ({
      id: toQuantity(id),
      name: name ?? null,
      height,
      time,
      bytes,
    })),
})

export const evm_revert = method({
  name: 'evm_revert',
  changesState: true,
  summary:
    'Reverts to a snapshot by id or name; false when there is none. The snapshot stays valid, later ones are dropped. With --single-use-snapshots it is dropped too, unless it has a name or is kept.',
  params: { snapshot: SnapshotReference },
  result: () => z.boolean(),
  examples: [{ params: ['0x63'], result: false }],
  run: ({ snapshot }, { engine, options }) =>
    engine.commands.revert(snapshotId(snapshot, engine), { useUp: options.singleUseSnapshots }),
})

/** The words of the transactions and logs of blocks; none where no contract is known. */
async function wordsIn(hashes: readonly Hex[], { queries, names }: Engine): Promise<SeenWords> {
  const words = new SeenWords()
  for (const hash of names.isEmpty ? [] : hashes) {
    if (words.isFull) break
    const { executed } = (await queries.block({ hash })) ?? {}
    for (const { from, to, data } of executed?.block.transactions ?? []) {
      words.addAddress(from)
      words.addAddress(to)
      if (to !== null) words.addCallData(data)
    }
    for (const log of executed?.receipts.flatMap(({ logs }) => logs) ?? []) words.addLog(log)
  }
  return words
}

export const evm_diff = method({
  name: 'evm_diff',
  heavy: true,
  summary:
    'The difference between two snapshots, given by id or name, or between a snapshot and the current state: accounts with their storage, blocks, pool. Changed variables are named where the storage layout of a contract is known; keys of mappings are found among the addresses, call data and logs of the blocks. The cost is proportional to the difference.',
  params: { before: SnapshotReference, after: optional(orNull(SnapshotReference, undefined), null) },
  result: () => SnapshotDiffObject,
  errors: ['block-not-found'],
  examples: [],
  async run({ before, after }, { engine }) {
    const ids = [before, after].map((one) => (one === undefined ? undefined : snapshotId(one, engine)))
    const diff = engine.dev.diffSnapshots(ids[0] ?? 0, ids[1])
    if (diff === undefined) throw invalidParams('There is no such snapshot.')
    const words = await wordsIn([...diff.blocks.removed, ...diff.blocks.added], engine)
    return toRpcSnapshotDiff(diff, new VariableChanges(diff.before, diff.after, layoutsOf(engine), words))
  },
})

export const evm_reset = method({
  name: 'evm_reset',
  changesState: true,
  waitsForUpstream: true,
  summary: RESET_SUMMARY,
  params: { options: optional(ResetOptions, {}) },
  result: () => z.null(),
  examples: [{ params: [], result: null }],
  async run({ options }, context) {
    await resetChain(context, options)
    return null
  },
})

export const evm_mine = method({
  name: 'evm_mine',
  changesState: true,
  summary:
    'Mines now: one block, one with a timestamp, or as `{ timestamp, blocks, parent }` says; with a parent other than the head, a side block.',
  params: { options: optional(MineOptions, {}) },
  result: () => z.null(),
  errors: ['mining-refused'],
  examples: [
    { params: [], result: null },
    { params: [{ blocks: 3, timestamp: 4_102_444_800 }], result: null },
  ],
  async run({ options }, { engine }) {
    await engine.commands.mine(options)
    return null
  },
})

export const evm_importBlock = method({
  name: 'evm_importBlock',
  changesState: true,
  counts: 'validBlocks',
  summary: 'Imports a block given as raw bytes; a refusal names the first rule that the block breaks.',
  params: { block: Data },
  result: () =>
    z.object({
      result: z.enum(IMPORT_RESULTS).describe('the new head, a side block, or already known'),
      hash: HashText,
      number: QuantityText,
    }),
  errors: ['invalid-block'],
  examples: [],
  async run({ block: bytes }, { engine }) {
    const block = blockOf(bytes, engine.config)
    const { outcome, hash } = await engine.commands.importBlock(block)
    return { result: IMPORT_RESULTS[outcome], hash, number: toQuantity(block.header.number) }
  },
})

export const evm_reorg = method({
  name: 'evm_reorg',
  changesState: true,
  summary:
    'Replaces the last `depth` blocks with a heavier branch of given or empty blocks, at least one more than are removed. ' +
    'With `uncles`, the branch includes the replaced blocks as uncles wherever the rules allow.',
  params: { options: ReorgOptions },
  result: () =>
    z.object({
      removed: z.array(HashText).describe('from the old head down'),
      added: z.array(HashText).describe('up to the new head'),
    }),
  errors: ['mining-refused'],
  examples: [],
  async run({ options }, { engine }) {
    const { removed, added } = await engine.commands.reorg(reorgOf(options, readsTyped(engine.config)))
    return { removed: removed.map(({ hash }) => hash), added: added.map(({ hash }) => hash) }
  },
})

export const evm_increaseTime = method({
  name: 'evm_increaseTime',
  changesState: true,
  summary:
    'Adds seconds to the clock of the next block. Returns the total of added seconds, 0 while the clock is behind. With --dialect hardhat the total is decimal text, with anvil a JSON integer, below 0 while the clock is behind.',
  params: { seconds: Seconds },
  result: () => z.union([QuantityText, DecimalText, z.int()]),
  examples: [{ params: ['0x3c'], result: '0x3c' }],
  async run({ seconds }, { engine, options }) {
    const total = await engine.commands.increaseTime(seconds)
    if (options.dialect === 'anvil') return total
    return options.dialect === 'hardhat' ? String(total) : toQuantity(Math.max(0, total))
  },
})

export const evm_setNextBlockTimestamp = method({
  name: 'evm_setNextBlockTimestamp',
  changesState: true,
  summary:
    'Sets the exact timestamp of the next block, in seconds since 1970; with --dialect hardhat the result is that timestamp as decimal text.',
  params: { timestamp: Timestamp },
  result: () => DecimalText.nullable(),
  examples: [{ params: [4_102_444_800], result: null }],
  async run({ timestamp }, { engine, options }) {
    await engine.commands.setNextBlockTimestamp(timestamp)
    return options.dialect === 'hardhat' ? String(timestamp) : null
  },
})

export const evm_startMining = method({
  name: 'evm_startMining',
  changesState: true,
  summary: 'Starts the mining schedule that the node was started with.',
  params: {},
  result: () => z.null(),
  errors: ['mining-refused'],
  examples: [{ params: [], result: null }],
  async run(_, { engine }) {
    await engine.commands.startMining()
    return null
  },
})

export const evm_stopMining = method({
  name: 'evm_stopMining',
  changesState: true,
  summary: 'Stops scheduled mining; `evm_mine` still works.',
  params: {},
  result: () => z.null(),
  examples: [{ params: [], result: null }],
  async run(_, { engine }) {
    await engine.commands.stopMining()
    return null
  },
})

// These two answer true, as Hardhat and Ganache do.

export const evm_setAutomine = method({
  name: 'evm_setAutomine',
  changesState: true,
  summary:
    'Turns mining a block for each transaction on or off. Turning it on mines the transactions in the pool; with --dialect hardhat they wait for the next block.',
  params: { on: Flag },
  result: () => z.literal(true),
  errors: ['mining-refused'],
  examples: [{ params: [false], result: true }],
  async run({ on }, { engine, options }) {
    await engine.commands.setAutomine(on, { poolWaits: options.dialect === 'hardhat' })
    return true as const
  },
})

export const evm_setIntervalMining = method({
  name: 'evm_setIntervalMining',
  changesState: true,
  summary:
    'Mines a block at this interval in milliseconds; 0 stops. Ends automining, except with --dialect hardhat, where each transaction is still mined at once.',
  params: { milliseconds: wholeNumber('milliseconds; 0 stops', LONGEST_DELAY) },
  result: () => z.literal(true),
  examples: [{ params: [5000], result: true }],
  async run({ milliseconds }, { engine, options }) {
    await engine.commands.setIntervalMining(milliseconds, { besideAutomine: options.dialect === 'hardhat' })
    return true as const
  },
})

/** The methods of this file, in the order of the document. */
export const EVM_METHODS = [
  evm_snapshot,
  evm_snapshots,
  evm_revert,
  evm_diff,
  evm_reset,
  evm_mine,
  evm_importBlock,
  evm_reorg,
  evm_increaseTime,
  evm_setNextBlockTimestamp,
  evm_startMining,
  evm_stopMining,
  evm_setAutomine,
  evm_setIntervalMining,
] as const
