/** Accounts whose keys rest under a passphrase, in files or (without a directory) in memory. */
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
  parseEncryptedKey,
  STANDARD_COST,
} from './encrypted-key.ts'

/** Where a encrypted key stands: the name of its file. */
interface Entry {
  readonly name: string
  readonly encrypted: EncryptedKey
}

/** What a key store is made of. */
export interface KeyStoreParts {
  /** Left out, nothing outlives the process. */
  readonly files?: KeyFiles | undefined
  /** Of keys that are encrypted here; `STANDARD_COST` when left out. */
  readonly cost?: Cost | undefined
  /** Milliseconds since 1970, for the names of files. */
  readonly milliseconds: () => number
}

/** Sealed keys by account. */
export interface KeyStore {
  /** In the order of their files' names, so the oldest first; new ones last. */
  list(): readonly Hex[]
  has(address: Hex): boolean
  /** Seals a key and keeps it; one that is here already gets the new passphrase. Throws `overloaded`. */
  add(key: Uint8Array, passphrase: string): Promise<Hex>
  /**
   * The key of an account, for the caller to wipe; `undefined` when there is no such account. Throws `wrong-passphrase`
   * after the same time as it takes to open it, and `overloaded`.
   */
  open(address: Hex, passphrase: string): Promise<Uint8Array | undefined>
}

/** Passphrases that may wait for their turn; each takes a third of a second and much memory. */
const MOST_WAITING = 64

/** Makes a store of what is known already. */
export function createKeyStore(
  { files, cost = STANDARD_COST, milliseconds }: KeyStoreParts,
  known: readonly Entry[] = [],
): KeyStore {
  const entries = new Map<Hex, Entry>(known.map((entry) => [addressOfEncrypted(entry.encrypted), entry]))
  const { inTurn } = createSerialQueue()
  let waiting = 0

  /** One at a time: guesses are no faster side by side, and memory stays bounded. */
  async function stretched<T>(job: () => Promise<T>): Promise<T> {
    if (waiting >= MOST_WAITING) throw new NodeError('overloaded', 'Too many passphrases wait to be checked')
    waiting++
    try {
      return await inTurn(job)
    } finally {
      waiting--
    }
  }

  /** geth's form of a name, which sorts by time. */
  function newName(address: Hex): string {
    return `UTC--${new Date(milliseconds()).toISOString().replaceAll(':', '-')}--${address.slice(2)}`
  }

  return {
    list: () => [...entries.keys()],
    has: (address) => entries.has(address),

    add(key, passphrase) {
      const address = addressOf(key)
      return stretched(async () => {
        const encrypted = await encryptKey(key, address, passphrase, cost)
        const name = entries.get(address)?.name ?? newName(address)
        await files?.write({ name, text: `${JSON.stringify(encrypted)}\n` })
        entries.set(address, { name, encrypted })
        return address
      })
    },

    async open(address, passphrase) {
      if (!entries.has(address)) return undefined
      return stretched(async () => {
        // Read in turn, so that a passphrase that was just changed counts.
        const entry = entries.get(address)
        if (entry === undefined) return undefined
        const key = await decryptKey(entry.encrypted, passphrase)
        if (key === undefined) {
          throw new NodeError('wrong-passphrase', `Invalid passphrase: it does not open account ${address}`)
        }
        if (addressOf(key) !== address)
          throw invalidParams(`Invalid address: the key file of ${address} holds another key`)
        return key
      })
    },
  }
}

/** Makes a store of what its files hold; those that are no keys are left alone, with a warning. Throws `database` when they cannot be read. */
export async function openKeyStore(parts: KeyStoreParts, logger: Logger): Promise<KeyStore> {
  const known: Entry[] = []
  for (const { name, text } of (await parts.files?.read()) ?? []) {
    const encrypted = parseEncryptedKey(text)
    if (encrypted === undefined)
      logger.warn('a file among the keys is no key file and is left alone', { name })
    else known.push({ name, encrypted })
  }
  return createKeyStore(parts, known)
}
