/** The Bridge's methods about peg-outs. */
import { fromBigInt } from '../../../../encoding/bytes.ts'
import { encodeRlp } from '../../../../encoding/rlp.ts'
import { frameList } from '../../../../encoding/rlp-frame.ts'
import { CELL } from '../../../../state/bridge-cells.ts'
import { encodeBytes, encodeInt } from '../../abi.ts'
import { PrecompileFailure } from '../../precompile.ts'
import type { BridgeMethod } from '../method.ts'
import { encodeSigningReleases } from '../storage/releases.ts'
import { encodeInteger } from '../storage/store.ts'
import { encodeStrings } from '../storage/strings.ts'
import { localView, openView, type Run } from '../views.ts'
import { pegoutFee } from './release.ts'

/** One list within another. */
const forFederators: Run = ({ peg }) => encodeBytes(frameList([encodeSigningReleases(peg.signing.get())]))

const forProposed: Run = ({ peg }) => {
  const spend = peg.svpSpend.get()
  const list =
    spend === undefined
      ? encodeStrings([])
      : encodeSigningReleases(new Map([[spend.creationHash, spend.transaction]]))
  return encodeBytes(frameList([list]))
}

const EMPTY_LIST = encodeRlp([])

/** Best height, coins, peg-outs to sign, requests, peg-outs to confirm, next peg-out. */
const debuggingState: Run = ({ headers, peg, store }) => {
  const height = fromBigInt(BigInt(headers.best().height))
  peg.requests.get()
  const next = encodeInteger(store.readInteger(CELL.nextPegoutHeight) ?? 0n)
  return encodeBytes(encodeRlp([height, EMPTY_LIST, EMPTY_LIST, EMPTY_LIST, EMPTY_LIST, next]))
}

/** Without coins to plan with, the fee is that of two inputs, and two outputs beside the requests (RSKIP-385). */
const pegoutFees: Run = (call) => {
  call.federations.activeOutputs().get()
  return encodeInt(pegoutFee(call, 2, 2 + call.peg.requests.get().length))
}

const noCoins: Run = () => {
  throw new PrecompileFailure('there are no coins to plan a peg-out with')
}

const notYet: Run = () => {
  throw new PrecompileFailure('not simulated')
}

/** All of them. Amounts in satoshi. */
export const PEGOUT_METHODS: readonly BridgeMethod[] = [
  { signature: 'addSignature(bytes,bytes[],bytes)', gas: 70_000n, servesOnly: 'signers', run: notYet },
  { signature: 'updateCollections()', gas: 48_000n, servesOnly: 'federators', run: notYet },
  localView('getStateForBtcReleaseClient()', 4_000n, forFederators),
  localView('getStateForSvpClient()', 4_000n, forProposed, { since: 'rskip419' }),
  localView('getStateForDebugging()', 3_000_000n, debuggingState),
  openView('getNextPegoutCreationBlockNumber()', 3_000n, ({ peg }) => encodeInt(peg.nextPegoutHeight), {
    since: 'rskip271',
  }),
  openView('getQueuedPegoutsCount()', 3_000n, ({ peg }) => encodeInt(peg.requests.get().length), {
    since: 'rskip271',
  }),
  openView('getEstimatedFeesForNextPegOutEvent()', 10_000n, pegoutFees, { since: 'rskip271' }),
  openView('getEstimatedFeesForPegOutAmount(uint256)', 10_000n, noCoins, { since: 'rskip540' }),
]
