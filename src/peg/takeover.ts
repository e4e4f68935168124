/**
 * The Bridge of a fork with `--federation-takeover`: what the views of the upstream's Bridge tell is carried over, under a
 * federation whose keys are in the node, on the simulated Bitcoin chain. Nodes do not serve the Bridge's cells.
 */
import { DESTINATION_BYTES, destinationOf } from '../bitcoin/output-script.ts'
import { MAX_MONEY, type Transaction } from '../bitcoin/transaction.ts'
import { isActive } from '../chain/activations.ts'
import { type ChainConfig, PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { EMPTY, toBigInt } from '../encoding/bytes.ts'
import { fromHex, type Hex } from '../encoding/hex.ts'
import { asBytes, asList, decodeRlp } from '../encoding/rlp.ts'
import type { AccountEdit } from '../engine/dev/state-edits.ts'
import { NodeError } from '../errors.ts'
import { readBytes } from '../evm/precompiles/abi.ts'
import { openBridge } from '../evm/precompiles/bridge/bridge.ts'
import { FORMAT, WEI_PER_SATOSHI } from '../evm/precompiles/bridge/constants/network.ts'
import { bridgeNetwork } from '../evm/precompiles/bridge/constants/networks.ts'
import { type Federation, makeFederation } from '../evm/precompiles/bridge/federation/federation.ts'
import type { Member } from '../evm/precompiles/bridge/federation/members.ts'
import { outputList, type SpendableOutput } from '../evm/precompiles/bridge/storage/outputs.ts'
import {
  type ReleaseRequest,
  requestQueue,
  SIGNING_RELEASES,
  waitingReleases,
} from '../evm/precompiles/bridge/storage/releases.ts'
import { decodeInteger } from '../evm/precompiles/bridge/storage/store.ts'
import { CELL } from '../state/bridge-cells.ts'
import type { RemoteChain, RemoteState } from '../state/remote/model.ts'
import { callData } from './call-data.ts'

const BRIDGE = PRECOMPILE_ADDRESS.bridge
/** Coins that there are on this chain, wei: what the Bridge has not is locked on the parent chain. */
const ALL_COINS = 21_000_000n * 10n ** 18n

/** What is carried over. Amounts in satoshi. */
export interface CarriedBridge {
  /** Of the coins that the federation can spend. */
  readonly coins: readonly bigint[]
  /** Peg-outs that were not paid; those that were under way are asked for again. */
  readonly requests: readonly ReleaseRequest[]
  readonly nextPegoutHeight: bigint
  readonly lockingCap: bigint | undefined
  readonly feePerKb: bigint | undefined
}

/** The chain with its Bridge after the fork's block. */
type Place = Pick<ChainConfig, 'network' | 'ruleHeights'> & { readonly number: number }

const rulesOf =
  ({ ruleHeights, number }: Place) =>
  (rule: Parameters<typeof isActive>[1]): boolean =>
    isActive(ruleHeights, rule, number)

/** The output of a view; `undefined` where the upstream does not have it. */
async function view(state: RemoteState, signature: string): Promise<Uint8Array | undefined> {
  try {
    const output = await state.call({ to: BRIDGE, data: callData(signature) })
    return output.length === 0 ? undefined : output
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'reverted') return undefined
    throw error
  }
}

/** A view of an amount. Throws `upstream` for one that there is not. */
async function amountOf(state: RemoteState, signature: string, origin: string): Promise<bigint | undefined> {
  const output = await view(state, signature)
  const amount = output && toBigInt(output)
  if (amount === undefined || amount <= MAX_MONEY) return amount
  throw new NodeError('upstream', `The upstream ${origin} answers ${signature} with ${amount} satoshi.`)
}

/** Coins that are locked on the parent chain for those on this one. */
async function lockedCoins(state: RemoteState): Promise<bigint> {
  await state.fetch([{ kind: 'account', address: BRIDGE }])
  const balance = state.account(BRIDGE)?.account?.balance ?? ALL_COINS
  return balance >= ALL_COINS ? 0n : (ALL_COINS - balance) / WEI_PER_SATOSHI
}

const sum = (values: readonly bigint[]): bigint => values.reduce((all, one) => all + one, 0n)

/** The peg-outs that a transaction pays: its outputs to keys. Those to scripts are change. */
function requestsIn(transaction: Transaction, requestHash: Uint8Array | undefined): ReleaseRequest[] {
  return transaction.outputs.flatMap(({ value: amount, script }) => {
    const destination = destinationOf(script)
    return destination?.kind === 'publicKeyHash' ? [{ receiver: destination.hash, amount, requestHash }] : []
  })
}

/** What the upstream's Bridge tells after the fork's block. Throws `upstream` for one that has no Bridge. */
export async function readUpstreamBridge(remote: RemoteChain): Promise<CarriedBridge> {
  const { origin } = remote.upstream
  const state = remote.stateAt(remote.point)
  const output = await view(state, 'getStateForDebugging()')
  if (output === undefined) {
    throw new NodeError(
      'upstream',
      `The upstream ${origin} has no Bridge whose federation could be replaced.`,
    )
  }
  const { network, ruleHeights } = remote.config
  const place = { network, ruleHeights, number: remote.point.number }
  const { coins, requests, nextPegoutHeight } = stateOf(output, place, origin)
  // Coins of a retiring federation are in no view, but what they are locked for is known.
  const missing = (await lockedCoins(state)) + sum(requests.map(({ amount }) => amount)) - sum(coins)
  return {
    coins: missing > 0n ? [...coins, missing] : coins,
    requests,
    nextPegoutHeight,
    lockingCap: await amountOf(state, 'getLockingCap()', origin),
    feePerKb: await amountOf(state, 'getFeePerKb()', origin),
  }
}

/** What the view has told; throws `upstream` for what no Bridge tells. */
function stateOf(output: Uint8Array, place: Place, origin: string) {
  try {
    const state = decodeState(readBytes(output, 0), place)
    const amounts = [...state.coins, ...state.requests.map(({ amount }) => amount)]
    if (amounts.some((amount) => amount < 0n) || sum(amounts) > MAX_MONEY)
      throw new RangeError('amounts that there are not')
    if (state.requests.some(({ receiver }) => receiver.length !== DESTINATION_BYTES))
      throw new RangeError('a peg-out without a receiver')
    return state
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const told = `The upstream ${origin} tells a state of the Bridge that cannot be read`
    throw new NodeError('upstream', `${told}: ${error.message}.`)
  }
}

function decodeState(bytes: Uint8Array, place: Place) {
  const isInForce = rulesOf(place)
  const items = asList(decodeRlp(bytes), 'state of the Bridge').map((item) => asBytes(item, 'a part of it'))
  const [, outputs, signing, queue = EMPTY, waiting = EMPTY, next = EMPTY] = items
  const twoCells = (cell: Uint8Array) => (isInForce('rskip146') ? [EMPTY, cell] : [cell])
  const underWay: (readonly [Transaction, Uint8Array | undefined])[] = [
    ...[...SIGNING_RELEASES.decode([signing ?? EMPTY])].map(
      ([hash, release]) => [release, fromHex(hash)] as const,
    ),
    ...waitingReleases(isInForce)
      .decode(twoCells(waiting))
      .map(({ transaction, creationHash }) => [transaction, creationHash] as const),
  ]
  const spendable = outputList(CELL.newOutputs).decode([outputs ?? EMPTY])
  return {
    coins: [
      ...spendable.map(({ value }) => value),
      ...underWay.map(([release]) => sum(release.outputs.map(({ value }) => value))),
    ],
    requests: [
      ...requestQueue(isInForce).decode(twoCells(queue)),
      ...underWay.flatMap(([release, hash]) => requestsIn(release, hash)),
    ],
    nextPegoutHeight: decodeInteger(next) ?? 0n,
  }
}

/** The federation that takes over: that of the local network, of the kind that the rules know. */
export function takingFederation(place: Place, timestamp: number): Federation {
  const isInForce = rulesOf(place)
  const network = bridgeNetwork(place.network.bridge, 'takeover')
  const members = network.genesisFederation.keys.map((digits): Member => {
    const key = fromHex(`0x${digits}`)
    return [key, key, key]
  })
  const emergency = isInForce('rskip353') ? FORMAT.emergency : FORMAT.standard
  const format = isInForce('rskip305') ? FORMAT.witness : emergency
  const record = { format, members, creationBlock: place.number, creationTime: timestamp * 1000 }
  return makeFederation(record, network, isInForce)
}

/** The Bridge with nothing but what is carried over, and coins on the simulated chain. */
export function bridgeEdit(
  { requests, nextPegoutHeight, lockingCap, feePerKb }: CarriedBridge,
  federation: Federation,
  coins: readonly SpendableOutput[],
  place: Place,
): AccountEdit {
  const cells = new Map<bigint, Uint8Array>()
  const bytes = (slot: bigint) => cells.get(slot) ?? EMPTY
  const storage = {
    get: (slot: bigint) => toBigInt(bytes(slot)),
    bytes,
    setBytes: (slot: bigint, value: Uint8Array) => void cells.set(slot, value),
  }
  const network = bridgeNetwork(place.network.bridge, 'takeover')
  const { store, peg, federationCells } = openBridge(
    { storage, number: place.number },
    network,
    rulesOf(place),
  )
  federationCells.newFederation.set(federation)
  federationCells.newOutputs.set(coins)
  peg.requests.set(requests)
  // The constants are those of the local network, whose batches are closer together than the upstream's.
  const latest = BigInt(place.number + network.blocksBetweenPegouts)
  peg.setNextPegoutHeight(nextPegoutHeight < latest ? nextPegoutHeight : latest)
  if (lockingCap !== undefined) store.writeInteger(CELL.lockingCap, lockingCap)
  if (feePerKb !== undefined) store.writeInteger(CELL.feePerKb, feePerKb)
  store.save()
  return { address: BRIDGE, replacesStorage: true, cells }
}

/** Accounts that pay for the federation's transactions. */
export function fundingEdits(addresses: readonly Hex[], balance: bigint): readonly AccountEdit[] {
  return addresses.map((address) => ({ address, balance }))
}
