/**
 * 0x01000008 as a called contract: it returns its state, and pays only in the last transaction of a block
 * (docs/internals/protocol.md#54-remasc-payout).
 */
import { equal, fromBigInt } from '../../encoding/bytes.ts'
import { keccak256 } from '../../encoding/hash.ts'
import { frameList, frameString } from '../../encoding/rlp-frame.ts'
import { REMASC_SLOT } from '../../state/remasc-storage.ts'
import { encodeBytes } from './abi.ts'
import { type PrecompileCode, PrecompileFailure } from './precompile.ts'

const GET_STATE = keccak256(new TextEncoder().encode('getStateForDebugging()')).subarray(0, 4)

/**
 * `getStateForDebugging() returns (bytes)`, its selector and not a byte more, gives RLP of [pot wei,
 * burned wei, empty list, one byte 00 or 01: was the selection rule broken]. Everything else fails to execute, also no
 * input at all, which is how the last transaction of a block asks for the payout.
 */
export const remascContract: PrecompileCode = {
  run(input, { storage }) {
    if (!equal(input, GET_STATE)) throw new PrecompileFailure('REMASC does not serve this call')
    return encodeBytes(
      frameList([
        frameString(fromBigInt(storage.get(REMASC_SLOT.rewardBalance))),
        frameString(fromBigInt(storage.get(REMASC_SLOT.burnedBalance))),
        frameList([]),
        frameString(Uint8Array.of(storage.get(REMASC_SLOT.brokenSelectionRule) === 0n ? 0 : 1)),
      ]),
    )
  },
}
