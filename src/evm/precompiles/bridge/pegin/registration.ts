/** The methods that show transactions of the parent chain to the Bridge. */
import { EMPTY } from '../../../../encoding/bytes.ts'
import { encodeInt } from '../../abi.ts'
import type { BridgeMethod } from '../method.ts'
import { registerCoinbase } from './coinbase.ts'
import { registerFlyover } from './flyover.ts'
import { registerTransaction } from './register.ts'

/** All of them. */
export const REGISTRATION_METHODS: readonly BridgeMethod[] = [
  {
    signature: 'registerBtcTransaction(bytes,int256,bytes)',
    gas: 22_000n,
    servesOnly: 'federators',
    isPublic: (isActive) => isActive('rskip199'),
    run(call) {
      registerTransaction(call)
      return EMPTY
    },
  },
  {
    signature: 'registerBtcCoinbaseTransaction(bytes,bytes32,bytes,bytes32,bytes32)',
    gas: 10_000n,
    since: 'rskip143',
    run(call) {
      registerCoinbase(call)
      return EMPTY
    },
  },
  {
    signature: 'registerFastBridgeBtcTransaction(bytes,uint256,bytes,bytes32,bytes,address,bytes,bool)',
    gas: 25_000n,
    since: 'rskip176',
    run: (call) => encodeInt(registerFlyover(call)),
  },
]
