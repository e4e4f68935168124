/** Our overlay in the form of the EVM library: its accounts, addresses and promises. */
import type { AccountFields, StateManagerInterface } from '@ethereumjs/common'
import type { EVMMockBlockchainInterface } from '@ethereumjs/evm'
import { Account, Address, KECCAK256_NULL, KECCAK256_RLP } from '@ethereumjs/util'
import { EMPTY_ACCOUNT, EMPTY_CODE_HASH, type Account as OwnAccount } from '../chain/account.ts'
import { EMPTY, fromBigInt, toBigInt } from '../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import type { Journal } from '../evm/journal.ts'
import type { BlockEnvironment } from '../evm/message.ts'
import { RecentMap } from '../state/recent-map.ts'

/** An address that keeps its text, the key of all state. */
class NamedAddress extends Address {
  readonly text: Hex

  constructor(text: Hex) {
    super(fromHex(text))
    this.text = text
  }

  override toString(): Hex {
    return this.text
  }
}

/** The library takes 0.35 µs to make one, a lookup 0.03; they never change, and are the same for every node of the process. */
const addresses = new RecentMap<Hex, Address>(4096)

/** The library's form of an address; its bytes must not be changed. */
export function libraryAddress(address: Hex): Address {
  let known = addresses.get(address)
  if (known === undefined) {
    known = new NamedAddress(address)
    addresses.set(address, known)
  }
  return known
}

function toLibraryAccount(account: OwnAccount): Account {
  const codeHash = account.codeHash === EMPTY_CODE_HASH ? KECCAK256_NULL : fromHex(account.codeHash)
  // The library takes a storage root for a collision; the chain does not.
  return new Account(account.nonce, account.balance, KECCAK256_RLP, codeHash)
}

/**
 * The library's state manager and journal over one of our journals. What the EVM never uses throws.
 */
export class LibraryState implements StateManagerInterface {
  readonly #journal: Journal
  /** Called at each SSTORE; its flat price does not use the result. */
  readonly originalStorageCache = { get: async (): Promise<Uint8Array> => EMPTY, clear: (): void => {} }

  constructor(journal: Journal) {
    this.#journal = journal
  }

  async getAccount(address: Address): Promise<Account | undefined> {
    const account = this.#journal.state.account(address.toString())
    return account && toLibraryAccount(account)
  }

  async putAccount(address: Address, account: Account): Promise<void> {
    const text = address.toString()
    const { state } = this.#journal
    const codeHash = account.codeHash === KECCAK256_NULL ? EMPTY_CODE_HASH : toHex(account.codeHash)
    const { isContract } = state.account(text) ?? EMPTY_ACCOUNT
    state.putAccount(text, { nonce: account.nonce, balance: account.balance, codeHash, isContract })
  }

  async deleteAccount(address: Address): Promise<void> {
    this.#journal.state.deleteAccount(address.toString())
  }

  async putCode(address: Address, code: Uint8Array): Promise<void> {
    this.#journal.state.putCode(address.toString(), code)
  }

  async getCode(address: Address): Promise<Uint8Array> {
    return this.#journal.codeOf(address.toString())
  }

  async getCodeSize(address: Address): Promise<number> {
    return (await this.getCode(address)).length
  }

  async getStorage(address: Address, key: Uint8Array): Promise<Uint8Array> {
    return fromBigInt(this.#journal.state.storage(address.toString(), toBigInt(key)))
  }

  async putStorage(address: Address, key: Uint8Array, value: Uint8Array): Promise<void> {
    this.#journal.state.putStorage(address.toString(), toBigInt(key), toBigInt(value))
  }

  async clearStorage(address: Address): Promise<void> {
    this.#journal.state.clearStorage(address.toString())
  }

  async checkpoint(): Promise<void> {
    this.#journal.checkpoint()
  }

  async commit(): Promise<void> {
    this.#journal.commit()
  }

  async revert(): Promise<void> {
    this.#journal.revert()
  }

  async modifyAccountFields(address: Address, fields: AccountFields): Promise<void> {
    const account = (await this.getAccount(address)) ?? new Account()
    await this.putAccount(address, Object.assign(account, fields))
  }

  async getStateRoot(): Promise<Uint8Array> {
    return unused()
  }

  async setStateRoot(): Promise<void> {
    unused()
  }

  async hasStateRoot(): Promise<boolean> {
    return unused()
  }

  /** Part of the library's journal: block-wide bookkeeping, which is ours to do. */
  async cleanup(): Promise<void> {}

  cleanJournal(): void {}

  clearCaches(): void {}

  shallowCopy(): StateManagerInterface {
    return unused()
  }
}

function unused(): never {
  throw new Error('the EVM does not use this part of a state')
}

const NO_HASH = new Uint8Array(32)

/** What BLOCKHASH of the library reads. */
export function blockHashes(env: BlockEnvironment): EVMMockBlockchainInterface {
  const blockchain = {
    async getBlock(height: number) {
      const hash = env.ancestorHash(height)
      return { hash: () => (hash === undefined ? NO_HASH : fromHex(hash)) }
    },
    async putBlock() {},
    shallowCopy: () => blockchain,
  }
  return blockchain
}
