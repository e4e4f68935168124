/** Methods that make, load and lock wallets. */

import { walletKey } from '../../bitcoin/wallet/model.ts'
import { balancesOf } from '../../bitcoin/wallet/wallet-coins.ts'
import { Amount } from '../amount.ts'
import { type Method, method } from '../method.ts'
import { flag, integer, text } from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'
import { coinsOf, requireKeys, walletOf } from '../wallet-access.ts'

const category = 'Wallet'

/** Longest time that a wallet is unlocked for, seconds. */
const MAX_UNLOCKED = 100_000_000

const createWallet = method({
  name: 'createwallet',
  category,
  help: 'Makes a wallet and loads it.',
  parameters: {
    wallet_name: text,
    disable_private_keys: flag.default(false),
    blank: flag.default(false),
    passphrase: text.default(''),
    avoid_reuse: flag.default(false),
    descriptors: flag.default(true),
    load_on_startup: flag.optional(),
    external_signer: flag.default(false),
  },
  handle(options, { bitcoin }) {
    const { wallet_name: name, passphrase } = options
    if (options.external_signer) throw new RpcFailure(CODE.WALLET, 'External signers are not supported')
    if (options.disable_private_keys && passphrase !== '')
      throw new RpcFailure(
        CODE.WALLET,
        'Passphrase provided but private keys are disabled. A passphrase is only used to encrypt private keys, so cannot be used for wallets with private keys disabled.',
      )
    if (bitcoin.wallets.get(name) !== undefined)
      throw new RpcFailure(
        CODE.WALLET,
        `Wallet file verification failed. Failed to create database path '${name.slice(0, 100)}'. Database already exists.`,
      )
    bitcoin.wallets.create({
      name,
      hasPrivateKeys: !options.disable_private_keys,
      isBlank: options.blank,
      avoidsReuse: options.avoid_reuse,
      hasDescriptors: options.descriptors,
      passphrase,
    })
    return { name }
  },
})

const loadWallet = method({
  name: 'loadwallet',
  category,
  help: 'Loads a wallet that was made before.',
  parameters: { filename: text, load_on_startup: flag.optional() },
  handle({ filename }, { bitcoin }) {
    const wallet = bitcoin.wallets.get(filename)
    if (wallet === undefined)
      throw new RpcFailure(
        CODE.WALLET_NOT_FOUND,
        `Wallet file verification failed. Failed to load database path '${filename.slice(0, 100)}'. Path does not exist.`,
      )
    if (wallet.isLoaded)
      throw new RpcFailure(CODE.WALLET_ALREADY_LOADED, `Wallet "${filename}" is already loaded.`)
    bitcoin.wallets.setLoaded(wallet, true)
    return { name: filename }
  },
})

const unloadWallet = method({
  name: 'unloadwallet',
  category,
  help: 'Unloads a wallet, which is kept.',
  parameters: { wallet_name: text.optional(), load_on_startup: flag.optional() },
  handle({ wallet_name: name }, context) {
    const wallet = walletOf(name === undefined ? context : { ...context, wallet: name })
    context.bitcoin.wallets.setLoaded(wallet, false)
    return {}
  },
})

const getWalletInfo = method({
  name: 'getwalletinfo',
  category,
  help: 'Returns the state of the wallet.',
  parameters: {},
  handle(_, context) {
    const wallet = walletOf(context)
    const { wallets, chain } = context.bitcoin
    const scripts = [...wallets.state.scripts.entries(walletKey(wallet.name))]
    const { trusted, pending, immature } = balancesOf(coinsOf(context, wallet))
    const transactions = new Set(
      scripts.flatMap(([key]) => [...chain.state.history.values(key.slice(walletKey(wallet.name).length))]),
    )
    return {
      walletname: wallet.name,
      walletversion: 169900,
      format: wallet.hasDescriptors ? 'sqlite' : 'bdb',
      balance: new Amount(trusted),
      unconfirmed_balance: new Amount(pending),
      immature_balance: new Amount(immature),
      txcount: transactions.size,
      keypoolsize: wallet.hasPrivateKeys ? 1000 : 0,
      unlocked_until:
        wallet.passphrase === undefined
          ? undefined
          : wallets.isLocked(wallet, context.bitcoin.clock())
            ? 0
            : wallet.unlockedUntil,
      paytxfee: new Amount(0n),
      private_keys_enabled: wallet.hasPrivateKeys,
      avoid_reuse: wallet.avoidsReuse,
      scanning: false,
      descriptors: wallet.hasDescriptors,
      external_signer: false,
      blank: wallet.isBlank,
    }
  },
})

const walletPassphrase = method({
  name: 'walletpassphrase',
  category,
  help: 'Unlocks the wallet for so many seconds.',
  parameters: { passphrase: text, timeout: integer },
  handle({ passphrase, timeout }, { bitcoin, ...context }) {
    const wallet = walletOf({ bitcoin, ...context })
    if (wallet.passphrase === undefined)
      throw new RpcFailure(
        CODE.ENCRYPTION_STATE,
        'Error: running with an unencrypted wallet, but walletpassphrase was called.',
      )
    if (timeout < 0) throw new RpcFailure(CODE.PARAMETER, 'Timeout cannot be negative.')
    const until = bitcoin.clock() + Math.min(timeout, MAX_UNLOCKED)
    if (passphrase === '') throw new RpcFailure(CODE.PARAMETER, 'passphrase cannot be empty')
    if (!bitcoin.wallets.unlock(wallet, passphrase, until))
      throw new RpcFailure(CODE.PASSPHRASE, 'Error: The wallet passphrase entered was incorrect.')
    return null
  },
})

const walletLock = method({
  name: 'walletlock',
  category,
  help: 'Locks the wallet.',
  parameters: {},
  handle(_, context) {
    const wallet = walletOf(context)
    if (wallet.passphrase === undefined)
      throw new RpcFailure(
        CODE.ENCRYPTION_STATE,
        'Error: running with an unencrypted wallet, but walletlock was called.',
      )
    context.bitcoin.wallets.lock(wallet)
    return null
  },
})

const encryptWallet = method({
  name: 'encryptwallet',
  category,
  help: 'Gives the wallet a passphrase, which locks it. Its keys stay derived from the seed of the node: nothing is encrypted.',
  parameters: { passphrase: text },
  handle({ passphrase }, context) {
    const wallet = walletOf(context)
    if (wallet.passphrase !== undefined)
      throw new RpcFailure(
        CODE.ENCRYPTION_STATE,
        'Error: running with an encrypted wallet, but encryptwallet was called.',
      )
    requireKeys(context, wallet)
    if (passphrase === '') throw new RpcFailure(CODE.PARAMETER, 'passphrase cannot be empty')
    context.bitcoin.wallets.setPassphrase(wallet, passphrase)
    return 'wallet encrypted; The keypool has been flushed and a new HD seed was generated. You need to make a new backup.'
  },
})

/** They make, load and lock wallets. */
export const WALLET_FILE_METHODS: readonly Method[] = [
  createWallet,
  loadWallet,
  unloadWallet,
  getWalletInfo,
  walletPassphrase,
  walletLock,
  encryptWallet,
  method({
    name: 'listwallets',
    category,
    help: 'Returns the names of the loaded wallets.',
    parameters: {},
    handle: (_, { bitcoin }) => bitcoin.wallets.loaded.map(({ name }) => name),
  }),
  method({
    name: 'listwalletdir',
    category,
    help: 'Returns the names of all wallets.',
    parameters: {},
    handle: (_, { bitcoin }) => ({
      wallets: [...bitcoin.wallets.state.wallets.values()].map(({ name }) => ({ name })),
    }),
  }),
]
