/** 0x01000008 as others may call it: it shows its state, and pays only in the last transaction of a block (protocol 5.4). */
import { equal, fromBigInt } from '../../encoding/bytes.ts'
import { keccak256 } from '../../encoding/hash.ts'
import { frameList, frameString } from '../../encoding/rlp-frame.ts'
import { REWARD_SLOT } from '../reward/cells.ts'
import { encodeBytes } from './abi.ts'
import { type NativeContract, NativeFailure } from './contract.ts'

const GET_STATE = keccak256(new TextEncoder().encode('getStateForDebugging()')).subarray(0, 4)

/**
 * Free of charge. `getStateForDebugging() returns (bytes)`, its selector and not a byte more, gives RLP of [pot wei,
 * burned wei, empty list, one byte 00 or 01: was the selection rule broken]. Everything else fails to execute, also no
 * input at all, which is how the last transaction of a block asks for the payout.
 */
export const rewardContract: NativeContract = {
  requiredGas: () => 0n,
  run(input, { storage }) {
    if (!equal(input, GET_STATE)) throw new NativeFailure('the reward contract does not serve this call')
    return encodeBytes(
      frameList([
        frameString(fromBigInt(storage.get(REWARD_SLOT.rewardBalance))),
        frameString(fromBigInt(storage.get(REWARD_SLOT.burnedBalance))),
        frameList([]),
        frameString(Uint8Array.of(storage.get(REWARD_SLOT.brokenSelectionRule) === 0n ? 0 : 1)),
      ]),
    )
  },
}
