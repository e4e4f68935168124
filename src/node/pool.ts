/** Many chains in one process, each beginning where one base node stands. */
import { NodeError } from '../errors.ts'
import { createMemoryStore, type FrozenEntries, freezeEntries } from '../store/memory-store.ts'
import { createNode, createNodeFrom, type Node } from './node.ts'
import { type Origin, originOf } from './origin.ts'

/** What a pool is made of. */
export interface PoolOptions {
  /** Most chains at once; 1000 unless given. */
  readonly size?: number | undefined
  /**
   * The node that each chain begins as a copy of, as of the call of `createPool`: blocks, state, pooled transactions,
   * clock, block overrides, mining mode, impersonated and local accounts, encrypted accounts (locked), registered ABIs.
   * Later changes of it do not reach the chains, and it may be closed. Without it chains begin at the genesis of a new
   * node.
   */
  readonly base?: Node | undefined
}

/** Chains by name. They share what the base had and nothing else. */
export interface Pool {
  /**
   * The chain of this name, made at the first call with the options of the base, in memory. Closing the node drops the
   * chain. Throws `too-many` beyond the size.
   */
  chain(name: string): Promise<Node>
  /** Names of the open chains, oldest first. */
  names(): readonly string[]
  /** Closes all chains, not the base. Idempotent. */
  close(): Promise<void>
}

/** A pool that can be asked for a chain without making it. */
export interface LivePool extends Pool {
  get(name: string): Promise<Node> | undefined
}

const DEFAULT_SIZE = 1000

/** Makes a pool. Copies the entries of the base once; a chain copies none of them. Throws `invalid-options`. */
export async function createPool({ size = DEFAULT_SIZE, base }: PoolOptions = {}): Promise<Pool> {
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new NodeError(
      'invalid-options',
      `Option "size" expects a whole number of chains from 1 on, not ${size}.`,
    )
  }
  const node = base ?? (await createNode())
  const origin = originOf(node)
  checkCopied(origin)
  const { given, store, start } = origin
  const { dataDir: _dataDir, cluster: _cluster, record: _record, ...options } = given
  const beginning = start()
  const frozen = await freezeEntries(store)
  if (base === undefined) await node.close()
  return poolOf(size, () => createNodeFrom(options, { ...beginning, store: createMemoryStore(frozen) }))
}

/**
 * Makes a pool whose chains begin where the base stands when they are made. They share its callers and its limits of
 * concurrent work, so it has to stay open. Its entries are copied when they have changed since the chain before.
 * Throws `invalid-options`.
 */
export function createLivePool(size: number, base: object): LivePool {
  const origin = originOf(base)
  checkCopied(origin)
  const { given, store, start, shared, version } = origin
  const { dataDir: _dataDir, cluster: _cluster, record: _record, ...options } = given
  let copied: { readonly version: string; readonly entries: Promise<FrozenEntries> } | undefined

  return poolOf(size, async () => {
    checkCopied(origin)
    const current = version()
    if (copied?.version !== current) {
      const copy = { version: current, entries: freezeEntries(store) }
      copied = copy
      copy.entries.catch(() => {
        if (copied === copy) copied = undefined
      })
    }
    const beginning = start()
    const entries = await copied.entries
    return createNodeFrom(options, { ...beginning, store: createMemoryStore(entries), shared })
  })
}

/** Throws `invalid-options` for a fork, whose states are at the upstream. */
function checkCopied({ engine, given }: Pick<Origin, 'engine' | 'given'>): void {
  if (given.bitcoinRpc !== undefined) {
    const message =
      'A pool cannot copy a node with "bitcoinRpc": its chains would all move the same Bitcoin chain.'
    throw new NodeError('invalid-options', message)
  }
  if (engine.fork === undefined) return
  throw new NodeError('invalid-options', 'A pool cannot copy a fork: name a node with a chain of its own.')
}

function poolOf(size: number, make: () => Promise<Node>): LivePool {
  const chains = new Map<string, Promise<Node>>()
  let isClosed = false

  return {
    get: (name) => chains.get(name),
    async chain(name) {
      const known = chains.get(name)
      if (known !== undefined) return known
      if (isClosed) throw new NodeError('too-many', 'The pool is closed.')
      if (chains.size >= size)
        throw new NodeError(
          'too-many',
          `no more than ${size} ${size === 1 ? 'chain' : 'chains'} can be open at once`,
        )
      const opening: Promise<Node> = make().then((node) => ({
        ...node,
        get engine() {
          return node.engine
        },
        close() {
          if (chains.get(name) === opening) chains.delete(name)
          return node.close()
        },
      }))
      chains.set(name, opening)
      opening.catch(() => chains.delete(name))
      return opening
    },
    names: () => [...chains.keys()],
    async close() {
      isClosed = true
      const open = await Promise.allSettled(chains.values())
      await Promise.all(open.map((chain) => (chain.status === 'fulfilled' ? chain.value.close() : undefined)))
    },
  }
}
