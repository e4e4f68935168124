/** The chain of a node in this process as the upstream of a fork, without a network; counts requests. */

import type { Account } from '../../src/chain/account.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import type { Node } from '../../src/node/node.ts'
import type { RemoteChain, RemoteState, StateItem } from '../../src/state/remote/model.ts'
import type { StorageValue } from '../../src/state/state-keys.ts'

/** An upstream, and the items that were fetched from it, one entry for each request. */
export interface EngineRemote extends RemoteChain {
  readonly fetches: (readonly StateItem[])[]
  readonly loads: string[]
}

/** The chain of `node` up to its head. */
export function engineRemote(node: Node): EngineRemote {
  const { queries, config } = node.engine
  const head = queries.head()
  const { number } = head.block.header
  const fetches: (readonly StateItem[])[] = []
  const loads: string[] = []
  const states = new Map<Hex, RemoteState>()

  function stateAt(block: { readonly number: number; readonly hash: Hex }): RemoteState {
    const known = states.get(block.hash)
    if (known !== undefined) return known
    const accounts = new Map<Hex, { account: Account | undefined }>()
    const cells = new Map<string, StorageValue>()
    const code = new Map<Hex, Uint8Array>()
    const state: RemoteState = {
      block,
      account: (address) => accounts.get(address),
      cell: (address, slot) => cells.get(`${address}${slot}`),
      code: (hash) => code.get(hash),
      async fetch(wanted, ahead = []) {
        const items = [...wanted, ...ahead]
        fetches.push(items)
        const reader = await queries.state({ hash: block.hash })
        if (reader === undefined) throw new Error('no such block')
        for (const item of items) {
          if (item.kind === 'cell') {
            cells.set(`${item.address}${item.slot}`, reader.cell(item.address, item.slot))
          } else {
            const account = reader.account(item.address)
            accounts.set(item.address, { account })
            if (account !== undefined) code.set(account.codeHash, reader.code(account.codeHash))
          }
        }
      },
      async hint(request) {
        loads.push('hint')
        const { entries } = await queries.accessList(request, { hash: block.hash })
        return entries.flatMap(({ address, slots }) => [
          { kind: 'account' as const, address },
          ...slots.map((slot) => ({ kind: 'cell' as const, address, slot })),
        ])
      },
      call: async (request) => queries.call(request, { hash: block.hash }),
    }
    states.set(block.hash, state)
    return state
  }

  const blockOf = async (reference: { number: number } | { hash: Hex }) => {
    loads.push(JSON.stringify(reference))
    const block = (await queries.block(reference))?.executed
    return block === undefined || block.block.header.number > number
      ? undefined
      : { ...block, postState: block.block.header.stateRoot }
  }
  const headerOf = async (reference: { number: number } | { hash: Hex }) => {
    const block = await blockOf(reference)
    if (block === undefined) return undefined
    const { hash, totalDifficulty } = block
    return { header: block.block.header, isVerified: true, hash, totalDifficulty }
  }

  return {
    fetches,
    loads,
    point: { chainId: config.chainId, number, hash: head.hash },
    upstream: { origin: 'in process', client: 'Tandem', isSameFamily: true },
    config,
    head,
    stateAt,
    knownHash: (height) => (height === number ? head.hash : undefined),
    headerByNumber: (height) => headerOf({ number: height }),
    headerByHash: (hash) => headerOf({ hash }),
    blockByNumber: (height) => blockOf({ number: height }),
    blockByHash: (hash) => blockOf({ hash }),
    async transactionLocation(hash) {
      const { block, index } = queries.transaction(hash) ?? {}
      if (block === undefined || index === undefined || block.block.header.number > number) return undefined
      return { block: { number: block.block.header.number, hash: block.hash }, index }
    },
    async logs({ range, addresses, topics }) {
      const found = await queries.logs({ range, addresses, topics, maxBlocks: 0, maxLogs: 0 })
      return found.map(({ log, block, transaction, transactionIndex, logIndex }) => ({
        log,
        block: { number: block.block.header.number, hash: block.hash },
        transactionHash: transaction.hash,
        transactionIndex,
        logIndex,
      }))
    },
    request: (method, params) => node.request({ method, params: [...params] }),
    isPointCanonical: async () => queries.isCanonical(head.hash) === true,
    async setUrls() {},
    waitLimit: () => Number.POSITIVE_INFINITY,
    delay: () => undefined,
    usage: () => ({
      requests: 0,
      calls: 0,
      retries: 0,
      rateLimited: 0,
      failures: 0,
      milliseconds: 0,
      callsToday: 0,
      callsPerDay: 0,
      cacheHits: 0,
      cacheMisses: 0,
    }),
    async close() {},
  }
}
