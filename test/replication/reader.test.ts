/** What a reader of the log reports of itself while it takes a record over, and after the node has appended one. */
import { expect, it } from 'vitest'
import { createSerialQueue } from '../../src/engine/serial-queue.ts'
import { silentLogger } from '../../src/logger.ts'
import type { Log, Reading } from '../../src/replication/log.ts'
import { Reader } from '../../src/replication/reader.ts'
import type { LogRecord } from '../../src/replication/record.ts'

const RECORD: LogRecord = { term: 1, leader: 'a', pooled: [], changes: [] }

/** A log whose messages the test delivers. */
function fakeLog() {
  let handle: Parameters<Log['follow']>[1] = async () => {}
  const reading: Reading = {
    isLive: true,
    isStuck: false,
    async stop() {},
    ended: new Promise(() => {}),
  }
  const log = {
    async follow(_: number, given: typeof handle) {
      handle = given
      return reading
    },
  } as Partial<Log> as Log
  return { log, deliver: (sequence: number) => handle(sequence, RECORD) }
}

function readerOf(log: Log, apply: () => Promise<void>) {
  const { enqueue } = createSerialQueue()
  return new Reader({ log, applied: 0, enqueue, logger: silentLogger, apply, loadSnapshot: async () => 0 })
}

it('counts a record when answers may include it, and reaches its sequence when all answers do', async () => {
  const { log, deliver } = fakeLog()
  let finish = () => {}
  const reader = readerOf(
    log,
    () =>
      new Promise((resolve) => {
        finish = resolve
      }),
  )
  await reader.start()
  const delivered = deliver(1)
  expect(reader.sequence).toBe(1)
  expect(await reader.reached(1, 0)).toBe(false)
  finish()
  await delivered
  expect(await reader.reached(1, 0)).toBe(true)
  reader.end()
})

it('reaches the sequence that the node appended when the command continues after its batch', async () => {
  const reader = readerOf(fakeLog().log, async () => {})
  await reader.start()
  const order: string[] = []
  const batch = async () => reader.appended(1)
  const command = async () => {
    await batch()
    for (let step = 0; step < 20; step++) await undefined
    order.push('head')
  }
  const commanded = command()
  expect(reader.sequence).toBe(1)
  expect(await reader.reached(1, 1_000)).toBe(true)
  order.push('answer')
  await commanded
  expect(order).toEqual(['head', 'answer'])
  reader.end()
})
