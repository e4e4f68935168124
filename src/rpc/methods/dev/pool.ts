/** Methods of development clients that take transactions out of the pool. */
import { z } from 'zod'
import type { Hex } from '../../../encoding/hex.ts'
import type { Engine } from '../../../engine/engine.ts'
import { invalidParams } from '../../../errors.ts'
import { method } from '../../method.ts'
import { Address, HashText, TransactionHash } from '../../wire/scalars.ts'
import { COW } from '../example-accounts.ts'

/** Takes a transaction out of the pool; false when it is unknown. Throws `invalid-params` when it is mined. */
async function drop(hash: Hex, { dev, queries }: Engine): Promise<boolean> {
  if (await dev.dropTransaction(hash)) return true
  if (queries.transaction(hash)?.block === undefined) return false
  throw invalidParams(`transaction: ${hash} cannot be dropped, it is mined`)
}

export const hardhat_dropTransaction = method({
  name: 'hardhat_dropTransaction',
  changesState: true,
  summary: 'Removes a waiting transaction from the pool; false when there is none with this hash.',
  params: { transaction: TransactionHash },
  result: () => z.boolean(),
  examples: [{ params: [`0x${'1c'.repeat(32)}`], result: false }],
  run: ({ transaction }, { engine }) => drop(transaction, engine),
})

export const anvil_dropTransaction = method({
  name: 'anvil_dropTransaction',
  changesState: true,
  summary:
    'Removes a waiting transaction from the pool and returns its hash; null when there is none with this hash.',
  params: { transaction: TransactionHash },
  result: () => HashText.nullable(),
  examples: [{ params: [`0x${'1c'.repeat(32)}`], result: null }],
  run: async ({ transaction }, { engine }) => ((await drop(transaction, engine)) ? transaction : null),
})

export const anvil_dropAllTransactions = method({
  name: 'anvil_dropAllTransactions',
  changesState: true,
  aliases: ['hardhat_dropAllTransactions'],
  summary: 'Empties the pool.',
  params: {},
  result: () => z.null(),
  examples: [{ params: [], result: null }],
  async run(_, { engine }) {
    await engine.dev.dropAllTransactions()
    return null
  },
})

export const anvil_removePoolTransactions = method({
  name: 'anvil_removePoolTransactions',
  changesState: true,
  summary: 'Removes the waiting transactions of a sender from the pool.',
  params: { address: Address },
  result: () => z.null(),
  examples: [{ params: [COW], result: null }],
  async run({ address }, { engine }) {
    await engine.dev.dropTransactionsOf(address)
    return null
  },
})

export const debug_clearTxpool = method({
  name: 'debug_clearTxpool',
  changesState: true,
  summary: 'Empties the pool.',
  params: {},
  result: () => z.null(),
  examples: [{ params: [], result: null }],
  async run(_, { engine }) {
    await engine.dev.dropAllTransactions()
    return null
  },
})

/** The methods of this file, in the order of the document. */
export const DEV_POOL_METHODS = [
  hardhat_dropTransaction,
  anvil_dropTransaction,
  anvil_dropAllTransactions,
  anvil_removePoolTransactions,
  debug_clearTxpool,
] as const
