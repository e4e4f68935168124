/** What code says to the console contract of Hardhat and Foundry, kept as it was sent while a message runs. */
import type { Hex } from '../encoding/hex.ts'

/** Nothing stands at this address ("console.log" in ASCII): calls to it cost and do what they do for any empty account. */
export const CONSOLE_ADDRESS: Hex = '0x000000000000000000636f6e736f6c652e6c6f67'

/** Call data kept of one message, bytes; what is said beyond is not kept, so that saying costs no memory without end. */
const MOST_KEPT = 1_048_576

/** Call data to the console, in order. */
export interface ConsoleCalls {
  readonly payloads: Uint8Array[]
  /** Of `payloads`, bytes. */
  bytes: number
}

/** Keeps one more payload, beside those of the same message. */
export function keepConsoleCall(calls: ConsoleCalls | undefined, payload: Uint8Array): ConsoleCalls {
  const kept = calls ?? { payloads: [], bytes: 0 }
  if (kept.bytes + payload.length <= MOST_KEPT) {
    kept.payloads.push(payload.slice())
    // An empty payload takes room too.
    kept.bytes += payload.length + 64
  }
  return kept
}
