/** Accounts whose keys are encrypted under a passphrase, in files or (without a directory) in memory. */
import { addressOf } from '../../chain/signature.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { KeyFiles } from '../../store/key-files.ts'
import { createSerialQueue } from '../serial-queue.ts'
import {
  addressOfEncrypted,
  type Cost,
  decryptKey,
  type EncryptedKey,
  encryptKey,
  MEMORY_COST,
  parseEncryptedKey,
  STANDARD_COST,
} from './encrypted-key.ts'

/** An encrypted key and the name of its file. */
export interface StoredKey {
  readonly name: string
  readonly encrypted: EncryptedKey
}

/** What a key store needs. */
export interface KeyStoreParts {
  /** Without them the keys are in memory only. */
  readonly files?: KeyFiles | undefined
  /** Scrypt parameters of keys that are encrypted here; without files `MEMORY_COST`, else `STANDARD_COST`, unless given. */
  readonly cost?: Cost | undefined
  /** Milliseconds since 1970, for the names of files. */
  readonly milliseconds: () => number
}

/** Encrypted keys by account. */
export interface KeyStore {
  /** In the order of their files' names: the oldest first. */
  list(): readonly Hex[]
  has(address: Hex): boolean
  /** All keys as they are stored, for another store. */
  entries(): readonly StoredKey[]
  /** Encrypts and stores a 32-byte key; a known one gets the new passphrase. Throws `overloaded`. */
  add(key: Uint8Array, passphrase: string): Promise<Hex>
  /**
   * The key of an account, for the caller to wipe; `undefined` when there is no such account. Throws `wrong-passphrase`
   * after the same time as it takes to open it, and `overloaded`.
   */
  open(address: Hex, passphrase: string): Promise<Uint8Array | undefined>
}

/** Maximum number of queued passphrases; each takes a third of a second and 128 MiB. */
const MAX_WAITING = 64

/** Makes a store with the given entries. */
export function createKeyStore(parts: KeyStoreParts, known: readonly StoredKey[] = []): KeyStore {
  return new EncryptedKeyStore(parts, known)
}

class EncryptedKeyStore implements KeyStore {
  readonly #files: KeyFiles | undefined
  readonly #cost: Cost
  readonly #milliseconds: () => number
  readonly #entries: Map<Hex, StoredKey>
  readonly #queue = createSerialQueue()
  #waiting = 0

  constructor({ files, cost, milliseconds }: KeyStoreParts, known: readonly StoredKey[]) {
    this.#files = files
    this.#cost = cost ?? (files === undefined ? MEMORY_COST : STANDARD_COST)
    this.#milliseconds = milliseconds
    this.#entries = new Map(known.map((entry) => [addressOfEncrypted(entry.encrypted), entry]))
  }

  list(): readonly Hex[] {
    return [...this.#entries.keys()]
  }

  has(address: Hex): boolean {
    return this.#entries.has(address)
  }

  entries(): readonly StoredKey[] {
    return [...this.#entries.values()]
  }

  async add(key: Uint8Array, passphrase: string): Promise<Hex> {
    const address = addressOf(key)
    return this.#deriveOneByOne(async () => {
      const encrypted = await encryptKey(key, address, passphrase, this.#cost)
      const name = this.#entries.get(address)?.name ?? this.#newName(address)
      await this.#files?.write({ name, text: `${JSON.stringify(encrypted)}\n` })
      this.#entries.set(address, { name, encrypted })
      return address
    })
  }

  async open(address: Hex, passphrase: string): Promise<Uint8Array | undefined> {
    if (!this.#entries.has(address)) return undefined
    return this.#deriveOneByOne(async () => {
      // Read inside the queued job, so that a passphrase changed just before applies.
      const entry = this.#entries.get(address)
      if (entry === undefined) return undefined
      const key = await decryptKey(entry.encrypted, passphrase)
      if (key === undefined) {
        throw new NodeError('wrong-passphrase', `Invalid passphrase: it does not open account ${address}`)
      }
      if (addressOf(key) !== address) {
        throw invalidParams(`Invalid address: the key file of ${address} holds another key`)
      }
      return key
    })
  }

  /** Runs one key derivation at a time: guesses are not faster in parallel, and memory stays bounded. */
  async #deriveOneByOne<T>(job: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new NodeError('overloaded', 'Too many passphrases wait to be checked')
    }
    this.#waiting++
    try {
      return await this.#queue.enqueue(job)
    } finally {
      this.#waiting--
    }
  }

  /** A file name in geth's form, which sorts by time. */
  #newName(address: Hex): string {
    return `UTC--${new Date(this.#milliseconds()).toISOString().replaceAll(':', '-')}--${address.slice(2)}`
  }
}

/** Opens a store with the keys of its files; other files are ignored with a warning. Throws `database` when they cannot be read. */
export async function openKeyStore(parts: KeyStoreParts, logger: Logger): Promise<KeyStore> {
  const known: StoredKey[] = []
  for (const { name, text } of (await parts.files?.read()) ?? []) {
    const encrypted = parseEncryptedKey(text)
    if (encrypted === undefined)
      logger.warn('a file among the keys is not a key file and is ignored', { name })
    else known.push({ name, encrypted })
  }
  return createKeyStore(parts, known)
}
