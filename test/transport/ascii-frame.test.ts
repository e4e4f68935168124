/** Frames that are written without ws, read by a client of ws. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { asciiFrame } from '../../src/transport/ascii-frame.ts'

let server: Server
let client: WebSocket
let stream: Duplex

beforeEach(async () => {
  const acceptor = new WebSocketServer({ noServer: true })
  server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const [request, socket, head] = await once(server, 'upgrade')
  stream = socket
  const opened = once(client, 'open')
  acceptor.handleUpgrade(request, socket, head, () => {})
  await opened
})
afterEach(() => {
  client.terminate()
  server.close()
})

describe('asciiFrame', () => {
  it('is read back as the text, for every length that fits', async () => {
    for (const length of [0, 1, 125, 126, 127, 255, 256, 16_384, 65_535]) {
      const text = 'a~'.repeat(length).slice(0, length)
      const message = once(client, 'message')
      stream.write(asciiFrame(text) as string, 'latin1')
      const [data, isBinary] = await message
      expect([String(data), isBinary]).toEqual([text, false])
    }
  })

  it('returns undefined for longer texts and for texts that are not ASCII', () => {
    const others = ['a'.repeat(65_536), 'é', '\u0080', '€', '"\u{1f600}"', '\ud800']
    for (const text of others) expect(asciiFrame(text)).toBeUndefined()
  })
})
