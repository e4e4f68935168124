/** The results of two EVMs for one message, and the first difference. */
import type { Account } from '../chain/account.ts'
import type { Log } from '../chain/receipt.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import type { MessageResult } from '../evm/message.ts'
import type { Overlay } from '../state/overlay.ts'
import { cellBytes } from '../state/state-keys.ts'

/** The end of a message with the state that it left: an overlay of its own. */
export interface Ended {
  readonly result: MessageResult
  readonly state: Overlay
}

/** Something that is not the same, by name, with the texts of both. */
export interface Difference {
  readonly what: string
  readonly tandem: string
  readonly ethereumjs: string
}

const logText = ({ address, topics, data }: Log): string => `${address} [${topics.join(', ')}] ${toHex(data)}`

const accountText = (account: Account | undefined): string =>
  account === undefined
    ? 'no account'
    : `nonce ${account.nonce}, balance ${account.balance}, code hash ${account.codeHash}` +
      `${account.isContract ? ', a contract' : ''}`

const sorted = (addresses: Iterable<Hex> | undefined): string => [...(addresses ?? [])].sort().join(', ')

/** What a message did, apart from the state: texts by name, in the order in which they are compared. */
function effects({ result }: Ended): ReadonlyMap<string, string> {
  return new Map([
    ['status', result.status],
    ['gas used', `${result.gasUsed}`],
    ['output', toHex(result.output)],
    ['logs', result.logs.map(logText).join('; ')],
    ['refund', `${result.refund}`],
    ['created contract', result.created ?? 'none'],
    ['destroyed contracts', sorted(result.destroyed)],
    ['accounts of internal calls', sorted(result.participants)],
    ['contracts made by code', (result.creations ?? []).map((c) => `${c.contract} by ${c.creator}`).join()],
    ['failure of a precompiled contract', `${result.precompileFailed}`],
    ['calls with value', `${result.valueCallSeen}`],
    ['console calls', (result.consoleCalls ?? []).map(toHex).join()],
  ])
}

/** The slots of an address that either side wrote. */
function slotsOf(address: Hex, sides: readonly Ended[]): Set<bigint> {
  return new Set(
    sides.flatMap(({ state }) => [...(state.changes().storage.get(address)?.slots.keys() ?? [])]),
  )
}

function stateDifference(tandem: Ended, ethereumjs: Ended): Difference | undefined {
  const sides = [tandem, ethereumjs]
  const changes = sides.map(({ state }) => state.changes())
  const addresses = new Set(
    changes.flatMap(({ accounts, storage }) => [...accounts.keys(), ...storage.keys()]),
  )
  for (const address of addresses) {
    const [own = '', other = ''] = sides.map(({ state }) => accountText(state.account(address)))
    if (own !== other) return { what: `account ${address}`, tandem: own, ethereumjs: other }
    const wiped = changes.map(({ storage }) => `${storage.get(address)?.wiped ?? false}`)
    const [ownWiped = '', otherWiped = ''] = wiped
    if (ownWiped !== otherWiped)
      return { what: `emptied storage of ${address}`, tandem: ownWiped, ethereumjs: otherWiped }
    for (const slot of slotsOf(address, sides)) {
      const [ownCell = '', otherCell = ''] = sides.map(({ state }) =>
        toHex(cellBytes(state.cell(address, slot))),
      )
      if (ownCell === otherCell) continue
      return { what: `slot ${slot} of ${address}`, tandem: ownCell, ethereumjs: otherCell }
    }
  }
  return undefined
}

/** The first difference; `undefined` when there is none. Why a frame failed is not compared, only that it did. */
export function differenceOf(tandem: Ended, ethereumjs: Ended): Difference | undefined {
  const other = effects(ethereumjs)
  for (const [what, text] of effects(tandem)) {
    const otherText = other.get(what) ?? ''
    if (text !== otherText) return { what, tandem: text, ethereumjs: otherText }
  }
  return stateDifference(tandem, ethereumjs)
}
