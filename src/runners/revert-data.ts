/** Why a call failed, from whatever error a client threw. */
import { panicMessage } from '../abi/panic.ts'
import { decodedText } from '../abi/registry.ts'
import { fromHex, type Hex, lowerCaseHex } from '../encoding/hex.ts'
import { revertReason } from '../evm/failure-message.ts'
import type { Node } from '../node/node.ts'

/** Depth of nested causes that is searched. */
const MOST_CAUSES = 16
const HEX = /^0x([0-9a-f]{2})*$/i

/** The data of the innermost error that has some: clients wrap the node's error in `cause`, `error`, `info` or `data`. */
function dataIn(error: unknown, depth = 0): Hex | undefined {
  if (typeof error !== 'object' || error === null || depth > MOST_CAUSES) return undefined
  const { data, cause, info, error: inner } = error as Record<string, unknown>
  if (typeof data === 'string' && HEX.test(data)) return lowerCaseHex(data)
  for (const next of [data, cause, info, inner]) {
    const found = dataIn(next, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** A decoded failure of a contract. */
export interface Revert {
  /** `Error` for a reason text, `Panic` for a check of the compiler, else the name of a custom error. */
  readonly name: string
  readonly values: readonly unknown[]
  /** The reason text, the meaning of the panic, or the custom error with its values, such as `Refused(0x…, 5)`. */
  readonly text: string
  readonly data: Hex
}

/**
 * Decodes why a call failed; custom errors by the ABIs that the node knows (option `abi`, `evm_setAbi`). `undefined`
 * for an error that is not a failure of a contract, and for a custom error of an unknown name.
 */
export function revertOf({ engine: { names } }: Node, error: unknown): Revert | undefined {
  const data = dataIn(error)
  if (data === undefined) return undefined
  const payload = fromHex(data)
  const reason = revertReason(payload)
  if (reason !== undefined) return { name: 'Error', values: [reason], text: reason, data }
  const panic = panicMessage(payload)
  if (panic !== undefined) return { name: 'Panic', values: [panic], text: panic, data }
  const decoded = names.error(payload)
  return decoded && { name: decoded.name, values: decoded.values, text: decodedText(decoded), data }
}
