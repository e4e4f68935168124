import { ponder } from 'ponder:registry'
import { balance, block, call, sent, transfer } from 'ponder:schema'

ponder.on('Token:Transfer', async ({ event, context }) => {
  const { db, client, contracts } = context
  const { args, log, block: at, transaction, transactionReceipt } = event
  await db.insert(transfer).values({
    id: `${at.number} ${log.logIndex}`,
    token: log.address,
    ...args,
    block: at.hash,
    transaction: transaction.hash,
    gasUsed: transactionReceipt.gasUsed,
    balance: await client.readContract({
      abi: contracts.Token.abi,
      address: log.address,
      functionName: 'balanceOf',
      args: [args.to],
    }),
  })
  for (const [account, amount] of [
    [args.from, -args.amount],
    [args.to, args.amount],
  ] as const) {
    await db
      .insert(balance)
      .values({ id: `${log.address} ${account}`, amount })
      .onConflictDoUpdate((row) => ({ amount: row.amount + amount }))
  }
})

ponder.on('Token.transfer()', async ({ event, context }) => {
  const [, amount] = event.args
  await context.db.insert(call).values({ transaction: event.transaction.hash, to: event.trace.to, amount })
})

ponder.on('Sender:transaction:from', async ({ event, context }) => {
  const { transaction, transactionReceipt } = event
  await context.db
    .insert(sent)
    .values({ transaction: transaction.hash, block: event.block.hash, status: transactionReceipt.status })
})

ponder.on('Block:block', async ({ event, context }) => {
  const { number, hash, timestamp } = event.block
  await context.db.insert(block).values({ height: Number(number), hash, timestamp })
})
