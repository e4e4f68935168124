/** The WebSocket endpoint against frames that are none, messages that never end, and peers that do not read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import {
  BINARY,
  CLOSE,
  CONTINUATION,
  closeCode,
  frame,
  handshake,
  openFrames,
  PING,
  PONG,
  TEXT,
} from './frames.ts'
import { connection, statuses } from './raw-socket.ts'
import { leakIn } from './reply-check.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'

let served: ServedNode
beforeAll(async () => {
  served = await servedNode(
    {},
    { transferTimeoutMs: 200, maxBodyBytes: 200_000, maxBufferedBytes: 1_000_000 },
  )
})
afterAll(() => served.close())
const port = () => served.server.port

/** What the node sends to these frames until it closes. */
async function sendAll(...frames: readonly Uint8Array[]): Promise<string> {
  const socket = await openFrames(port())
  for (const each of frames) socket.send(each)
  const text = await socket.until((received) => closeCode(received) !== undefined)
  socket.close()
  return text
}

describe('a frame that breaks the protocol', () => {
  it.each<[string, Buffer[], number]>([
    ['not masked', [frame(CALL, { masked: false })], 1002],
    ['with reserved bits', [frame(CALL, { reserved: 4 })], 1002],
    ['of a reserved kind', [frame(CALL, { opcode: 3 })], 1002],
    ['of a reserved kind of control', [frame('', { opcode: 11 })], 1002],
    ['that continues no message', [frame(CALL, { opcode: CONTINUATION })], 1002],
    ['that begins within a message', [frame('{', { fin: false }), frame(CALL)], 1002],
    ['of control in parts', [frame('', { opcode: PING, fin: false })], 1002],
    ['of control, too long', [frame('x'.repeat(126), { opcode: PING })], 1002],
    ['of closing with half a code', [frame(Buffer.of(3), { opcode: CLOSE })], 1002],
    ['of closing with a reserved code', [frame(Buffer.from([3, 0xed]), { opcode: CLOSE })], 1002],
    [
      'of closing with a reason that is not UTF-8',
      [frame(Buffer.from([3, 0xe8, 0xff]), { opcode: CLOSE })],
      1007,
    ],
    ['of invalid UTF-8 text', [frame(Buffer.of(0xc0, 0x80))], 1007],
    ['of binary', [frame(CALL, { opcode: BINARY })], 1003],
    ['longer than the limit', [frame('x', { length: 200_001n })], 1009],
    ['longer than any memory', [frame('x', { length: 2n ** 52n })], 1009],
    ['longer than any number', [frame('x', { length: 2n ** 63n })], 1009],
    [
      'too long in all its parts',
      [frame('x'.repeat(150_000), { fin: false }), frame('x'.repeat(60_000), { opcode: CONTINUATION })],
      1009,
    ],
  ])('%s ends the connection with its code', async (_, frames, code) => {
    const text = await sendAll(...frames)
    expect(closeCode(text)).toBe(code)
    expect(leakIn(text)).toBeUndefined()
    expect(await served.call('eth_chainId')).toBe('0x21')
  })

  it('ends the connection', async () => {
    const noise = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 211 + 7) & 0xff))
    expect(closeCode(await sendAll(noise))).toBe(1002)
  })
})

describe('a message in many frames', () => {
  it('of one byte each, with pings between them, is read', async () => {
    const socket = await openFrames(port())
    for (const [i, letter] of [...CALL].entries()) {
      socket.send(frame(letter, { opcode: i === 0 ? TEXT : CONTINUATION, fin: false }))
      socket.send(frame(letter, { opcode: i % 2 === 0 ? PING : PONG }))
      socket.send(frame('', { opcode: CONTINUATION, fin: false }))
    }
    socket.send(frame('', { opcode: CONTINUATION }))
    expect(await socket.until((text) => /"result":"0x21"\}/.test(text))).toContain('"id":1')
    socket.close()
  })

  it('with too many frames ends the connection', async () => {
    const parts = Buffer.concat(
      Array.from({ length: 20_000 }, (_, i) =>
        frame('x', { opcode: i === 0 ? TEXT : CONTINUATION, fin: false }),
      ),
    )
    expect(closeCode(await sendAll(parts))).toBe(1008)
  })
})

describe('messages that never end', () => {
  it('share one memory limit, and release their memory', async () => {
    const started = frame('x'.repeat(190_000), { fin: false })
    const sockets = []
    for (let i = 0; i < 7; i++) {
      const socket = await openFrames(port())
      socket.send(started)
      // Pings between the parts do not make them forgotten.
      for (let ping = 0; ping < 20; ping++) socket.send(frame('x'.repeat(125), { opcode: PING }))
      sockets.push(socket)
    }
    const [first] = await Promise.race(sockets.map(async (socket, i) => [i, await socket.ended()] as const))
    expect(first).toBeGreaterThan(3)
    for (const socket of sockets) socket.close()
    const socket = await openFrames(port())
    // The room of those who are gone is free when their ends have arrived.
    while ((await served.post(`["${'x'.repeat(150_000)}"]`)).status !== 200);
    socket.send(frame(`[${CALL}${' '.repeat(150_000)}]`))
    expect(await socket.until((text) => /"result"/.test(text))).toContain('0x21')
    socket.close()
  })
})

/** Resolves when a node counts no WebSocket any more. */
async function noSockets(of: number): Promise<void> {
  const watch = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  while (!/^tandem_sockets\{kind="websocket"\} 0$/m.test(await connection(of, watch)));
}

describe('a peer that does not read', () => {
  it('replies is disconnected', async () => {
    // No ping ends this connection: only the transfer timeout can.
    const served = await servedNode({}, { transferTimeoutMs: 200, pingIntervalMs: 600_000 })
    const { port } = served.server
    const socket = await openFrames(port)
    socket.pause()
    const call = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}'
    const { length } = (await served.post(call)).text
    // Each answer is just below the limit of 10 MiB; four are more than the system's own buffers take.
    const batch = `[${new Array(Math.floor(10_000_000 / length)).fill(call).join(',')}]`
    for (let i = 0; i < 4; i++) socket.send(frame(batch))
    await noSockets(port)
    socket.close()
    await served.close()
  })

  it('pongs gets only as many as the buffers hold', async () => {
    const socket = await openFrames(port())
    socket.pause()
    const pings = Buffer.concat(Array.from({ length: 1000 }, () => frame('x'.repeat(125), { opcode: PING })))
    for (let i = 0; i < 300; i++) socket.send(pings)
    socket.send(frame(CALL))
    await socket.drained()
    socket.resume()
    // What lies in the system's own buffers is some ten megabytes each way; all pongs would be forty.
    expect(await socket.untilLast('"0x21"')).toBeLessThan(30_000_000)
    socket.close()
  })

  it('and answers no pings is disconnected', async () => {
    const impatient = await servedNode({}, { pingIntervalMs: 50 })
    const socket = await openFrames(impatient.server.port)
    expect(closeCode(await socket.ended())).toBeUndefined()
    await impatient.close()
  })
})

describe('a handshake', () => {
  it.each<[string, string, number]>([
    ['from a foreign page', handshake('/', 'Origin: http://evil.example\r\n'), 403],
    ['from no page at all', handshake('/', 'Origin: null\r\n'), 403],
    ['under a foreign name', handshake().replace('localhost', 'evil.example'), 403],
    ['of another version', handshake().replace('Version: 13', 'Version: 99'), 400],
    ['without a version', handshake().replace(/Sec-WebSocket-Version.*\r\n/, ''), 400],
    ['without a key', handshake().replace(/Sec-WebSocket-Key.*\r\n/, ''), 400],
    ['with a key that is none', handshake().replace(/Key: .*\r\n/, 'Key: short\r\n'), 400],
    ['by POST', handshake().replace('GET', 'POST'), 405],
  ])('%s is refused', async (_, request, status) => {
    const text = await connection(port(), request)
    expect(statuses(text)).toEqual([status])
    expect(leakIn(text)).toBeUndefined()
  })

  it('with another protocol, or with requests for compression and subprotocols, gets none of them', async () => {
    const extras =
      'Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=8\r\nSec-WebSocket-Protocol: a, b\r\n'
    const text = await connection(
      port(),
      handshake('/', extras),
      frame(Buffer.from([3, 0xe8]), { opcode: CLOSE }),
    )
    expect(statuses(text)).toEqual([101])
    expect(text).not.toMatch(/deflate/)
    expect(closeCode(text)).toBe(1000)
  })
})
