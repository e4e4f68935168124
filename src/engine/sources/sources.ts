/** The sources as the rest of the node uses them: additions are commands, matches are reads at a state. */
import type { Artifact } from '../../abi/artifact.ts'
import type { DumpedSources, VerifiedContract } from '../../chain/state-file/records.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Compilation, SourceMatch } from '../../sources/compilation.ts'
import type { StateReader } from '../../state/model.ts'
import type { Enqueue } from '../serial-queue.ts'
import type { Sources, SourcesAt } from './model.ts'
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
  note(verified: VerifiedContract): Promise<void> {
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

  /** What a state file keeps: the newest compilations of 64 Mi characters together at most, and what was verified by them. */
  dump(): Promise<DumpedSources> {
    return this.#store.dump()
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

  /** The names in the ABI of the contract at an address, by its sources; `undefined` where these are not known. */
  async abiAt(state: StateReader, address: Hex): Promise<Artifact | undefined> {
    const account = state.account(address)
    if (account === undefined || !account.isContract || (await this.#store.isEmpty())) return undefined
    return this.#store.abiOf(
      `${address} ${account.codeHash}`,
      async () => (await this.at(state, address))?.match,
    )
  }
}
