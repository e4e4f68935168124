/** Counts the bytes of incomplete WebSocket messages, which ws buffers without reporting them. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type ByteBudget, CountedBuffer } from './byte-budget.ts'

/** Bytes of a client's control frame beside its payload: a header of two and the mask. */
const CONTROL_BYTES = 6

/** Takes the bytes from the budget until their message is complete; calls `onSpent` when the budget is spent. */
export function countIncomingBytes(
  socket: WebSocket,
  stream: Duplex,
  budget: ByteBudget,
  onSpent: () => void,
): void {
  const buffer = new CountedBuffer(budget)
  let partial = 0

  function resize(bytes: number): boolean {
    partial = Math.max(0, bytes)
    return buffer.resize(partial)
  }

  const onBytes = (chunk: Buffer) => {
    if (!resize(partial + chunk.length)) onSpent()
  }
  // A control frame may come between the frames of a message, and does not complete it.
  const onControl = (data: Buffer) => resize(partial - data.length - CONTROL_BYTES)
  // Prepended to the listener of ws, so that a message completes after its last byte is counted.
  stream.prependListener('data', onBytes)
  socket
    .on('message', () => resize(0))
    .on('ping', onControl)
    .on('pong', onControl)
  socket.once('close', () => {
    stream.off('data', onBytes)
    resize(0)
  })
}
