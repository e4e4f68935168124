/** Many chains in one process, each beginning where one base node stands. */
import { NodeError } from './errors.ts'
import { createNode, createNodeFrom, type Node, originOf } from './node.ts'
import { createMemoryStore, freezeEntries } from './store/memory-store.ts'

/** What a pool is made of. */
export interface PoolOptions {
  /** Most chains at once; 1000 unless given. */
  readonly size?: number | undefined
  /**
   * The node whose blocks, state and pooled transactions each chain begins with, as of the call of `createPool`. Later
   * changes of it reach no chain; it may be closed then. Without it chains begin at the genesis of a new node.
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

const DEFAULT_SIZE = 1000

/** Makes a pool. Copies the entries of the base once; a chain copies none of them. Throws `invalid-options`. */
export async function createPool({ size = DEFAULT_SIZE, base }: PoolOptions = {}): Promise<Pool> {
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new NodeError(
      'invalid-options',
      `Option "size" expects a whole number of chains from 1 on, not ${size}.`,
    )
  }
  const origin = base ?? (await createNode())
  const { given, ...shared } = originOf(origin)
  const frozen = await freezeEntries(shared.store)
  if (base === undefined) await origin.close()
  const { dataDir: _dataDir, cluster: _cluster, ...options } = given
  const chains = new Map<string, Promise<Node>>()
  let isClosed = false

  async function open(name: string): Promise<Node> {
    const node = await createNodeFrom(options, { ...shared, store: createMemoryStore(frozen) })
    return {
      ...node,
      close() {
        chains.delete(name)
        return node.close()
      },
    }
  }

  return {
    async chain(name) {
      const known = chains.get(name)
      if (known !== undefined) return known
      if (isClosed) throw new NodeError('too-many', 'The pool is closed.')
      if (chains.size >= size)
        throw new NodeError('too-many', `no more than ${size} chains can be open at once`)
      const opening = open(name)
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
