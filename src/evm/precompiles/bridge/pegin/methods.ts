/** The Bridge's methods about peg-ins. */
import { reversed } from '../../../../bitcoin/hash.ts'
import { fromHex } from '../../../../encoding/hex.ts'
import { encodeInt } from '../../abi.ts'
import { PrecompileFailure } from '../../precompile.ts'
import { minimumPegin } from '../constants/network.ts'
import type { BridgeCall, BridgeMethod } from '../method.ts'
import { ABSENT, localView, openView } from '../views.ts'
import { REGISTRATION_METHODS } from './registration.ts'

/** The hash in the first argument, raw order. Throws PrecompileFailure for other text than 64 hexadecimal digits. */
function transactionHash({ args }: BridgeCall): Uint8Array {
  const text = args.text(0)
  if (!/^[0-9a-f]{64}$/.test(text)) throw new PrecompileFailure('malformed transaction hash')
  return reversed(fromHex(`0x${text}`))
}

function processedHeight(call: BridgeCall): number | undefined {
  return call.peg.processedHeight(transactionHash(call))
}

/** All of them. Amounts in satoshi. */
export const PEGIN_METHODS: readonly BridgeMethod[] = [
  ...REGISTRATION_METHODS,
  localView('getBtcTxHashProcessedHeight(string)', 22_000n, (call) =>
    encodeInt(processedHeight(call) ?? ABSENT),
  ),
  localView('isBtcTxHashAlreadyProcessed(string)', 23_000n, (call) =>
    encodeInt(processedHeight(call) === undefined ? 0 : 1),
  ),
  localView('getMinimumLockTxValue()', 2_000n, ({ isActive }) => encodeInt(minimumPegin(isActive))),
  openView(
    'hasBtcBlockCoinbaseTransactionInformation(bytes32)',
    5_000n,
    ({ peg, args }) => encodeInt(peg.witnessRoot(reversed(args.bytes(0))) === undefined ? 0 : 1),
    { since: 'rskip143' },
  ),
]
