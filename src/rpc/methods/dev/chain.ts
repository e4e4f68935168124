/** Methods of development clients that remove or replace blocks, or mine blocks and return their details. */
import { z } from 'zod'
import { toHex } from '../../../encoding/hex.ts'
import type { PlacedTransaction } from '../../../engine/dev/rewind-tools.ts'
import type { Engine } from '../../../engine/engine.ts'
import { invalidParams } from '../../../errors.ts'
import { timeLeft } from '../../deadlines.ts'
import { type Context, method } from '../../method.ts'
import { optional, orNull, type ValueOf } from '../../parameter.ts'
import { sendRequest } from '../../signing.ts'
import { BlockObject, shownTransactions, toRpcBlock } from '../../wire/block.ts'
import { BlockCount, MineOptions, ReorgTransactions } from '../../wire/fork.ts'
import { DataText } from '../../wire/scalars.ts'
import { TransactionObject, toRpcTransaction } from '../../wire/transaction.ts'
import { readSigned } from '../eth/submit.ts'
import { under } from './family.ts'

export const anvil_rollback = method({
  name: 'anvil_rollback',
  changesState: true,
  summary:
    'Removes the last blocks of the chain, one by default; their transactions do not return to the pool.',
  params: { depth: optional(orNull(BlockCount, 1), 1) },
  result: () => z.null(),
  examples: [{ params: [0], result: null }],
  async run({ depth }, { engine }) {
    await engine.dev.rollback(depth)
    return null
  },
})

function placedOf(given: ValueOf<typeof ReorgTransactions>, engine: Engine): readonly PlacedTransaction[] {
  return given.map(({ transaction, block }) => {
    if (transaction instanceof Uint8Array) return { transaction: readSigned(transaction, engine), block }
    const from = transaction.from ?? engine.accounts.list()[0]
    if (from === undefined)
      throw invalidParams('transactions: a call object has no sender, and the node has no accounts')
    return { transaction: { request: sendRequest({ ...transaction, from }, engine) }, block }
  })
}

export const anvil_reorg = method({
  name: 'anvil_reorg',
  changesState: true,
  summary:
    'Replaces the last `depth` blocks with the same number of new ones, of any difficulty. `transactions` are pairs: a signed transaction or a call object, and the index of its block, from 0; the other blocks are empty.',
  params: { depth: BlockCount, transactions: optional(ReorgTransactions, []) },
  result: () => z.null(),
  errors: ['transaction-refused', 'mining-refused'],
  examples: [{ params: [0, []], result: null }],
  async run({ depth, transactions }, { engine }) {
    await engine.dev.replaceBlocks(depth, placedOf(transactions, engine))
    return null
  },
})

const DetailedBlockObject = z.lazy(() =>
  BlockObject.unwrap()
    .extend({
      transactions: z.array(
        TransactionObject.unwrap().extend({
          output: DataText.optional(),
          revertReason: z.string().optional(),
        }),
      ),
    })
    .meta({ id: 'DetailedBlock' }),
)

async function mineDetailed(wanted: ValueOf<typeof MineOptions>, context: Context) {
  const { engine, options } = context
  const { commands, queries, config } = engine
  const mined = await commands.mine(wanted)
  const blocks: z.infer<typeof DetailedBlockObject>[] = []
  for (const executed of mined) {
    const { hash, block } = executed
    const traces = await queries.traces(executed, timeLeft(context))
    const transactions = shownTransactions(block, options.hideRemasc).map((transaction, index) => {
      const root = traces[index]?.root
      const place = { hash, number: block.header.number, index }
      const reason = root?.failure?.revertReason
      return {
        ...toRpcTransaction(transaction, place),
        ...(root && { output: toHex(root.output) }),
        ...(reason !== undefined && { revertReason: reason }),
      }
    })
    blocks.push({
      ...toRpcBlock({ executed, pending: false }, false, config, options.hideRemasc),
      transactions,
    })
  }
  return blocks
}

export const anvil_mine_detailed = method({
  name: 'anvil_mine_detailed',
  heavy: true,
  changesState: true,
  summary:
    'Mines as evm_mine does, and returns the blocks with their transactions, outputs and revert reasons.',
  params: { options: optional(MineOptions, {}) },
  result: () => z.array(DetailedBlockObject),
  errors: ['mining-refused'],
  examples: [],
  run: ({ options }, context) => mineDetailed(options, context),
})

export const anvil_getGenesisTime = method({
  name: 'anvil_getGenesisTime',
  summary: 'Timestamp of the genesis block, seconds since 1970, a JSON integer.',
  params: {},
  result: () => z.int(),
  errors: ['block-not-found'],
  examples: [{ params: [], result: 0 }],
  async run(_, { engine }) {
    const view = await engine.queries.block({ tag: 'earliest' })
    return view?.executed.block.header.timestamp ?? 0
  },
})

export const anvil_getLastBlockWallTime = method({
  name: 'anvil_getLastBlockWallTime',
  summary:
    'Wall-clock time when the current head became the head, or when the node started: milliseconds since 1970, rounded to the second; a JSON integer.',
  params: {},
  result: () => z.int(),
  examples: [{ params: [], result: 1_795_327_675_000, varies: true }],
  run: (_, { engine }) => engine.dev.lastBlockTime() * 1000,
})

/** The methods of this file, in the order of the document. */
export const DEV_CHAIN_METHODS = [
  anvil_rollback,
  anvil_reorg,
  anvil_mine_detailed,
  under('evm_mine_detailed', anvil_mine_detailed),
  anvil_getGenesisTime,
  anvil_getLastBlockWallTime,
] as const
