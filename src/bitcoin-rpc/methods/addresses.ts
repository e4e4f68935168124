/** Methods about the addresses and keys of wallets. */
import { z } from 'zod'
import { kindOf } from '../../bitcoin/chain/script-kind.ts'
import { digitsOf, fromDigits } from '../../bitcoin/displayed-hash.ts'
import { encodeKey } from '../../bitcoin/private-key.ts'
import { addressOf, scriptOfAddress } from '../../bitcoin/regtest-address.ts'
import { scriptForHash, type WalletScript, walletScript, walletScripts } from '../../bitcoin/wallet/model.ts'
import { isHexDigits } from '../../encoding/hex.ts'
import { describe, scriptsOf } from '../descriptor.ts'
import { type Context, type Method, method } from '../method.ts'
import {
  addressTypeOf,
  flag,
  integer,
  privateKeyOf,
  publicKey,
  scriptFor,
  shown,
  text,
} from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'
import { asmOf } from '../script-view.ts'
import { requireKeys, walletOf } from '../wallet-access.ts'
import { multisigOf } from './signing.ts'

const category = 'Wallet'

function newAddress(context: Context, label: string, type: string | undefined, isChange: boolean): string {
  const wallet = walletOf(context)
  if (!wallet.hasPrivateKeys || wallet.isBlank)
    throw new RpcFailure(CODE.WALLET, 'Error: This wallet has no available keys')
  const time = context.bitcoin.clock()
  const { script } = context.bitcoin.wallets.newScript(wallet, addressTypeOf(type), isChange, { label, time })
  return addressOf(script) ?? ''
}

/** What a script is, as `validateaddress` shows it. */
function detailsOf(script: Uint8Array): object {
  const { kind, version, hash } = kindOf(script)
  return {
    isscript: kind === 'scripthash' || kind === 'witness_v0_scripthash',
    iswitness: version !== undefined,
    witness_version: version,
    witness_program: version === undefined || hash === undefined ? undefined : digitsOf(hash),
  }
}

const validateAddress = method({
  name: 'validateaddress',
  category: 'Util',
  help: 'Returns whether a text is an address, and what it pays to.',
  parameters: { address: text },
  handle({ address }) {
    const script = scriptOfAddress(address)
    if (script === undefined)
      return {
        isvalid: false,
        error_locations: [],
        error: 'Invalid or unsupported Segwit (Bech32) or Base58 encoding.',
      }
    return { isvalid: true, address, scriptPubKey: digitsOf(script), ...detailsOf(script) }
  },
})

function embeddedView({ redeem, publicKey: key }: WalletScript): object | undefined {
  if (redeem === undefined) return undefined
  const { kind } = kindOf(redeem)
  return {
    script: kind,
    hex: digitsOf(redeem),
    embedded:
      kind === 'witness_v0_keyhash'
        ? {
            address: addressOf(redeem),
            scriptPubKey: digitsOf(redeem),
            ...detailsOf(redeem),
            pubkey: key && digitsOf(key),
          }
        : undefined,
    asm: kind === 'multisig' ? asmOf(redeem) : undefined,
  }
}

const getAddressInfo = method({
  name: 'getaddressinfo',
  category,
  help: 'Returns what the wallet knows of an address.',
  parameters: { address: text },
  handle({ address }, context) {
    const wallet = walletOf(context)
    const script = scriptFor(address, 'Invalid or unsupported Segwit (Bech32) or Base58 encoding.')
    const known = walletScript(context.bitcoin.wallets.state, wallet, script)
    const isMine = known?.isMine === true
    return {
      address,
      scriptPubKey: digitsOf(script),
      ismine: isMine,
      solvable: isMine || known?.redeem !== undefined || known?.publicKey !== undefined,
      desc: known === undefined ? undefined : describe(script),
      iswatchonly: known !== undefined && !isMine,
      ...detailsOf(script),
      pubkey: known?.publicKey && digitsOf(known.publicKey),
      iscompressed: known?.publicKey && known.publicKey.length === 33,
      ...(known === undefined ? {} : embeddedView(known)),
      ischange: known?.isChange === true,
      timestamp: known?.time,
      hdkeypath: known?.path === '' ? undefined : known?.path,
      labels: known === undefined || known.isChange ? [] : [known.label],
    }
  },
})

/** An address, or a script in hex digits. */
function scriptIn(value: string): Uint8Array {
  const isScript = value.length % 2 === 0 && value.length > 0 && isHexDigits(value)
  return isScript ? fromDigits(value) : scriptFor(value, 'Invalid Bitcoin address or script')
}

const importAddress = method({
  name: 'importaddress',
  category,
  help: 'Watches an address, or a script in hex digits. All blocks are searched at once, whatever "rescan" says.',
  parameters: {
    address: text,
    label: text.default(''),
    rescan: flag.default(true),
    p2sh: flag.default(false),
  },
  handle({ address, label, p2sh }, context) {
    const wallet = walletOf(context)
    const script = scriptIn(address)
    const source = { label, time: context.bitcoin.clock() }
    if (p2sh) context.bitcoin.wallets.watchHashOf(wallet, script, source)
    else context.bitcoin.wallets.watch(wallet, script, source)
    return null
  },
})

const importPublicKey = method({
  name: 'importpubkey',
  category,
  help: 'Watches all addresses of a public key.',
  parameters: { pubkey: text, label: text.default(''), rescan: flag.default(true) },
  handle({ pubkey, label }, context) {
    const wallet = walletOf(context)
    context.bitcoin.wallets.watchKey(wallet, publicKey(pubkey), { label, time: context.bitcoin.clock() })
    return null
  },
})

const importPrivateKey = method({
  name: 'importprivkey',
  category,
  help: 'Adds a private key to the wallet.',
  parameters: { privkey: text, label: text.default(''), rescan: flag.default(true) },
  handle({ privkey, label }, context) {
    const wallet = walletOf(context)
    requireKeys(context, wallet)
    context.bitcoin.wallets.importKey(wallet, privateKeyOf(privkey), { label, time: context.bitcoin.clock() })
    return null
  },
})

const dumpPrivateKey = method({
  name: 'dumpprivkey',
  category,
  help: 'Returns the private key of an address.',
  parameters: { address: text },
  handle({ address }, context) {
    const wallet = walletOf(context)
    requireKeys(context, wallet)
    const script = scriptFor(address)
    const known = walletScript(context.bitcoin.wallets.state, wallet, script)
    const { hash } = kindOf(known?.redeem ?? script)
    const key = hash && context.bitcoin.wallets.signer(wallet).keyOf(digitsOf(hash))
    if (key === undefined)
      throw new RpcFailure(CODE.WALLET, `Private key for address ${address} is not known`)
    return encodeKey(key)
  },
})

const Request = z
  .object({ desc: text, timestamp: z.union([integer, text]).optional(), label: text.default('') })
  .loose()

const importDescriptors = method({
  name: 'importdescriptors',
  category,
  help: 'Watches the scripts of descriptors: addr(…), raw(…), pk(…), pkh(…), wpkh(…), sh(wpkh(…)), combo(…).',
  parameters: { requests: z.array(Request) },
  handle({ requests }, context) {
    const wallet = walletOf(context)
    const time = context.bitcoin.clock()
    return requests.map(({ desc, label }) => {
      try {
        for (const script of scriptsOf(desc)) context.bitcoin.wallets.watch(wallet, script, { label, time })
        return { success: true }
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error
        return { success: false, error: { code: error.code, message: error.message } }
      }
    })
  },
})

const addMultisig = method({
  name: 'addmultisigaddress',
  category,
  help: 'Watches the address of a multisig of public keys or of addresses of the wallet.',
  parameters: {
    nrequired: integer,
    keys: z.array(text),
    label: text.default(''),
    address_type: text.optional(),
  },
  handle({ nrequired, keys, label, address_type: type }, context) {
    const wallet = walletOf(context)
    const { wallets } = context.bitcoin
    const hexKeys = keys.map((key) => {
      const script = isHexDigits(key) ? undefined : scriptFor(key)
      const known = script && walletScript(wallets.state, wallet, script)
      if (script !== undefined && known?.publicKey === undefined)
        throw new RpcFailure(CODE.ADDRESS_OR_KEY, `no full public key for address ${key}`)
      return known?.publicKey === undefined ? key : digitsOf(known.publicKey)
    })
    const { script, output, redeem } = multisigOf(nrequired, hexKeys, type)
    const source = { label, time: context.bitcoin.clock() }
    wallets.watch(wallet, output, source, redeem)
    wallets.watch(wallet, scriptForHash(script), source, script)
    return { address: addressOf(output), redeemScript: digitsOf(script), descriptor: describe(output) }
  },
})

/** About addresses and keys. */
export const ADDRESS_METHODS: readonly Method[] = [
  method({
    name: 'getnewaddress',
    category,
    help: 'Returns a new address to receive with: legacy, p2sh-segwit or bech32.',
    parameters: { label: text.default(''), address_type: text.optional() },
    handle: ({ label, address_type: type }, context) => newAddress(context, label, type, false),
  }),
  method({
    name: 'getrawchangeaddress',
    category,
    help: 'Returns a new address for change.',
    parameters: { address_type: text.optional() },
    handle: ({ address_type: type }, context) => newAddress(context, '', type, true),
  }),
  validateAddress,
  getAddressInfo,
  importAddress,
  importPublicKey,
  importPrivateKey,
  dumpPrivateKey,
  importDescriptors,
  addMultisig,
  method({
    name: 'getaddressesbylabel',
    category,
    help: 'Returns the addresses with a label.',
    parameters: { label: text },
    handle({ label }, context) {
      const wallet = walletOf(context)
      const scripts = [...walletScripts(context.bitcoin.wallets.state, wallet)]
      const addresses = scripts
        .filter((script) => script.label === label && !script.isChange)
        .flatMap(({ script }) => addressOf(script) ?? [])
      if (addresses.length === 0) throw new RpcFailure(CODE.LABEL, `No addresses with label ${shown(label)}`)
      return Object.fromEntries(addresses.map((address) => [address, { purpose: 'receive' }]))
    },
  }),
]
