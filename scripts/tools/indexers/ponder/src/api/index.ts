/** All rows of all tables, with integers as text. */

import { db } from 'ponder:api'
import schema from 'ponder:schema'
import { Hono } from 'hono'

const app = new Hono()

app.get('/rows', async (context) => {
  const { transfer, balance, block, sent, call } = schema
  const rows: Record<string, unknown> = {}
  for (const [name, table] of Object.entries({ transfer, balance, block, sent, call })) {
    rows[name] = await db.select().from(table)
  }
  const text = JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  return context.body(text, 200, { 'Content-Type': 'application/json' })
})

export default app
