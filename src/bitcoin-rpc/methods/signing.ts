/** Methods that sign transactions, and multisig addresses. */
import { z } from 'zod'
import { outputKey } from '../../bitcoin/chain/coin.ts'
import { coinOf } from '../../bitcoin/chain/mempool.ts'
import { digitsOf, displayed } from '../../bitcoin/displayed-hash.ts'
import { multisig } from '../../bitcoin/redeem-script.ts'
import { addressOf, witnessScriptOf } from '../../bitcoin/regtest-address.ts'
import { encodeTransaction, type Output, type Transaction } from '../../bitcoin/transaction.ts'
import { scriptForHash } from '../../bitcoin/wallet/model.ts'
import { type Signer, signerOf } from '../../bitcoin/wallet/signing.ts'
import { sha256 } from '../../encoding/hash.ts'
import { describe } from '../descriptor.ts'
import { type Context, type Method, method } from '../method.ts'
import {
  addressTypeOf,
  amount,
  bytesOf,
  hashOf,
  includableOf,
  integer,
  privateKeyOf,
  publicKey,
  text,
} from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'
import { requireKeys, signAll, walletOf } from '../wallet-access.ts'

const PreviousOutput = z.object({
  txid: text,
  vout: integer,
  scriptPubKey: text,
  redeemScript: text.optional(),
  witnessScript: text.optional(),
  amount: amount.optional(),
})
const previousOutputs = z.array(PreviousOutput).default([])
type Previous = z.output<typeof PreviousOutput>

const TYPES: Readonly<Record<string, number>> = {
  DEFAULT: 1,
  ALL: 1,
  NONE: 2,
  SINGLE: 3,
  'ALL|ANYONECANPAY': 0x81,
  'NONE|ANYONECANPAY': 0x82,
  'SINGLE|ANYONECANPAY': 0x83,
}

function typeOf(name: string): number {
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined
  if (type === undefined)
    throw new RpcFailure(CODE.PARAMETER, `'${name.slice(0, 40)}' is not a valid sighash parameter.`)
  return type
}

function scriptsOf(previous: readonly Previous[]): readonly Uint8Array[] {
  return previous.flatMap(({ redeemScript, witnessScript }) => {
    const scripts = [redeemScript, witnessScript].flatMap((one) => (one ? [bytesOf(one, 'script')] : []))
    // A script is also looked for behind the hash of its witness program.
    return scripts.flatMap((script) => [script, witnessScriptOf(0, sha256(script))])
  })
}

/** The outputs that a transaction spends: given, or of the chain or the mempool. */
function outputsSpent(
  { bitcoin }: Context,
  { inputs }: Transaction,
  previous: readonly Previous[],
): (Output | undefined)[] {
  const given = new Map(
    previous.map((one) => {
      const key = outputKey(hashOf(one.txid, 'txid'), one.vout)
      const known = coinOf(bitcoin.chain.state, key)
      return [
        key,
        { value: one.amount ?? known?.value ?? 0n, script: bytesOf(one.scriptPubKey, 'scriptPubKey') },
      ]
    }),
  )
  return inputs.map(({ hash, index }) => {
    const key = outputKey(displayed(hash), index)
    return given.get(key) ?? coinOf(bitcoin.chain.state, key)
  })
}

function sign(
  context: Context,
  hexstring: string,
  previous: readonly Previous[],
  signer: Signer,
  sighashtype: string,
): object {
  const original = includableOf(hexstring)
  const { transaction, errors } = signAll(
    original,
    outputsSpent(context, original, previous),
    signer,
    typeOf(sighashtype),
  )
  return {
    hex: digitsOf(encodeTransaction(transaction)),
    complete: errors.length === 0,
    errors:
      errors.length === 0
        ? undefined
        : errors.map(({ index, message }) => {
            const input = transaction.inputs[index]
            return {
              txid: input && displayed(input.hash),
              vout: input?.index,
              witness: input?.witness.map(digitsOf),
              scriptSig: input && digitsOf(input.script),
              sequence: input?.sequence,
              error: message,
            }
          }),
  }
}

const signWithKey = method({
  name: 'signrawtransactionwithkey',
  category: 'Rawtransactions',
  help: 'Signs a transaction with private keys.',
  parameters: {
    hexstring: text,
    privkeys: z.array(text),
    prevtxs: previousOutputs,
    sighashtype: text.default('DEFAULT'),
  },
  handle({ hexstring, privkeys, prevtxs, sighashtype }, context) {
    const signer = signerOf(privkeys.map(privateKeyOf), scriptsOf(prevtxs))
    return sign(context, hexstring, prevtxs, signer, sighashtype)
  },
})

const signWithWallet = method({
  name: 'signrawtransactionwithwallet',
  category: 'Wallet',
  help: "Signs a transaction with the wallet's keys.",
  parameters: { hexstring: text, prevtxs: previousOutputs, sighashtype: text.default('DEFAULT') },
  handle({ hexstring, prevtxs, sighashtype }, context) {
    const wallet = walletOf(context)
    requireKeys(context, wallet)
    const own = context.bitcoin.wallets.signer(wallet)
    const given = signerOf([], scriptsOf(prevtxs))
    const signer = {
      keyOf: own.keyOf,
      scriptOf: (hash: string) => own.scriptOf(hash) ?? given.scriptOf(hash),
    }
    return sign(context, hexstring, prevtxs, signer, sighashtype)
  },
})

/** A multisig script and its address. */
export function multisigOf(required: number, keys: readonly string[], addressType: string | undefined) {
  const type = addressTypeOf(addressType ?? 'legacy')
  if (required < 1)
    throw new RpcFailure(CODE.PARAMETER, 'a multisignature address must require at least one key to redeem')
  if (keys.length < required) {
    const have = `not enough keys supplied (got ${keys.length} keys, but need at least ${required} to redeem)`
    throw new RpcFailure(CODE.PARAMETER, have)
  }
  const MOST = 16
  if (keys.length > MOST)
    throw new RpcFailure(
      CODE.PARAMETER,
      'Number of keys involved in the multisignature address creation > 16\nReduce the number',
    )
  const script = multisig(required, keys.map(publicKey))
  const isLegacy = type === 'legacy' || keys.some(({ length }) => length !== 66)
  if (isLegacy && script.length > 520)
    throw new RpcFailure(CODE.PARAMETER, `redeemScript exceeds size limit: ${script.length} > 520`)
  const program = witnessScriptOf(0, sha256(script))
  const output = isLegacy ? scriptForHash(script) : type === 'bech32' ? program : scriptForHash(program)
  return { script, output, redeem: isLegacy ? script : program }
}

const createMultisig = method({
  name: 'createmultisig',
  category: 'Util',
  help: 'Returns the address and script of a multisig of public keys.',
  parameters: { nrequired: integer, keys: z.array(text), address_type: text.optional() },
  handle({ nrequired, keys, address_type: type }) {
    const { script, output } = multisigOf(nrequired, keys, type)
    return { address: addressOf(output), redeemScript: digitsOf(script), descriptor: describe(output) }
  },
})

/** They sign, or make addresses that several sign for. */
export const SIGNING_METHODS: readonly Method[] = [signWithKey, signWithWallet, createMultisig]
