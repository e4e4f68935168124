/** The Bridge's methods about peg-outs. */
import { fromBigInt } from '../../../../encoding/bytes.ts'
import { encodeRlp } from '../../../../encoding/rlp.ts'
import { frameList } from '../../../../encoding/rlp-frame.ts'
import { encodeBytes, encodeInt } from '../../abi.ts'
import type { BridgeMethod } from '../method.ts'
import { encodeOutputs } from '../storage/outputs.ts'
import { encodeRequests, encodeSigningReleases, encodeWaiting } from '../storage/releases.ts'
import { encodeInteger } from '../storage/store.ts'
import { encodeStrings } from '../storage/strings.ts'
import { localView, openView, type Run } from '../views.ts'
import { estimateAmount, estimateNext } from './estimates.ts'
import { addSignature } from './signing.ts'
import { updateCollections } from './update-collections.ts'

/** What waits for signatures, as one list within another. */
const forFederators: Run = ({ peg }) => encodeBytes(frameList([encodeSigningReleases(peg.signing.get())]))

/** The SVP spend transaction in the same way. */
const forProposed: Run = ({ peg }) => {
  const spend = peg.svpSpend.get()
  const releases = spend === undefined ? [] : ([[spend.creationHash, spend.transaction]] as const)
  const list = spend === undefined ? encodeStrings([]) : encodeSigningReleases(new Map(releases))
  return encodeBytes(frameList([list]))
}

/** Best height, the newest federation's coins, peg-outs to sign, requests, peg-outs to confirm, next peg-out. */
const debuggingState: Run = ({ headers, peg, federationCells, isActive }) => {
  const height = fromBigInt(BigInt(headers.best().height))
  const next = isActive('rskip271') ? peg.nextPegoutHeight : 0n
  return encodeBytes(
    encodeRlp([
      height,
      encodeOutputs(federationCells.newOutputs.get()),
      encodeSigningReleases(peg.signing.get()),
      encodeRequests(peg.requests.get(), isActive),
      encodeWaiting(peg.waiting.get(), isActive),
      encodeInteger(next),
    ]),
  )
}

/** All of them. Amounts in satoshi. */
export const PEGOUT_METHODS: readonly BridgeMethod[] = [
  { signature: 'addSignature(bytes,bytes[],bytes)', gas: 70_000n, servesOnly: 'signers', run: addSignature },
  { signature: 'updateCollections()', gas: 48_000n, servesOnly: 'federators', run: updateCollections },
  localView('getStateForBtcReleaseClient()', 4_000n, forFederators),
  localView('getStateForSvpClient()', 4_000n, forProposed, { since: 'rskip419' }),
  localView('getStateForDebugging()', 3_000_000n, debuggingState),
  openView('getNextPegoutCreationBlockNumber()', 3_000n, ({ peg }) => encodeInt(peg.nextPegoutHeight), {
    since: 'rskip271',
  }),
  openView('getQueuedPegoutsCount()', 3_000n, ({ peg }) => encodeInt(peg.requests.get().length), {
    since: 'rskip271',
  }),
  openView('getEstimatedFeesForNextPegOutEvent()', 10_000n, estimateNext, { since: 'rskip271' }),
  openView('getEstimatedFeesForPegOutAmount(uint256)', 10_000n, estimateAmount, { since: 'rskip540' }),
]
