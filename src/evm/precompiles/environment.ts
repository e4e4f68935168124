/** 0x01000011: what code cannot see of the frame it runs in (RSKIP-203). */
import { encodeUnsigned } from './abi.ts'
import { methodContract, precompileMethod } from './method-contract.ts'

/** `getCallStackDepth() returns (uint32)`: 1 for the outermost frame; free of charge. */
export const environmentContract = methodContract([
  precompileMethod({
    signature: 'getCallStackDepth()',
    decode: () => undefined,
    gas: () => 0n,
    run: (_, env) => encodeUnsigned(BigInt(env.depth + 1)),
  }),
])
