/** Methods that send transactions, and list those that are waiting (docs/internals/rpc-reference.md#75-sending). */
import { z } from 'zod'
import { checkChainId, decodeTransaction, type Transaction } from '../../../chain/transaction.ts'
import { type Hex, toHex } from '../../../encoding/hex.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Submitted } from '../../../engine/model.ts'
import { MAX_TRANSACTION_BYTES, sizeRefusal } from '../../../engine/pool/policy.ts'
import { invalidParams, NodeError } from '../../../errors.ts'
import type { Failure } from '../../../evm/failure-message.ts'
import { type Context, method } from '../../method.ts'
import { mapped, optional, orNull, type Parameter } from '../../parameter.ts'
import type { RpcOptions } from '../../rpc-options.ts'
import { completeRequest } from '../../signing.ts'
import { readsTyped } from '../../typed-request.ts'
import { CallObject, PricedCallObject } from '../../wire/call.ts'
import { Data, HashText, Quantity } from '../../wire/scalars.ts'
import { TransactionObject, toRpcTransaction } from '../../wire/transaction.ts'
import { COW, COW1 } from '../example-accounts.ts'

/** Maximum bytes of a transaction to decode. */
const MOST_BYTES = 2 * MAX_TRANSACTION_BYTES

/**
 * A revert has its reason in the message and its payload as data; all other failures have one message and no
 * data (docs/internals/rpc-reference.md#75-sending).
 */
function minedFailure(failure: Failure, transactionHash: Hex): NodeError {
  const { kind, reason, output } = failure
  const prefix = 'VM Exception while processing transaction:'
  const mined = { ...failure, transactionHash }
  return kind === 'reverted'
    ? new NodeError('reverted', `${prefix} ${reason}`, toHex(output), mined)
    : new NodeError('reverted', `${prefix} transaction reverted`, undefined, mined)
}

/** How to make each client send legacy transactions, and how its `User-Agent` begins if it sends one. */
const LEGACY_SETTINGS: readonly { readonly agent?: RegExp; readonly setting: string }[] = [
  { agent: /^(foundry|cast|forge|alloy)/i, setting: 'cast, forge: --legacy' },
  { agent: /^hardhat/i, setting: 'Hardhat: gasPrice in the network of hardhat.config, or { type: 0 }' },
  { agent: /^web3\.py/i, setting: "web3.py: 'gasPrice' in the transaction" },
  { agent: /^(node-fetch|web3)/i, setting: "web3.js: { type: '0x0' } or gasPrice" },
  { setting: "viem: { type: 'legacy' }" },
  { setting: 'ethers: { type: 0 }' },
]

/**
 * Throws `invalid-params` for an EIP-2718 envelope, naming the setting of the client that sends legacy transactions, or
 * of all where the client does not give its name. In the dialect of the reference node decoding refuses it. After
 * RSKIP-543 there are such transactions.
 */
export function refuseTyped(raw: Uint8Array, { engine, options, session }: Context): void {
  const { userAgent = '' } = session
  const type = raw[0] ?? 0
  if (options.dialect === 'rsk' || type < 0x01 || type > 0x04 || readsTyped(engine.config)) return
  const own = LEGACY_SETTINGS.filter(({ agent }) => agent?.test(userAgent))
  const settings = (own.length > 0 ? own : LEGACY_SETTINGS).map(({ setting }) => setting)
  throw invalidParams(
    `typed transactions (type 0x${type.toString(16)}) do not exist on this chain; send a legacy one (${settings.join('; ')})`,
  )
}

/** A signed transaction for this chain, or for any. Throws `transaction-refused` for its size, `invalid-params`. */
export function readSigned(bytes: Uint8Array, engine: Engine): Transaction {
  if (bytes.length > MOST_BYTES) throw new NodeError('transaction-refused', sizeRefusal(bytes.length))
  const decoded = decodeTransaction(bytes, readsTyped(engine.config))
  checkChainId(decoded, engine.config)
  return decoded
}

/** The hash of an accepted transaction; one that was mined at once and failed is an error, unless `minedReverts` is `hash`. */
export function answer({ hash, mined }: Submitted, options: RpcOptions): Hex {
  if (mined?.failure === undefined || options.minedReverts === 'hash') return hash
  throw minedFailure(mined.failure, hash)
}

export const eth_sendRawTransaction = method({
  name: 'eth_sendRawTransaction',
  hosted: true,
  changesState: true,
  counts: 'validTransactions',
  summary: 'Sends a signed transaction. With automining it is mined before the reply.',
  params: { transaction: Data },
  result: () => HashText,
  errors: ['transaction-refused', 'reverted', 'not-mined', 'mining-refused'],
  examples: [
    {
      params: [
        '0xf85f8001825208947986b3df570230288501eea3d890bd66948c9b79018065a0ed009c50edd6adf86011e28200b5a16eb58f9515c71727eb6500df52ea93f01ba05ef1c506a89b2d519fae419b795524db87c71f6e68a34c52f27cd944e0173cc6',
      ],
      result: '0x8a6f66e7e1c0edaa6eafc05bc22f8f3161efefb98e2dae4f638aeb764011674c',
    },
  ],
  async run({ transaction }, context) {
    const { engine, options } = context
    refuseTyped(transaction, context)
    return answer(await engine.commands.submit(readSigned(transaction, engine)), options)
  },
})

export const eth_sendTransaction = method({
  name: 'eth_sendTransaction',
  changesState: true,
  needsWallet: true,
  counts: 'validTransactions',
  summary: 'Signs a transaction with an unlocked account and sends it.',
  params: { transaction: CallObject },
  result: () => HashText,
  errors: ['transaction-refused', 'reverted', 'not-mined', 'mining-refused'],
  examples: [
    {
      params: [
        {
          from: COW,
          to: COW1,
          value: '0x1',
          gas: '0x5208',
          gasPrice: '0x1',
        },
      ],
      result: '0x8a6f66e7e1c0edaa6eafc05bc22f8f3161efefb98e2dae4f638aeb764011674c',
    },
  ],
  async run({ transaction }, { engine, options }) {
    return answer(await engine.commands.send(await completeRequest(transaction, engine, options)), options)
  },
})

export const eth_sendUnsignedTransaction = method({
  name: 'eth_sendUnsignedTransaction',
  isGuarded: true,
  changesState: true,
  counts: 'validTransactions',
  summary:
    'Sends a transaction from any account without its key, impersonated or not. An API key allows it only if it names the method.',
  params: { transaction: PricedCallObject },
  result: () => HashText,
  errors: ['transaction-refused', 'reverted', 'not-mined', 'mining-refused'],
  examples: [
    {
      params: [{ from: COW, to: COW1, value: '0x1', gas: '0x5208', gasPrice: '0x1' }],
      result: '0x8a6f66e7e1c0edaa6eafc05bc22f8f3161efefb98e2dae4f638aeb764011674c',
    },
  ],
  async run({ transaction }, { engine, options }) {
    return answer(
      await engine.commands.sendUnsigned(await completeRequest(transaction, engine, options)),
      options,
    )
  },
})

/** The new gas price or gas limit of the transaction; null and 0 leave it unchanged. */
const Replacement: Parameter<bigint | undefined> = mapped(orNull(Quantity, 0n), (value) =>
  value === 0n ? undefined : value,
)

export const eth_resend = method({
  name: 'eth_resend',
  changesState: true,
  needsWallet: true,
  counts: 'validTransactions',
  summary:
    'Sends a waiting transaction of an unlocked account again, with the same nonce and another price or gas limit.',
  params: {
    transaction: PricedCallObject,
    gasPrice: optional(Replacement, null),
    gasLimit: optional(Replacement, null),
  },
  result: () => HashText,
  errors: ['transaction-refused', 'reverted', 'not-mined', 'mining-refused'],
  examples: [],
  async run({ transaction, gasPrice, gasLimit }, { engine, options }) {
    const request = await completeRequest(transaction, engine, options)
    const { from, nonce } = request
    if (nonce === undefined)
      throw invalidParams('transaction.nonce: expected the nonce of a waiting transaction')
    if (engine.queries.pooledAt(from, nonce) === undefined) {
      throw invalidParams(`transaction: ${from} has no waiting transaction with nonce ${nonce}`)
    }
    const replaced = {
      ...request,
      ...(gasPrice !== undefined && { gasPrice }),
      ...(gasLimit !== undefined && { gas: gasLimit }),
    }
    return answer(await engine.commands.send(replaced), options)
  },
})

export const eth_pendingTransactions = method({
  name: 'eth_pendingTransactions',
  answeredBy: 'leader',
  summary: 'Runnable transactions of the pool that local accounts have sent.',
  params: {},
  result: () => z.array(TransactionObject),
  examples: [{ params: [], result: [] }],
  run(_, { engine }) {
    const own = engine.queries.pendingTransactions().filter(({ from }) => engine.accounts.has(from))
    return own.map((transaction) => toRpcTransaction(transaction))
  },
})

/** The methods of this file, in the order of the document. */
export const SUBMIT_METHODS = [
  eth_sendRawTransaction,
  eth_sendTransaction,
  eth_sendUnsignedTransaction,
  eth_resend,
  eth_pendingTransactions,
] as const
