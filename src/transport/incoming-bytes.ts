/** Counts the bytes of incomplete WebSocket messages, which ws buffers without reporting them. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type ByteBudget, SMALL_BYTES } from './byte-budget.ts'

/** Bytes of a client's control frame beside its payload: a header of two and the mask. */
const CONTROL_BYTES = 6

/** Takes the bytes from the budget until their message is complete; calls `onSpent` when the budget is spent. */
export function countIncomingBytes(
  socket: WebSocket,
  stream: Duplex,
  budget: ByteBudget,
  onSpent: () => void,
): void {
  let partial = 0
  let counted = 0

  function hold(bytes: number): void {
    partial = Math.max(0, bytes)
    const wanted = partial > SMALL_BYTES ? partial : 0
    if (wanted > counted) budget.take(wanted - counted)
    else budget.give(counted - wanted)
    counted = wanted
  }

  const onBytes = (chunk: Buffer) => {
    hold(partial + chunk.length)
    if (counted > 0 && budget.isSpent) onSpent()
  }
  // A control frame may stand between the frames of a message, and completes none.
  const onControl = (data: Buffer) => hold(partial - data.length - CONTROL_BYTES)
  // Prepended to the listener of ws, so that a message completes after its last byte is counted.
  stream.prependListener('data', onBytes)
  socket
    .on('message', () => hold(0))
    .on('ping', onControl)
    .on('pong', onControl)
  socket.once('close', () => {
    stream.off('data', onBytes)
    hold(0)
  })
}
