/** Call data to the console contract of Hardhat and Foundry, kept while a message runs. */

/** Bytes of call data kept per message; more is dropped, so that the memory in use is bounded. */
const MAX_BYTES = 1_048_576

/** Bytes counted for each payload beside its own, so that empty ones are bounded as well. */
const OVERHEAD = 64

/** Call data to the console, in order. */
export interface ConsoleCalls {
  readonly payloads: Uint8Array[]
  /** Of `payloads`, with their overhead. */
  bytes: number
}

/** Keeps one more payload, beside those of the same message. */
export function keepConsoleCall(calls: ConsoleCalls | undefined, payload: Uint8Array): ConsoleCalls {
  const kept = calls ?? { payloads: [], bytes: 0 }
  if (kept.bytes + payload.length <= MAX_BYTES) {
    kept.payloads.push(payload.slice())
    kept.bytes += payload.length + OVERHEAD
  }
  return kept
}
