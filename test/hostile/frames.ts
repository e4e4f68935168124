/** WebSocket by hand: a handshake, and frames with anything in them. */
import { randomBytes } from 'node:crypto'
import { type RawSocket, rawSocket } from './raw-socket.ts'

/** What can be wrong with a frame. */
export interface FrameParts {
  readonly opcode?: number
  readonly fin?: boolean
  /** The three reserved bits. */
  readonly reserved?: number
  readonly masked?: boolean
  /** The length in its header. */
  readonly length?: bigint
}

export const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10]

/** A frame of a client. */
export function frame(payload: string | Uint8Array, parts: FrameParts = {}): Buffer {
  const bytes = Buffer.from(payload)
  const { opcode = TEXT, fin = true, reserved = 0, masked = true, length = BigInt(bytes.length) } = parts
  const head = [(fin ? 0x80 : 0) | (reserved << 4) | opcode]
  const mask = masked ? 0x80 : 0
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(length)
  if (length < 126n) head.push(mask | Number(length))
  else if (length < 65_536n) head.push(mask | 126, ...size.subarray(6))
  else head.push(mask | 127, ...size)
  if (!masked) return Buffer.concat([Buffer.from(head), bytes])
  const key = randomBytes(4)
  const hidden = bytes.map((byte, i) => byte ^ (key[i & 3] as number))
  return Buffer.concat([Buffer.from(head), key, hidden])
}

/** The request to open a WebSocket, with further header lines. */
export function handshake(path = '/', headers = ''): string {
  const key = randomBytes(16).toString('base64')
  const lines = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n`
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines}${headers}\r\n`
}

/** A connection that is a WebSocket. */
export async function openFrames(port: number): Promise<RawSocket> {
  const socket = await rawSocket(port)
  socket.send(handshake())
  await socket.until((text) => /^HTTP\/1\.1 101 [\s\S]*\r\n\r\n/.test(text))
  return socket
}

/** The code of the close frame in what a server sent, if it sent one. */
export function closeCode(text: string): number | undefined {
  const bytes = Buffer.from(text, 'latin1')
  for (let at = bytes.indexOf('\r\n\r\n') + 4; at + 3 < bytes.length; ) {
    const [first, short] = [bytes[at] as number, bytes[at + 1] as number]
    if ((first & 15) === CLOSE) return bytes.readUInt16BE(at + 2)
    const extra = short === 127 ? 8 : short === 126 ? 2 : 0
    const length =
      short === 127
        ? Number(bytes.readBigUInt64BE(at + 2))
        : short === 126
          ? bytes.readUInt16BE(at + 2)
          : short
    at += 2 + extra + length
  }
  return undefined
}
