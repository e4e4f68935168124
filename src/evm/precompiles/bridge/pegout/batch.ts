/** Makes peg-outs of the requests: all of them in one transaction at a time (RSKIP-271). */
import { outputScript } from '../../../../bitcoin/output-script.ts'
import { concat, EMPTY, equal } from '../../../../encoding/bytes.ts'
import { type Hex, toFixedHex, toHex } from '../../../../encoding/hex.ts'
import { WEI_PER_SATOSHI } from '../constants/network.ts'
import { logBatchCreated } from '../events.ts'
import type { BridgeCall, BridgeState } from '../method.ts'
import type { ReleaseRequest } from '../storage/releases.ts'
import { feePerKb } from '../votes/settings.ts'
import { type BuildFailure, buildRelease, type Release } from './builder.ts'
import { displayedTxid, settle } from './settlement.ts'
import { activeWallet, balanceOf, type Wallet } from './wallet.ts'

/** Coins that no account of the parent chain has got are burnt here. */
const BURN_ADDRESS = toFixedHex(2n ** 160n - 1n, 20)

/** Requests that a call looks at before RSKIP-271. */
const MOST_TRIED = 30

/** Satoshi of all requests. */
function totalOf(requests: readonly ReleaseRequest[]): bigint {
  return requests.reduce((sum, { amount }) => sum + amount, 0n)
}

/** The peg-out of these requests; a word when it cannot be made. */
export function buildPegout(
  state: BridgeState,
  wallet: Wallet,
  requests: readonly Pick<ReleaseRequest, 'receiver' | 'amount'>[],
): Release | BuildFailure {
  return buildRelease({
    wallet,
    payments: requests.map(({ receiver, amount }) => ({
      value: amount,
      script: outputScript({ kind: 'publicKeyHash', hash: receiver }),
    })),
    change: wallet.federation.outputScript,
    isPaidByReceivers: true,
    feePerKb: feePerKb(state),
    version: state.isActive('rskip201') ? 2 : 1,
  })
}

/** Burns what the requests paid more than the federation spent, where change was raised at their cost. */
function burnDifference(
  { env }: BridgeCall,
  wallet: Wallet,
  { transaction, spent }: Release,
  paid: bigint,
): void {
  const { outputs } = transaction
  if (outputs.length <= 1) return
  const own = wallet.federation.outputScript
  const change = outputs.reduce((sum, { value, script }) => sum + (equal(script, own) ? value : 0n), 0n)
  const used = balanceOf({ outputs: spent }) - change
  if (used < paid) env.transfer(BURN_ADDRESS, (paid - used) * WEI_PER_SATOSHI)
}

/** The peg-out of as many requests as fit, from the first on; `undefined` when none can be made. */
function largestBatch(
  call: BridgeCall,
  wallet: Wallet,
): { readonly release: Release; readonly count: number } | undefined {
  const requests = call.peg.requests.get()
  let count = requests.length
  let release = buildPegout(call, wallet, requests)
  while (release === 'too large' && count > 1) {
    count = Math.floor(count / 2)
    release = buildPegout(call, wallet, requests.slice(0, count))
  }
  return typeof release === 'string' ? undefined : { release, count }
}

function makeBatch(call: BridgeCall, wallet: Wallet, creationHash: Hex): void {
  const { env, peg, network, federations } = call
  if (BigInt(env.number) < peg.nextPegoutHeight) return
  const requests = peg.requests.get()
  const amount = totalOf(requests)
  if (balanceOf(wallet) < amount) return
  if (requests.length > 0) {
    const batch = largestBatch(call, wallet)
    if (batch === undefined) return
    const { release, count } = batch
    settle(call, federations.activeOutputs(), release, { creationHash, amount })
    peg.requests.set(requests.slice(count))
    const hashes = requests.slice(0, count).map(({ requestHash }) => requestHash ?? EMPTY)
    logBatchCreated(env, [displayedTxid(release.transaction)], [concat(...hashes)])
    burnDifference(call, wallet, release, amount)
  }
  if (peg.requests.get().length === 0) {
    peg.setNextPegoutHeight(BigInt(env.number + network.blocksBetweenPegouts))
  }
}

/** Before RSKIP-271 each request has a transaction of its own; those that cannot be served go to the end of the queue. */
function makeSingly(call: BridgeCall): void {
  const { peg, federations } = call
  const requests = peg.requests.get()
  const left: ReleaseRequest[] = []
  for (const request of requests.slice(0, MOST_TRIED)) {
    const wallet = activeWallet(call)
    const release = buildPegout(call, wallet, [request])
    if (typeof release === 'string') {
      left.push(request)
      continue
    }
    const creationHash = request.requestHash && toHex(request.requestHash)
    settle(call, federations.activeOutputs(), release, { creationHash, amount: request.amount })
    burnDifference(call, wallet, release, request.amount)
  }
  peg.requests.set([...requests.slice(MOST_TRIED), ...left])
}

/** Makes a peg-out if one is due. */
export function makePegouts(call: BridgeCall, creationHash: Hex): void {
  const wallet = activeWallet(call)
  call.peg.requests.get()
  call.peg.waiting.get()
  if (call.isActive('rskip271')) makeBatch(call, wallet, creationHash)
  else makeSingly(call)
}
