/** The `personal_` methods: accounts, their passphrases, and signing with them (docs/internals/rpc-reference.md#714-personal). */
import { z } from 'zod'
import { personalMessageHash, recoverSigner, signHash } from '../../chain/message-signature.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { Wallet } from '../../engine/wallet/wallet.ts'
import { invalidParams } from '../../errors.ts'
import { method } from '../method.ts'
import { optional, orNull } from '../parameter.ts'
import { sendRequest, signingKey } from '../signing.ts'
import { CallObject } from '../wire/call.ts'
import { Address, AddressText, Data, DataText, HashText } from '../wire/scalars.ts'
import { Duration, Passphrase, PrivateKey, Seed } from '../wire/wallet.ts'
import { COW, COW1, LOCAL_ACCOUNTS } from './example-accounts.ts'

/** The key of the first account. */
const FIRST_KEY = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
/** 0xdeadbeef, signed with that key. */
const SIGNED =
  '0x7a962b63cef41a9cc1d3a6805da9f982a2a562b2d7a1ee75c78e5cd4464db9bf6e2b425bae2ce2c74a47631a2ec67c7efcc3dade1201fd5306443b85ec6116071b'

export const personal_newAccount = method({
  name: 'personal_newAccount',
  changesState: true,
  needsWallet: true,
  summary:
    'Creates an account with a random key, stored encrypted with a passphrase and unlocked for half an hour.',
  params: { passphrase: Passphrase },
  result: () => AddressText,
  examples: [
    { params: ['correct horse'], result: '0xde393a5f9e2b910927dbff7886b8f1f1a003b121', varies: true },
  ],
  run: ({ passphrase }, { engine }) => engine.accounts.create(passphrase),
})

export const personal_newAccountWithSeed = method({
  name: 'personal_newAccountWithSeed',
  changesState: true,
  needsWallet: true,
  summary:
    'Creates an account whose key is the keccak-256 of a text, unlocked until the node stops; not stored on disk.',
  params: { seed: Seed },
  result: () => AddressText,
  examples: [{ params: ['cow'], result: COW }],
  run: ({ seed }, { engine }) => engine.accounts.addSeed(seed),
})

export const personal_importRawKey = method({
  name: 'personal_importRawKey',
  changesState: true,
  needsWallet: true,
  summary:
    'Stores a private key encrypted with a passphrase, replacing an earlier one, and unlocks it for half an hour.',
  params: { key: PrivateKey, passphrase: Passphrase },
  result: () => AddressText,
  examples: [{ params: [FIRST_KEY, 'correct horse'], result: COW }],
  run: ({ key, passphrase }, { engine }) => engine.accounts.importKey(key, passphrase),
})

export const personal_dumpRawKey = method({
  name: 'personal_dumpRawKey',
  needsWallet: true,
  summary: 'Private key of an unlocked account.',
  params: { address: Address },
  result: () => DataText,
  hasSecretResult: true,
  examples: [{ params: [COW], result: FIRST_KEY }],
  run({ address }, { engine }) {
    const key = engine.accounts.key(address)
    if (key === undefined) {
      throw invalidParams('Invalid address: its private key is locked or could not be found in this node')
    }
    return toHex(key)
  },
})

export const personal_listAccounts = method({
  name: 'personal_listAccounts',
  needsWallet: true,
  summary: 'Accounts of the wallet, including locked ones.',
  params: {},
  result: () => z.array(AddressText),
  examples: [
    {
      params: [],
      result: LOCAL_ACCOUNTS,
    },
  ],
  run: (_, { engine }) => [...engine.accounts.list()],
})

export const personal_unlockAccount = method({
  name: 'personal_unlockAccount',
  changesState: true,
  needsWallet: true,
  summary:
    'Unlocks an account for a number of milliseconds; false when the node has no encrypted key for it.',
  params: { address: Address, passphrase: Passphrase, duration: Duration },
  result: () => z.boolean(),
  errors: ['wrong-passphrase'],
  examples: [{ params: [COW1, 'moo', '0x927c0'], result: false }],
  run: ({ address, passphrase, duration }, { engine }) =>
    engine.accounts.unlock(address, passphrase, duration),
})

export const personal_lockAccount = method({
  name: 'personal_lockAccount',
  changesState: true,
  needsWallet: true,
  summary: 'Locks an account, and removes it if its key is not stored; false when it was not unlocked.',
  params: { address: Address },
  result: () => z.boolean(),
  examples: [{ params: ['0x00000000000000000000000000000000000dead1'], result: false }],
  run: ({ address }, { engine }) => engine.accounts.lock(address),
})

export const personal_sendTransaction = method({
  name: 'personal_sendTransaction',
  changesState: true,
  needsWallet: true,
  counts: 'validTransactions',
  summary:
    'Signs a transaction with a stored key and its passphrase, which leaves the account locked, and sends it; automining does not mine it, the next block does.',
  params: { transaction: CallObject, passphrase: Passphrase },
  result: () => HashText,
  errors: ['wrong-passphrase', 'transaction-refused', 'reverted', 'not-mined', 'mining-refused'],
  examples: [],
  async run({ transaction, passphrase }, { engine }) {
    const wallet = engine.accounts
    const request = sendRequest(transaction, engine)
    const key = await wallet.open(request.from, passphrase)
    if (key === undefined) throw invalidParams(`Could not find account for address: ${request.from}`)
    try {
      return await engine.commands.sendWith(request, key)
    } finally {
      key.fill(0)
    }
  },
})

const ADDRESS_LENGTH = 20

/**
 * The signer and the message. The message comes first; the reverse order is accepted when only one of the two is an
 * address. Throws `invalid-params` when neither is an address.
 */
function signerAndMessage(wallet: Wallet, first: Uint8Array, second: Uint8Array): [Hex, Uint8Array] {
  const [swapped, asDocumented] = [first, second].map((bytes) =>
    bytes.length === ADDRESS_LENGTH ? toHex(bytes) : undefined,
  )
  if (
    swapped !== undefined &&
    (asDocumented === undefined || (wallet.has(swapped) && !wallet.has(asDocumented)))
  ) {
    return [swapped, second]
  }
  if (asDocumented === undefined) throw invalidParams('Invalid address: null, empty or invalid hex value.')
  return [asDocumented, first]
}

export const personal_sign = method({
  name: 'personal_sign',
  needsWallet: true,
  summary:
    'Signs a personal message (EIP-191) with an account that is unlocked or whose passphrase is given.',
  params: { message: Data, address: Data, passphrase: optional(orNull(Passphrase, undefined), null) },
  result: () => DataText,
  errors: ['wrong-passphrase'],
  examples: [{ params: ['0xdeadbeef', COW], result: SIGNED }],
  async run({ message, address, passphrase }, { engine }) {
    const wallet = engine.accounts
    const [signer, signed] = signerAndMessage(wallet, message, address)
    const hash = personalMessageHash(signed)
    // Browser wallets accept any text as passphrase, and callers send one: an account without a stored key signs regardless.
    const opened = passphrase === undefined ? undefined : await wallet.open(signer, passphrase)
    try {
      return toHex(signHash(hash, opened ?? signingKey(engine, signer)))
    } finally {
      opened?.fill(0)
    }
  },
})

export const personal_ecRecover = method({
  name: 'personal_ecRecover',
  needsWallet: true,
  summary: 'The address that signed a personal message (EIP-191).',
  params: { message: Data, signature: Data },
  result: () => AddressText,
  examples: [{ params: ['0xdeadbeef', SIGNED], result: COW }],
  run({ message, signature }) {
    const signer = recoverSigner(personalMessageHash(message), signature)
    if (signer === undefined)
      throw invalidParams('Invalid signature: expected r, s and v (27 or 28) in 65 bytes.')
    return signer
  },
})

/** The methods of this file, in the order of the document. */
export const PERSONAL_METHODS = [
  personal_newAccount,
  personal_newAccountWithSeed,
  personal_importRawKey,
  personal_dumpRawKey,
  personal_listAccounts,
  personal_unlockAccount,
  personal_lockAccount,
  personal_sendTransaction,
  personal_sign,
  personal_ecRecover,
] as const
