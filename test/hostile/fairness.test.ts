/**
 * A node of its own process under attack: how much work its main thread does for others before it answers a well-behaved
 * caller, and what the node keeps of the attack. Work is processor time of that thread, which other processes do not change.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningCommand, startCommand } from '../support/command.ts'
import { ATTACKS, openSlowly, sendAttack } from './attacks.ts'
import { frame, handshake, openFrames } from './frames.ts'
import { rawSocket, statuses } from './raw-socket.ts'
import { leakIn } from './reply-check.ts'

/**
 * How long a call waits, in units of work (`unit`): the median, and the longest, which is a few bodies of megabytes parsed
 * one after another. Loops that were not divided into time slices would take 9 seconds, on any machine.
 */
const MEDIAN_WAIT = 5
const LONGEST_WAIT = 120
/** Bytes by which the process may grow over all attacks. */
const MOST_GROWTH = 600 * 1024 * 1024
/** Calls of which a median is taken, at least. */
const CALLS = 25

let command: RunningCommand
let port: number
let grownFrom: number
beforeAll(async () => {
  command = await startCommand(['--memory', '--rpc-timeout', '300', '--max-subscriptions', '200'])
  port = Number(new URL(command.url).port)
  await measure(Promise.resolve())
  grownFrom = await memory()
})
afterAll(async () => {
  expect(await command.end('SIGTERM')).toBe(0)
  // Its log has errors only, and no attack is to make one.
  expect(command.output()).not.toMatch(/failed|Error/)
})

/** Milliseconds of processor time that the node's main thread has used. */
function mainThreadTime(): number {
  const { pid } = command.child
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return Number(nanoseconds) / 1e6
}

/** The longest list of lists that a node parses. */
const LARGEST_LIST = `[${'[],'.repeat(199_998)}[]]`
/** Milliseconds of processor time that parsing it takes here and now: what is slow for the node is slow for this too. */
function unit(): number {
  const runs = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage()
    JSON.parse(LARGEST_LIST)
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  })
  return Math.max(...runs)
}

/** How long calls on one connection wait, one after another, at least until something has ended. */
async function measure(
  until: Promise<unknown>,
): Promise<{ readonly median: number; readonly worst: number }> {
  const socket = await rawSocket(port)
  let isRunning = true
  const ended = until.finally(() => {
    isRunning = false
  })
  const waits: number[] = []
  for (let id = 0; isRunning || waits.length < CALLS; id++) {
    const body = `{"jsonrpc":"2.0","id":${id},"method":"eth_blockNumber","params":[]}`
    const start = mainThreadTime()
    socket.send(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await socket.untilLast(`"id":${id},"result":"0x`)
    waits.push(mainThreadTime() - start)
  }
  socket.close()
  await ended
  waits.sort((a, b) => a - b)
  return { median: waits[waits.length >> 1] as number, worst: waits.at(-1) as number }
}

/** Is the caller answered in time, until something has ended? */
async function expectService(until: Promise<unknown> = Promise.resolve()): Promise<void> {
  const { median, worst } = await measure(until)
  const each = unit()
  expect(median / each).toBeLessThan(MEDIAN_WAIT)
  expect(worst / each).toBeLessThan(LONGEST_WAIT)
}

/** Bytes of the process that are in memory. */
async function memory(): Promise<number> {
  const page = await (await fetch(`${command.url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\d+)$/m.exec(page)?.[1])
}

describe('a caller within its limits, and the node', () => {
  it.each(ATTACKS.map((attack) => [attack.name, attack] as const))(
    'stay responsive during %s',
    async (_, { bodies }) => {
      let received: readonly string[] = []
      const attack = Promise.all(bodies.map((body) => sendAttack(port, body))).then((texts) => {
        received = texts
      })
      await expectService(attack)
      expect(received).toHaveLength(bodies.length)
      for (const text of received) {
        expect(statuses(text)[0]).toBe(200)
        expect(text).not.toContain('-32603')
        expect(leakIn(text)).toBeUndefined()
      }
    },
  )

  it('stay responsive with hundreds of connections that never complete a request', async () => {
    const sockets = await openSlowly(port, 600)
    await expectService()
    for (const socket of sockets) socket.close()
  })

  it('stay responsive while connections are opened and closed at once', async () => {
    const comeAndGo = async () => {
      for (let i = 0; i < 150; i++) {
        const socket = await rawSocket(port)
        socket.send(i % 2 === 0 ? handshake() : 'POST / HT')
        socket.close()
      }
    }
    await expectService(Promise.all([comeAndGo(), comeAndGo()]))
  })

  it('stay responsive with subscribers that do not read while blocks are mined', async () => {
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

  it('end within the memory limit, at the initial speed', async () => {
    expect((await memory()) - grownFrom).toBeLessThan(MOST_GROWTH)
    await expectService()
  })
})
