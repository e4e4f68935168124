/** The whitelist of those who may lock coins: kept and voted, though the chain no longer needs an entry in it. */

import { formatAddress, parseAddress } from '../../../../bitcoin/address.ts'
import type { Destination } from '../../../../bitcoin/output-script.ts'
import { compare, fromBigInt, fromBigIntSigned, stripZeros } from '../../../../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../../../encoding/hex.ts'
import { asBigInt, asBytes, asList, decodeRlp } from '../../../../encoding/rlp.ts'
import { frameStrings } from '../../../../encoding/rlp-frame.ts'
import { CELL } from '../../../../state/bridge-cells.ts'
import { MAX_LONG } from '../../../word.ts'
import { encodeInt } from '../../abi.ts'
import { PrecompileFailure } from '../../precompile.ts'
import type { BridgeCall, BridgeMethod, BridgeState } from '../method.ts'
import type { BridgeStore } from '../storage/store.ts'
import { ABSENT, encodeText, localView, type Run } from '../views.ts'

/** Results of the changes; 1 is success. */
const RESULT = {
  success: 1,
  present: -1,
  absent: -1,
  delaySet: -1,
  badAddress: -2,
  badDelay: -2,
  unauthorized: -10,
} as const

const MAX_INT = 2n ** 31n - 1n

/** The whitelist. */
export interface Whitelist {
  /** Satoshi that may be locked once, or `unlimited`, by the hash in the address, in its order. */
  readonly entries: ReadonlyMap<Hex, bigint | 'unlimited'>
  /** Height of the parent chain above which nobody needs an entry. */
  readonly disableHeight: bigint
}

/** The whitelist as stored. */
export function readWhitelist(store: BridgeStore): Whitelist {
  const oneOff = store.read(CELL.oneOffWhitelist)
  if (oneOff.length === 0) return { entries: new Map(), disableHeight: MAX_INT }
  const items = asList(decodeRlp(oneOff), 'whitelist')
  const entries: [Hex, bigint | 'unlimited'][] = []
  for (let i = 0; i + 1 < items.length; i += 2) {
    entries.push([toHex(asBytes(items[i], 'address')), asBigInt(items[i + 1], 'amount')])
  }
  const unlimited = store.read(CELL.unlimitedWhitelist)
  if (unlimited.length > 0) {
    for (const item of asList(decodeRlp(unlimited), 'whitelist')) {
      entries.push([toHex(asBytes(item, 'address')), 'unlimited'])
    }
  }
  return { entries: sorted(entries), disableHeight: asBigInt(items.at(-1), 'height') }
}

function sorted(entries: Iterable<[Hex, bigint | 'unlimited']>): Map<Hex, bigint | 'unlimited'> {
  return new Map([...entries].sort(([a], [b]) => compare(fromHex(a), fromHex(b))))
}

/** An amount as the cell has it: one below zero may be entered. */
function encodeAmount(amount: bigint): Uint8Array {
  return stripZeros(fromBigIntSigned(amount))
}

function write(store: BridgeStore, { entries, disableHeight }: Whitelist): void {
  const oneOff: Uint8Array[] = []
  const unlimited: Uint8Array[] = []
  for (const [hash, amount] of sorted(entries)) {
    if (amount === 'unlimited') unlimited.push(fromHex(hash))
    else oneOff.push(fromHex(hash), encodeAmount(amount))
  }
  store.write(CELL.oneOffWhitelist, frameStrings([...oneOff, fromBigInt(disableHeight)]))
  store.write(CELL.unlimitedWhitelist, frameStrings(unlimited))
}

/** Runs a change of the whitelist for the one who may make it; the whitelist is written back whatever comes of it. */
function change({ env, store, network }: BridgeCall, make: (list: Whitelist) => Whitelist | number): number {
  if (env.caller !== network.senders.whitelistVoter) return RESULT.unauthorized
  const list = readWhitelist(store)
  const made = make(list)
  write(store, typeof made === 'number' ? list : made)
  return typeof made === 'number' ? made : RESULT.success
}

/**
 * May a sender lock satoshi in a block of the parent chain of this height? An entry for one lock is used up. The whitelist
 * is written back.
 */
export function useWhitelist(
  { store }: BridgeState,
  sender: Destination,
  amount: bigint,
  height: number,
): boolean {
  const { entries, disableHeight } = readWhitelist(store)
  // The cell does not tell kinds of addresses apart; all are read as those of keys.
  const hash = sender.kind === 'publicKeyHash' ? toHex(sender.hash) : undefined
  const entry = hash === undefined ? undefined : entries.get(hash)
  const isListed = entry === 'unlimited' || (entry !== undefined && entry >= amount)
  const isAllowed = BigInt(height) > disableHeight || isListed
  const isUsed = isAllowed && entry !== 'unlimited'
  write(store, {
    entries: new Map([...entries].filter(([other]) => !(isUsed && other === hash))),
    disableHeight,
  })
  return isAllowed
}

/** The hash in the address that is the first argument; `undefined` when it is none of the network. */
function hashOf({ args, network }: BridgeCall): Uint8Array | undefined {
  return parseAddress(args.text(0), network.parent.addresses)?.slice(1)
}

function add(call: BridgeCall, amount: () => bigint | 'unlimited'): number {
  const parsed = hashOf(call)
  if (parsed === undefined) return RESULT.badAddress
  const hash = toHex(parsed)
  const entry = amount()
  return change(call, (list) =>
    list.entries.has(hash) ? RESULT.present : { ...list, entries: new Map(list.entries).set(hash, entry) },
  )
}

function addOneOff(call: BridgeCall): number {
  return add(call, () => {
    const amount = call.args.integer(1)
    if (amount > MAX_LONG || amount < -MAX_LONG - 1n)
      throw new PrecompileFailure('the amount is out of range')
    return amount
  })
}

function remove(call: BridgeCall): number {
  return change(call, (list) => {
    const parsed = hashOf(call)
    if (parsed === undefined) return RESULT.badAddress
    const entries = new Map(list.entries)
    return entries.delete(toHex(parsed)) ? { ...list, entries } : RESULT.absent
  })
}

function setDisableDelay(call: BridgeCall): number {
  const best = call.headers.best().height
  return change(call, (list) => {
    if (list.disableHeight < MAX_INT) return RESULT.delaySet
    const delay = call.args.integer(0)
    if (delay > MAX_INT || delay < -MAX_INT - 1n) throw new PrecompileFailure('the delay is out of range')
    const height = BigInt.asIntN(32, delay + BigInt(best))
    return height <= BigInt(best) ? RESULT.badDelay : { ...list, disableHeight: height }
  })
}

const whitelistAddress: Run = ({ args, store, network }) => {
  const hash = [...readWhitelist(store).entries.keys()][args.index(0)]
  if (hash === undefined) return encodeText('')
  return encodeText(formatAddress({ kind: 'publicKeyHash', hash: fromHex(hash) }, network.parent.addresses))
}

const whitelistEntry: Run = (call) => {
  const hash = hashOf(call)
  const amount = hash && readWhitelist(call.store).entries.get(toHex(hash))
  if (amount === undefined) return encodeInt(ABSENT)
  return encodeInt(amount === 'unlimited' ? 0 : amount)
}

/** The changes, and what reads the list. */
export const WHITELIST_METHODS: readonly BridgeMethod[] = [
  {
    signature: 'addLockWhitelistAddress(string,int256)',
    gas: 25_000n,
    until: 'rskip87',
    run: (call) => encodeInt(addOneOff(call)),
  },
  {
    signature: 'addOneOffLockWhitelistAddress(string,int256)',
    gas: 25_000n,
    since: 'rskip87',
    run: (call) => encodeInt(addOneOff(call)),
  },
  {
    signature: 'addUnlimitedLockWhitelistAddress(string)',
    gas: 25_000n,
    since: 'rskip87',
    run: (call) => encodeInt(add(call, () => 'unlimited')),
  },
  {
    signature: 'removeLockWhitelistAddress(string)',
    gas: 24_000n,
    run: (call) => encodeInt(remove(call)),
  },
  {
    signature: 'setLockWhitelistDisableBlockDelay(int256)',
    gas: 24_000n,
    run: (call) => encodeInt(setDisableDelay(call)),
  },
  localView('getLockWhitelistAddress(int256)', 16_000n, whitelistAddress),
  localView('getLockWhitelistEntryByAddress(string)', 16_000n, whitelistEntry, { since: 'rskip87' }),
  localView('getLockWhitelistSize()', 16_000n, ({ store }) => encodeInt(readWhitelist(store).entries.size)),
]
