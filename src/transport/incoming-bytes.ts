/** Counts what a WebSocket client has sent of a message that is not whole yet: such bytes wait, and nothing else sees them. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type ByteBudget, SMALL_BYTES } from './byte-budget.ts'

/** What a control frame of a client has beside its payload: two bytes and the mask. */
const CONTROL_BYTES = 6

/** Takes them from the budget until the message is whole; `onSpent` hears when that has no room for them. */
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
  // They may stand between the frames of a message, and end none.
  const onControl = (data: Buffer) => hold(partial - data.length - CONTROL_BYTES)
  // Before ws sees them, so that a message ends after its last byte is counted.
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
