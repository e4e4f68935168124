/** What a call tree did outside of storage: transfers of the native coin, and logs. */
import type { Log } from '../../chain/receipt.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { CallFrame } from './call-frame.ts'

/** A transfer of the native coin. `value` in wei, more than 0. */
export interface NativeTransfer {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  /** A contract destroyed itself in favour of itself: its balance is gone. */
  readonly isBurnt: boolean
}

/** A transfer, or a log of the receipt. */
export type FrameEffect = { readonly transfer: NativeTransfer } | { readonly log: Log }

function transferOf({ kind, from, to, value }: CallFrame): NativeTransfer | undefined {
  const moves = kind === 'call' || kind === 'create' || kind === 'create2' || kind === 'selfdestruct'
  if (!moves || value === 0n || to === undefined) return undefined
  return { from, to, value, isBurnt: kind === 'selfdestruct' && from === to }
}

function collect(frame: CallFrame, into: FrameEffect[]): void {
  if (frame.failure !== undefined) return
  const transfer = transferOf(frame)
  if (transfer !== undefined) into.push({ transfer })
  let next = 0
  const logsUpTo = (position: number) => {
    for (; next < frame.logs.length; next++) {
      const entry = frame.logs[next]
      if (entry === undefined || entry.position > position) return
      into.push({ log: entry.log })
    }
  }
  for (const [index, call] of frame.calls.entries()) {
    logsUpTo(index)
    collect(call, into)
  }
  logsUpTo(frame.calls.length)
}

/** The effects of a call tree in the order in which they happened; none of frames that failed. */
export function frameEffects(root: CallFrame): readonly FrameEffect[] {
  const effects: FrameEffect[] = []
  collect(root, effects)
  return effects
}
