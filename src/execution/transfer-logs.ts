/** Transfers of the native coin as ERC-20 logs, among the logs of contracts, as `eth_simulateV1` returns them. */
import type { Log } from '../chain/receipt.ts'
import { fromBigIntFixed } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { CallFrame } from '../evm/tracing/call-frame.ts'

/** The address that such logs have as their emitter. */
export const TRANSFER_EMITTER: Hex = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
/** `Transfer(address,address,uint256)`. */
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const asTopic = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`

function transferOf({ kind, from, to, value }: CallFrame): Log | undefined {
  const moves = kind === 'call' || kind === 'create' || kind === 'create2' || kind === 'selfdestruct'
  if (!moves || value === 0n || to === undefined) return undefined
  return {
    address: TRANSFER_EMITTER,
    topics: [TRANSFER, asTopic(from), asTopic(to)],
    data: fromBigIntFixed(value, 32),
  }
}

/** The logs of a call tree and its transfers in the order in which they happened; none of frames that failed. */
export function logsWithTransfers(frame: CallFrame): readonly Log[] {
  if (frame.failure !== undefined) return []
  const transfer = transferOf(frame)
  const logs: Log[] = transfer === undefined ? [] : [transfer]
  let next = 0
  for (const [index, call] of [...frame.calls, undefined].entries()) {
    for (; next < frame.logs.length && (frame.logs[next]?.position ?? 0) <= index; next++) {
      const entry = frame.logs[next]
      if (entry !== undefined) logs.push(entry.log)
    }
    if (call !== undefined) logs.push(...logsWithTransfers(call))
  }
  return logs
}
