/** Transfers of the native coin as ERC-20 logs, among the logs of contracts, as `eth_simulateV1` returns them. */
import type { Log } from '../chain/receipt.ts'
import { fromBigIntFixed } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { CallFrame } from '../evm/tracing/call-frame.ts'
import { frameEffects, type NativeTransfer } from '../evm/tracing/frame-effects.ts'
import { TOKEN_EVENT } from './asset-changes.ts'

/** The address that such logs have as their emitter. */
export const TRANSFER_EMITTER: Hex = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

const asTopic = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`

function transferLog({ from, to, value }: NativeTransfer): Log {
  return {
    address: TRANSFER_EMITTER,
    topics: [TOKEN_EVENT.transfer, asTopic(from), asTopic(to)],
    data: fromBigIntFixed(value, 32),
  }
}

/** The logs of a call tree and its transfers in the order in which they happened; none of frames that failed. */
export function logsWithTransfers(root: CallFrame): readonly Log[] {
  return frameEffects(root).map((effect) => ('log' in effect ? effect.log : transferLog(effect.transfer)))
}
