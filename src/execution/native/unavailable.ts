/** Native contracts that exist but refuse every caller: the reward contract, which serves only the last transaction of a block (protocol 5.4). */
import { type NativeContract, NativeFailure } from './contract.ts'

/** A native contract that costs nothing and always fails to execute; `name` tells which. */
export function unavailable(name: string): NativeContract {
  return {
    requiredGas: () => 0n,
    run() {
      throw new NativeFailure(`${name} does not serve this call`)
    },
  }
}
