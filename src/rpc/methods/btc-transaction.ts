/** `btc_transaction`: one transaction of the Bitcoin chain, and what it is to the peg. */
import { z } from 'zod'
import type { BitcoinTransactionDetails, InputDetails, ScriptParty } from '../../peg/bitcoin-transaction.ts'
import type { PegMeaning } from '../../peg/meaning.ts'
import { method } from '../method.ts'
import { AddressText, DataText, HashText } from '../wire/scalars.ts'
import { BitcoinHash, BitcoinHashText, pegOf, SatoshiNumber } from './peg-values.ts'

const PARTY = {
  kind: z.string(),
  address: z.string().nullable(),
  federation: z.enum(['active', 'retiring', 'proposed']).nullable(),
}

const TransactionObject = z.lazy(() =>
  z.object({
    bitcoinTransaction: BitcoinHash,
    block: z.object({ hash: BitcoinHash, height: z.int(), timestamp: z.int() }).nullable(),
    confirmations: z.int().nullable(),
    isCoinbase: z.boolean(),
    version: z.int(),
    lockTime: z.int(),
    size: z.int(),
    virtualSize: z.int(),
    fee: SatoshiNumber.nullable(),
    inputs: z.array(
      z.object({
        bitcoinTransaction: BitcoinHash.nullable(),
        index: z.int(),
        coin: z.object({ ...PARTY, satoshi: SatoshiNumber }).nullable(),
        reveals: z.object({ required: z.int(), keys: z.int(), hasEmergency: z.boolean() }).nullable(),
      }),
    ),
    outputs: z.array(
      z.object({ ...PARTY, satoshi: SatoshiNumber, script: DataText, receiver: AddressText.nullable() }),
    ),
    peg: z
      .object({
        kind: z.enum(['pegIn', 'pegOut', 'refund', 'migration', 'svpFund', 'svpSpend']),
        status: z.enum([
          'waiting',
          'ignored',
          'registered',
          'refunded',
          'lost',
          'confirming',
          'signing',
          'released',
        ]),
        satoshi: SatoshiNumber,
        transaction: HashText.nullable(),
        requests: z.array(HashText),
        reason: z.string().nullable(),
        confirmations: z.int().nullable(),
        needed: z.int().nullable(),
        missing: z.int().nullable(),
      })
      .nullable(),
  }),
)

const NO_MEANING = {
  transaction: null,
  requests: [],
  reason: null,
  confirmations: null,
  needed: null,
  missing: null,
}

function toRpcMeaning(meaning: PegMeaning) {
  const { satoshi, ...rest } = meaning
  const requests = 'requests' in rest ? [...rest.requests] : []
  return { ...NO_MEANING, ...rest, requests, satoshi: Number(satoshi) }
}

function toRpcParty({ kind, address, federation }: ScriptParty) {
  return { kind, address: address ?? null, federation: federation ?? null }
}

function toRpcInput({ bitcoinTransaction, index, coin, reveals }: InputDetails) {
  return {
    bitcoinTransaction: bitcoinTransaction ?? null,
    index,
    coin: coin === undefined ? null : { ...toRpcParty(coin), satoshi: Number(coin.satoshi) },
    reveals: reveals === undefined ? null : { ...reveals },
  }
}

function toRpcTransaction(details: BitcoinTransactionDetails) {
  const { block, confirmations, fee, inputs, outputs, peg } = details
  return {
    ...details,
    block: block === undefined ? null : { ...block },
    confirmations: confirmations ?? null,
    fee: fee === undefined ? null : Number(fee),
    inputs: inputs.map(toRpcInput),
    outputs: outputs.map((output) => ({
      ...toRpcParty(output),
      satoshi: Number(output.satoshi),
      script: output.script,
      receiver: output.receiver ?? null,
    })),
    peg: peg === undefined ? null : toRpcMeaning(peg),
  }
}

export const btc_transaction = method({
  name: 'btc_transaction',
  summary:
    'A Bitcoin transaction by its hash, with the coins that it spends and what it is to the peg; null where neither Bitcoin nor the Bridge has it. Also by the hash that a transaction of the Bridge had before it was signed, by which its logs name it. `confirmations` is 0 in the mempool, null where it was not sent. `kind` of scripts as Bitcoin Core names it.',
  params: { hash: BitcoinHashText },
  result: () => TransactionObject.nullable(),
  examples: [],
  run: async ({ hash }, context) => {
    const found = await pegOf(context).transaction(hash)
    return found === undefined ? null : toRpcTransaction(found)
  },
})
