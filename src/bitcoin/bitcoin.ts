/** A Bitcoin node on regtest in this process: chain, mempool and wallets, without input or output. */
import { Blockchain, type ChainEvent } from './chain/blockchain.ts'
import type { ChainState } from './chain/state.ts'
import { genesisState } from './chain/state.ts'
import { type EntryChange, entryChanges, stateAfterChanges, stateOfEntries } from './chain/state-entries.ts'
import type { Output } from './transaction.ts'
import { NO_WALLETS, type WalletState } from './wallet/model.ts'
import { walletChanges, walletsAfterChanges, walletsOfEntries } from './wallet/wallet-entries.ts'
import { Wallets } from './wallet/wallets.ts'

/** Where the state is kept. Keys are hex digits, at most 65 bytes of them. */
export interface BitcoinStore {
  /** All entries, read once at the start. */
  entries(): Iterable<readonly [string, Uint8Array]>
  /** Makes the changes together or not at all. An error leaves the node's state as it was. */
  write(changes: readonly EntryChange[]): void
}

/** What a node is made of. */
export interface BitcoinOptions {
  /** Seconds since 1970. */
  readonly clock: () => number
  /** The wallets' keys are derived from it. */
  readonly seed: Uint8Array
  /** Absent: nothing is kept. */
  readonly store?: BitcoinStore
}

/** Everything that changes; a value that later changes leave as it is. */
export interface BitcoinState {
  readonly chain: ChainState
  readonly wallets: WalletState
}

/** What a miner may choose of a block beside its reward's script. */
export interface MiningOptions {
  /** What follows height and nonce in the coinbase's input. */
  readonly tag?: Uint8Array
  /** More outputs of the coinbase, without value. */
  readonly outputs?: readonly Output[]
}

/** The changes of stored entries that lead from one state to another. */
export function* stateChanges(before: BitcoinState, after: BitcoinState): Generator<EntryChange> {
  yield* entryChanges(before.chain, after.chain)
  yield* walletChanges(before.wallets, after.wallets)
}

const EMPTY_STATE: () => BitcoinState = () => ({ chain: genesisState(), wallets: NO_WALLETS })

/** The entries of a state, for files and empty stores. */
export function encodeState(state: BitcoinState): (readonly [string, Uint8Array])[] {
  return [...stateChanges(EMPTY_STATE(), state)].flatMap(({ key, value }) =>
    value === undefined ? [] : [[key, value] as const],
  )
}

/** The state of entries. Throws for damaged ones. */
export function decodeState(entries: Iterable<readonly [string, Uint8Array]>): BitcoinState {
  const all = [...entries]
  return { chain: stateOfEntries(all), wallets: walletsOfEntries(all) }
}

/** The state after changes of entries; `undefined` where all of them have to be read. Throws for damaged ones. */
export function stateAfter(before: BitcoinState, changes: readonly EntryChange[]): BitcoinState | undefined {
  const chain = stateAfterChanges(before.chain, changes)
  return chain && { chain, wallets: walletsAfterChanges(before.wallets, changes) }
}

/** The node. */
export class Bitcoin {
  readonly chain: Blockchain
  readonly wallets: Wallets
  readonly clock: () => number
  readonly #listeners = new Set<(event: ChainEvent) => void>()

  constructor({ clock, seed, store }: BitcoinOptions) {
    const state = store === undefined ? EMPTY_STATE() : decodeState(store.entries())
    this.clock = clock
    const hooks = {
      write: (before: ChainState, after: ChainState) => store?.write([...entryChanges(before, after)]),
      changed: (event: ChainEvent) => this.#notify(event),
    }
    this.chain = new Blockchain(clock, hooks, state.chain)
    this.wallets = new Wallets(
      seed,
      (before, after) => store?.write([...walletChanges(before, after)]),
      state.wallets,
    )
  }

  /** The state, to be restored later. */
  snapshot(): BitcoinState {
    return { chain: this.chain.state, wallets: this.wallets.state }
  }

  /** Goes to a state of this node, back or forth, in time that depends on what differs. */
  restore(state: BitcoinState): void {
    this.wallets.restore(state.wallets)
    this.chain.restore(state.chain)
  }

  /** Calls back after every change of the chain or the mempool, until the returned function is called. */
  onChange(listener: (event: ChainEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Mines blocks of the mempool's transactions; their hashes. `script`: of the output that takes the rewards. */
  mine(count: number, script: Uint8Array, options: MiningOptions = {}): string[] {
    return Array.from({ length: count }, () => {
      const block = this.chain.assemble({ script, ...options })
      return this.chain.submit(block).hash
    })
  }

  #notify(event: ChainEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}

/** A node on regtest, at the first block or where the store left it. */
export function createBitcoin(options: BitcoinOptions): Bitcoin {
  return new Bitcoin(options)
}
