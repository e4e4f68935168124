/** Wallets as entries of a key and a value each, as they are stored. */

import { utf8ToBytes } from '@noble/hashes/utils.js'
import { z } from 'zod'
import type { EntryChange } from '../chain/state-entries.ts'
import { digitsOf, fromDigits } from '../displayed-hash.ts'
import { NO_WALLETS, type Wallet, type WalletScript, type WalletSecret, type WalletState } from './model.ts'

/** First digits of keys, by what the entry holds. */
const TABLE = { wallet: '10', script: '11', secret: '12' } as const

const Digits = z.string().regex(/^([0-9a-f]{2})*$/)
const Bytes = Digits.transform(fromDigits)

const StoredWallet = z.object({
  name: z.string(),
  hasPrivateKeys: z.boolean(),
  isBlank: z.boolean(),
  avoidsReuse: z.boolean(),
  hasDescriptors: z.boolean(),
  isLoaded: z.boolean(),
  passphrase: Digits.optional(),
  unlockedUntil: z.number(),
  receiving: z.number(),
  change: z.number(),
})

const StoredScript = z.object({
  script: Bytes,
  publicKey: Bytes.optional(),
  redeem: Bytes.optional(),
  isMine: z.boolean(),
  isChange: z.boolean(),
  label: z.string(),
  path: z.string(),
  time: z.number(),
})

const StoredSecret = z.union([
  z.object({ key: z.object({ secret: Bytes, isCompressed: z.boolean() }) }),
  z.object({ script: Bytes }),
])

/** JSON with bytes as hex digits. */
function encode(value: object): Uint8Array {
  return utf8ToBytes(
    JSON.stringify(value, (_, part: unknown) => (part instanceof Uint8Array ? digitsOf(part) : part)),
  )
}

const decode = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes))

/** The changes that lead from one state to another. */
export function* walletChanges(before: WalletState, after: WalletState): Generator<EntryChange> {
  for (const { key, after: value } of before.wallets.differences(after.wallets))
    yield { key: TABLE.wallet + key, value: value && encode(value) }
  for (const { key, after: value } of before.scripts.differences(after.scripts))
    yield { key: TABLE.script + key, value: value && encode(value) }
  for (const { key, after: value } of before.secrets.differences(after.secrets))
    yield { key: TABLE.secret + key, value: value && encode(value) }
}

function walletOf(bytes: Uint8Array): Wallet {
  const { passphrase, ...wallet } = StoredWallet.parse(decode(bytes))
  return { ...wallet, passphrase }
}

function scriptOf(bytes: Uint8Array): WalletScript {
  const { publicKey, redeem, ...script } = StoredScript.parse(decode(bytes))
  return { ...script, publicKey, redeem }
}

function secretOf(bytes: Uint8Array): WalletSecret {
  return StoredSecret.parse(decode(bytes))
}

/** The wallets after changes of stored entries; keys that are not their own are left out. Throws a ZodError for damaged ones. */
export function walletsAfterChanges(before: WalletState, changes: Iterable<EntryChange>): WalletState {
  let { wallets, scripts, secrets } = before
  for (const { key, value } of changes) {
    const [table, rest] = [key.slice(0, 2), key.slice(2)]
    if (table === TABLE.wallet)
      wallets = value === undefined ? wallets.delete(rest) : wallets.put(rest, walletOf(value))
    else if (table === TABLE.script)
      scripts = value === undefined ? scripts.delete(rest) : scripts.put(rest, scriptOf(value))
    else if (table === TABLE.secret)
      secrets = value === undefined ? secrets.delete(rest) : secrets.put(rest, secretOf(value))
  }
  return { wallets, scripts, secrets }
}

/** The wallets of stored entries. */
export function walletsOfEntries(entries: Iterable<readonly [string, Uint8Array]>): WalletState {
  return walletsAfterChanges(
    NO_WALLETS,
    [...entries].map(([key, value]) => ({ key, value })),
  )
}
