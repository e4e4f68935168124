/** The names of custom errors, where an ABI tells them, in the words for a failure. */
import { type AbiRegistry, decodedText } from '../abi/registry.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Failure } from '../evm/failure-message.ts'
import { REVERTED } from '../evm/failure-message.ts'

/** Adds names to a failure of a message to `to`; one without a known name stays as it is. */
export type ErrorNames = (failure: Failure, to: Hex | null) => Failure

/** Names failures by a registry: behind the node's own words, which every client knows. */
export function createErrorNames(names: AbiRegistry): ErrorNames {
  return (failure, to) => {
    if (failure.reason !== REVERTED || names.isEmpty) return failure
    const error = names.error(failure.output, to ?? undefined)
    return error === undefined ? failure : { ...failure, reason: `${REVERTED}: ${decodedText(error)}` }
  }
}
