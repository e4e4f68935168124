import { onchainTable } from 'ponder'

export const transfer = onchainTable('transfer', (t) => ({
  /** `<height> <log index>` */
  id: t.text().primaryKey(),
  token: t.hex().notNull(),
  from: t.hex().notNull(),
  to: t.hex().notNull(),
  amount: t.bigint().notNull(),
  block: t.hex().notNull(),
  transaction: t.hex().notNull(),
  gasUsed: t.bigint().notNull(),
  /** What the receiver had after the block, by a call. */
  balance: t.bigint().notNull(),
}))

export const balance = onchainTable('balance', (t) => ({
  /** `<token> <account>` */
  id: t.text().primaryKey(),
  amount: t.bigint().notNull(),
}))

export const block = onchainTable('block', (t) => ({
  height: t.integer().primaryKey(),
  hash: t.hex().notNull(),
  timestamp: t.bigint().notNull(),
}))

export const sent = onchainTable('sent', (t) => ({
  transaction: t.hex().primaryKey(),
  block: t.hex().notNull(),
  status: t.text().notNull(),
}))

export const call = onchainTable('call', (t) => ({
  transaction: t.hex().primaryKey(),
  to: t.hex().notNull(),
  amount: t.bigint().notNull(),
}))
