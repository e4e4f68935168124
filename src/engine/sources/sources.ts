/** The sources as the rest of the node uses them: additions are commands, matches are reads at a state. */
import type { Hex } from '../../encoding/hex.ts'
import { codeChain } from '../../execution/proxies.ts'
import type { Compilation, SourceMatch } from '../../sources/compilation.ts'
import type { StateReader } from '../../state/model.ts'
import type { Enqueue } from '../serial-queue.ts'
import type { Sources, SourcesAt, Verified } from './model.ts'
import { prepare, type SourceStore } from './source-store.ts'

/** Sources by the code that was made of them. */
export class EngineSources implements Sources {
  readonly #store: SourceStore
  readonly #enqueue: Enqueue

  constructor(store: SourceStore, enqueue: Enqueue) {
    this.#store = store
    this.#enqueue = enqueue
  }

  /** Adds a compilation; false when it is known. Durable once it resolves. Throws `invalid-params` when it is too large. */
  async add(compilation: Compilation): Promise<boolean> {
    const prepared = await prepare(compilation)
    return this.#enqueue(() => this.#store.add(prepared))
  }

  /** Notes which contract a person has verified at an address: of contracts with equal code it is the one that is shown. */
  note(verified: Verified): Promise<void> {
    return this.#enqueue(() => this.#store.note(verified))
  }

  /** Ids of all compilations, the oldest first. */
  ids(): Promise<readonly Hex[]> {
    return this.#store.ids()
  }

  /** A compilation by its id. */
  get(id: Hex): Promise<Compilation | undefined> {
    return this.#store.get(id)
  }

  /** The contract of a compilation whose code this is. */
  match(code: Uint8Array): Promise<SourceMatch | undefined> {
    return this.#store.match(code)
  }

  /** The contract at an address with its sources; `undefined` where there is no code. */
  async at(state: StateReader, address: Hex): Promise<SourcesAt | undefined> {
    const account = state.account(address)
    const code = account && state.code(account.codeHash)
    if (account === undefined || code === undefined || code.length === 0) return undefined
    const { codeHash } = account
    const match = await this.#store.match(code, { address, codeHash })
    return { address, code, codeHash, ...(match && { match }) }
  }

  /** The last implementation behind a proxy (ERC-1967, ERC-1167); `undefined` for a contract that is no proxy. */
  implementation(state: StateReader, address: Hex): Hex | undefined {
    const chain = codeChain(state, address)
    return chain.length > 1 ? chain.at(-1) : undefined
  }
}
