/** Accounts and cells as calls, and back: as few calls as the upstream's methods allow. */
import { EMPTY_CODE_HASH } from '../../chain/account.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { hasPrecompileAccount } from '../../chain/precompile-accounts.ts'
import { keccakHex } from '../../encoding/hash.ts'
import { type Hex, toFixedHex, toQuantity } from '../../encoding/hex.ts'
import type { RpcCall } from '../../upstream/replies.ts'
import type { CacheRecord } from './cache/records.ts'
import { blockParameter, type Capabilities, needsCheck } from './capabilities.ts'
import type { RemoteBlockId, StateItem } from './model.ts'
import { AccountInfo, Balance, Data, Quantity, readAnswer, StorageValues, Word, wrongAnswer } from './wire.ts'

/** The most slots of one `eth_getStorageValues` or `eth_getProof`. */
export const MOST_SLOTS = 1024

/** Calls that belong together, and the records that their results, in the same order, stand for. */
export interface StateRequest {
  readonly calls: readonly RpcCall[]
  /** Throws `upstream` for results of another form. */
  records(results: readonly unknown[]): CacheRecord[]
}

/** What decides on the calls. */
export interface StateSource {
  readonly block: RemoteBlockId
  readonly capabilities: Capabilities
  readonly config: ChainConfig
  readonly origin: string
}

/**
 * An account without nonce, balance and code: no method of the upstream shows which of those exist; those of precompiled contracts do
 * (docs/internals/protocol.md#75-activation).
 */
export function accountRecords(
  address: Hex,
  { balance, nonce, code }: { readonly balance: bigint; readonly nonce: bigint; readonly code: Uint8Array },
  { config, block }: Pick<StateSource, 'config' | 'block'>,
  isProven = false,
): CacheRecord[] {
  const isPrecompile = hasPrecompileAccount(address, config.ruleHeights, block.number)
  const isEmpty = balance === 0n && nonce === 0n && code.length === 0
  if (isEmpty && !isPrecompile) return [{ kind: 'account', address, account: undefined, isProven }]
  const codeHash = code.length === 0 ? EMPTY_CODE_HASH : keccakHex(code)
  const account = { nonce, balance, codeHash, isContract: isPrecompile || code.length > 0 }
  const record: CacheRecord = { kind: 'account', address, account, isProven }
  return code.length === 0 ? [record] : [{ kind: 'code', code }, record]
}

function accountRequest(address: Hex, source: StateSource): StateRequest {
  const { capabilities, block, origin } = source
  const at = blockParameter(block, capabilities.anchor)
  if (capabilities.accountInfo) {
    const method = 'eth_getAccountInfo'
    return {
      calls: [{ method, params: [address, at] }],
      records: ([info]) => accountRecords(address, readAnswer(AccountInfo, info, method, origin), source),
    }
  }
  return {
    calls: [
      { method: 'eth_getBalance', params: [address, at] },
      { method: 'eth_getTransactionCount', params: [address, at] },
      { method: 'eth_getCode', params: [address, blockParameter(block, capabilities.codeAnchor)] },
    ],
    records: ([balance, nonce, code]) =>
      accountRecords(
        address,
        {
          balance: readAnswer(Balance, balance, 'eth_getBalance', origin),
          nonce: readAnswer(Quantity, nonce, 'eth_getTransactionCount', origin),
          code: readAnswer(Data, code, 'eth_getCode', origin),
        },
        source,
      ),
  }
}

/** One slot by `eth_getStorageAt`. */
function slotRequest(address: Hex, slot: bigint, { block, capabilities, origin }: StateSource): StateRequest {
  const method = 'eth_getStorageAt'
  return {
    // A QUANTITY without leading zeros is the form of a position that all nodes take.
    calls: [{ method, params: [address, toQuantity(slot), blockParameter(block, capabilities.anchor)] }],
    records: ([word]) => [
      { kind: 'cell', address, slot, value: readAnswer(Word, word, method, origin), isProven: false },
    ],
  }
}

/** Slots of several accounts by `eth_getStorageValues`. */
function slotsRequest(
  slots: ReadonlyMap<Hex, readonly bigint[]>,
  { block, capabilities, origin }: StateSource,
): StateRequest {
  const method = 'eth_getStorageValues'
  const asked = Object.fromEntries(
    [...slots].map(([address, own]) => [address, own.map((slot) => toFixedHex(slot, 32))]),
  )
  return {
    calls: [{ method, params: [asked, blockParameter(block, capabilities.anchor)] }],
    records([result]) {
      const words = readAnswer(StorageValues, result, method, origin)
      return [...slots].flatMap(([address, own]) => {
        const values = words[address]
        if (values?.length !== own.length) {
          throw wrongAnswer(origin, `${method} does not have ${own.length} values of ${address}`)
        }
        return own.map((slot, index): CacheRecord => {
          return { kind: 'cell', address, slot, value: values[index] as bigint, isProven: false }
        })
      })
    },
  }
}

type Cell = Extract<StateItem, { kind: 'cell' }>

function byAccount(cells: readonly Cell[]): Map<Hex, bigint[]> {
  const slots = new Map<Hex, bigint[]>()
  for (const { address, slot } of cells) {
    const own = slots.get(address)
    if (own === undefined) slots.set(address, [slot])
    else own.push(slot)
  }
  return slots
}

/** Do requests for these items, or for proofs of them, have to check that the block is still at its height? */
export function areChecked(
  items: readonly StateItem[],
  capabilities: Capabilities,
  isProof: boolean,
): boolean {
  const { anchor, codeAnchor, accountInfo } = capabilities
  if (needsCheck(anchor, capabilities)) return true
  return (
    (isProof || !accountInfo) &&
    needsCheck(codeAnchor, capabilities) &&
    items.some(({ kind }) => kind === 'account')
  )
}

/** The requests for items, each of which stands for itself. */
export function stateRequests(items: readonly StateItem[], source: StateSource): StateRequest[] {
  const requests = items.flatMap((item) =>
    item.kind === 'account' ? [accountRequest(item.address, source)] : [],
  )
  const cells = items.filter((item) => item.kind === 'cell')
  // One slot is cheaper to answer by the method that every node serves.
  if (!source.capabilities.storageValues || cells.length < 2) {
    return [...requests, ...cells.map(({ address, slot }) => slotRequest(address, slot, source))]
  }
  for (let at = 0; at < cells.length; at += MOST_SLOTS) {
    requests.push(slotsRequest(byAccount(cells.slice(at, at + MOST_SLOTS)), source))
  }
  return requests
}
