/** A node of its own process under attack: what everybody else has of it meanwhile, and what is left of it afterwards. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningCommand, startCommand } from '../support/command.ts'
import { ATTACKS, openSlowly, sendAttack } from './attacks.ts'
import { frame, handshake, openFrames } from './frames.ts'
import { rawSocket, statuses } from './raw-socket.ts'
import { leakIn } from './reply-check.ts'

/** A well-behaved caller's median wait under attack, in medians of the same caller when nothing else happens. */
const MOST_TIMES_IDLE = 400
/** The same of the longest wait: what is long runs in turns, and what cannot is short. */
const WORST_TIMES_IDLE = 20_000
/** Bytes by which the process may grow over all attacks. */
const MOST_GROWTH = 600 * 1024 * 1024
/** Calls of which a median is taken, at least. */
const CALLS = 25

let command: RunningCommand
let port: number
let idle: number
let grownFrom: number
beforeAll(async () => {
  command = await startCommand(['--memory', '--rpc-timeout', '300', '--max-subscriptions', '200'])
  port = Number(new URL(command.url).port)
  await measure(Promise.resolve())
  idle = (await measure(Promise.resolve())).median
  grownFrom = await memory()
})
afterAll(async () => {
  expect(await command.end('SIGTERM')).toBe(0)
  // Its log has errors only, and no attack is to make one.
  expect(command.output()).not.toMatch(/failed|Error/)
})

/** Milliseconds that calls wait on one connection, one after another, at least until something has ended. */
async function measure(
  until: Promise<unknown>,
): Promise<{ readonly median: number; readonly worst: number }> {
  const socket = await rawSocket(port)
  let goesOn = true
  const ended = until.finally(() => {
    goesOn = false
  })
  const waits: number[] = []
  for (let id = 0; goesOn || waits.length < CALLS; id++) {
    const body = `{"jsonrpc":"2.0","id":${id},"method":"eth_blockNumber","params":[]}`
    const start = performance.now()
    socket.send(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await socket.untilLast(`"id":${id},"result":"0x`)
    waits.push(performance.now() - start)
  }
  socket.close()
  await ended
  waits.sort((a, b) => a - b)
  return { median: waits[waits.length >> 1] as number, worst: waits.at(-1) as number }
}

/** Is the caller about as well off as if nothing happened, until something has ended? */
async function expectService(until: Promise<unknown> = Promise.resolve()): Promise<void> {
  const { median, worst } = await measure(until)
  expect(median / idle).toBeLessThan(MOST_TIMES_IDLE)
  expect(worst / idle).toBeLessThan(WORST_TIMES_IDLE)
}

/** Bytes of the process that are in memory. */
async function memory(): Promise<number> {
  const page = await (await fetch(`${command.url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\d+)$/m.exec(page)?.[1])
}

describe('a caller within its limits, and the node itself,', () => {
  it.each(ATTACKS.map((attack) => [attack.name, attack] as const))('outlast %s', async (_, { bodies }) => {
    let received: readonly string[] = []
    const attack = Promise.all(bodies.map((body) => sendAttack(port, body))).then((texts) => {
      received = texts
    })
    await expectService(attack)
    expect(received).toHaveLength(bodies.length)
    for (const text of received) {
      expect([200, 503]).toContain(statuses(text)[0])
      expect(text).not.toContain('-32603')
      expect(leakIn(text)).toBeUndefined()
    }
  })

  it('outlast hundreds of connections that only begin', async () => {
    const sockets = await openSlowly(port, 600)
    await expectService()
    for (const socket of sockets) socket.close()
  })

  it('outlast connections that come and go', async () => {
    const comeAndGo = async () => {
      for (let i = 0; i < 150; i++) {
        const socket = await rawSocket(port)
        socket.send(i % 2 === 0 ? handshake() : 'POST / HT')
        socket.close()
      }
    }
    await expectService(Promise.all([comeAndGo(), comeAndGo()]))
  })

  it('outlast subscribers who do not read while blocks are mined', async () => {
    const subscribe = '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openFrames(port)))
    for (const socket of sockets) {
      for (let i = 0; i < 100; i++) socket.send(frame(subscribe))
      await socket.untilLast('"0x')
      socket.pause()
    }
    const mining = Promise.all(
      Array.from({ length: 20 }, () =>
        sendAttack(port, '{"jsonrpc":"2.0","id":1,"method":"evm_mine","params":[{"blocks":10}]}'),
      ),
    )
    await expectService(mining)
    for (const socket of sockets) socket.close()
  })

  it('find the node no larger than it may be, and as quick as before', async () => {
    expect((await memory()) - grownFrom).toBeLessThan(MOST_GROWTH)
    await expectService()
  })
})
