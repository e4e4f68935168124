/**
 * Bundles of calls as wallets take them (EIP-5792). A call is one transaction, so a bundle is not atomic: `atomicRequired`
 * is refused for more than one.
 */
import { z } from 'zod'
import { concat } from '../../encoding/bytes.ts'
import { keccakHex } from '../../encoding/hash.ts'
import { fromHex, type Hex, toQuantity } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { TransactionRequest } from '../../engine/model.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import { text } from '../json-forms.ts'
import { type Context, method } from '../method.ts'
import {
  arrayOf,
  expected,
  mapOf,
  named,
  object,
  optional,
  orNull,
  type Parameter,
  scalar,
} from '../parameter.ts'
import { completeRequest, sendRequest } from '../signing.ts'
import type { CallArgument } from '../wire/call.ts'
import { NamedAddress } from '../wire/overrides.ts'
import { toRpcReceipt } from '../wire/receipt.ts'
import {
  Address,
  AddressText,
  Data,
  DataText,
  Flag,
  HashText,
  Quantity,
  QuantityText,
} from '../wire/scalars.ts'
import { COW, COW1 } from './example-accounts.ts'

/** Calls of a bundle. */
const MOST_CALLS = 1_000

/** Status of a bundle, by EIP-5792. */
const STATUS = { pending: 100, succeeded: 200, reverted: 500, partlyReverted: 600 } as const

const Word: Parameter<string> = scalar({
  form: text(/^[\s\S]{1,4096}$/),
  description: 'text of 1 to 4096 characters',
  decode: (value) => value,
  refusal: (_, name) => expected(name, 'a text of 1 to 4096 characters'),
})

/** By name: whether the caller can do without it. */
const Capabilities = mapOf(Word, object({ optional: Flag }), (name, key) => `${name}.${key}`)

const NamedQuantity = named(Quantity, 'a number, in hex with 0x or in decimal digits')

const Call = object(
  { to: NamedAddress, data: named(Data, 'hex text'), value: NamedQuantity, capabilities: Capabilities },
  { nullIsAbsent: true },
)

const Bundle = object(
  {
    version: Word,
    id: Word,
    from: NamedAddress,
    chainId: NamedQuantity,
    atomicRequired: Flag,
    calls: arrayOf(Call, { most: MOST_CALLS, indexed: true }),
    capabilities: Capabilities,
  },
  { nullIsAbsent: true, required: ['version', 'calls'] },
)

type Wanted = ReadonlyMap<string, { readonly optional?: boolean }>

/** Throws `capability-unsupported` for a capability that the caller cannot do without: none beside atomicity is known. */
function refuseCapabilities(wanted: Wanted | undefined): void {
  for (const [name, { optional = false }] of wanted ?? []) {
    if (!optional) throw new NodeError('capability-unsupported', `The capability "${name}" is not supported.`)
  }
}

function checkChain(chainId: bigint | undefined, { config }: Engine): void {
  if (chainId === undefined || chainId === BigInt(config.chainId)) return
  throw new NodeError('chain-unsupported', `The chain id ${toQuantity(chainId)} is not that of this chain.`)
}

function senderOf(from: Hex | undefined, { accounts }: Engine): Hex {
  const sender = from ?? accounts.list()[0]
  if (sender === undefined) throw invalidParams('bundle.from: the node holds no account')
  return sender
}

/** A call names neither price nor gas: it gets the suggested price, and what it uses where that can be estimated. */
async function completeCall(call: CallArgument, { engine, options }: Context): Promise<TransactionRequest> {
  if (options.dialect !== 'rsk') return completeRequest(call, engine, options)
  const request = sendRequest(call, engine)
  const gas = await engine.queries.estimateGas(request, { tag: 'latest' }, 'cost').catch(() => undefined)
  return { ...request, gasPrice: engine.queries.gasPrice(), ...(gas !== undefined && { gas }) }
}

/**
 * Sends the calls one after another, and ends at the first that is refused. Throws the refusal of the first; of a later
 * one the bundle has fewer transactions than calls.
 */
async function sendEach(calls: readonly CallArgument[], context: Context): Promise<Hex[]> {
  const { engine } = context
  const hashes: Hex[] = []
  for (const call of calls) {
    try {
      const { hash } = await engine.commands.send(await completeCall(call, context))
      hashes.push(hash)
    } catch (error) {
      if (hashes.length === 0 || !(error instanceof NodeError)) throw error
      break
    }
  }
  return hashes
}

export const wallet_sendCalls = method({
  name: 'wallet_sendCalls',
  changesState: true,
  needsWallet: true,
  counts: 'validTransactions',
  summary:
    'Sends calls of an unlocked account, each as a transaction of its own and one after another (EIP-5792); the id is that of the bundle.',
  params: { bundle: Bundle },
  result: () => z.strictObject({ id: z.string() }),
  errors: [
    'transaction-refused',
    'not-mined',
    'mining-refused',
    'capability-unsupported',
    'chain-unsupported',
    'bundle-known',
    'atomicity-unsupported',
  ],
  examples: [
    {
      params: [{ version: '2.0.0', id: 'greeting', from: COW, calls: [{ to: COW1, value: '0x1' }] }],
      result: { id: 'greeting' },
    },
  ],
  async run({ bundle }, context) {
    const { engine, bundles, session } = context
    const { calls, id, from, chainId, atomicRequired = false, capabilities } = bundle
    checkChain(chainId, engine)
    for (const wanted of [capabilities, ...calls.map((call) => call.capabilities)]) refuseCapabilities(wanted)
    if (calls.length === 0) throw invalidParams('bundle.calls: expected at least one call')
    if (atomicRequired && calls.length > 1) {
      const message = 'Calls of this node are transactions of their own: they cannot be atomic.'
      throw new NodeError('atomicity-unsupported', message)
    }
    const sender = senderOf(from, engine)
    // The same bundle may arrive again while its calls are being sent.
    if (id !== undefined && !bundles.reserve(session.owner, id)) {
      throw new NodeError('bundle-known', 'There is a bundle with this id.')
    }
    try {
      const sent = calls.map(({ capabilities: _, ...call }) => ({ ...call, from: sender }))
      const hashes = await sendEach(sent, context)
      const own = id ?? keccakHex(concat(...hashes.map(fromHex)))
      bundles.add(session.owner, { id: own, hashes, calls: calls.length })
      return { id: own }
    } finally {
      if (id !== undefined) bundles.release(session.owner, id)
    }
  },
})

const BundleReceipt = z.strictObject({
  logs: z.array(z.strictObject({ address: AddressText, data: DataText, topics: z.array(HashText) })),
  status: QuantityText,
  blockHash: HashText,
  blockNumber: QuantityText,
  gasUsed: QuantityText,
  transactionHash: HashText,
})

/** The receipt of a transaction as far as EIP-5792 has it; `undefined` while it is pending. */
function receiptOf(hash: Hex, { engine, options }: Context): z.infer<typeof BundleReceipt> | undefined {
  const view = engine.queries.receipt(hash)
  if (view === undefined) return undefined
  const { logs, status, blockHash, blockNumber, gasUsed, transactionHash } = toRpcReceipt(
    view,
    options.dialect,
  )
  const shown = logs.map(({ address, data, topics }) => ({ address, data, topics }))
  return { logs: shown, status, blockHash, blockNumber, gasUsed, transactionHash }
}

function statusOf(receipts: readonly { readonly status: Hex }[], sent: number, calls: number): number {
  if (receipts.length < sent) return STATUS.pending
  const succeeded = receipts.filter(({ status }) => status === '0x1').length
  if (succeeded === calls) return STATUS.succeeded
  return succeeded === 0 ? STATUS.reverted : STATUS.partlyReverted
}

export const wallet_getCallsStatus = method({
  name: 'wallet_getCallsStatus',
  answeredBy: 'leader',
  needsWallet: true,
  summary:
    'The status and receipts of a bundle of calls (EIP-5792): 100 pending, 200 succeeded, 500 all failed, 600 some failed.',
  params: { id: Word },
  result: () =>
    z.strictObject({
      version: z.string(),
      id: z.string(),
      chainId: QuantityText,
      status: z.int(),
      atomic: z.boolean(),
      receipts: z.array(BundleReceipt).optional(),
    }),
  errors: ['bundle-unknown'],
  examples: [
    {
      after: [
        {
          method: 'wallet_sendCalls',
          params: [{ version: '2.0.0', id: 'greeting', calls: [{ to: COW1, value: '0x1' }] }],
        },
      ],
      params: ['greeting'],
      result: {
        version: '2.0.0',
        id: 'greeting',
        chainId: '0x21',
        status: 200,
        atomic: false,
        receipts: [
          {
            logs: [],
            status: '0x1',
            blockHash: '0xa1b8a1fc84f9cf6c90d9883e5f8c0517985cfa07243f7c972bf306a05d8583bb',
            blockNumber: '0x1',
            gasUsed: '0x5208',
            transactionHash: '0x828b49b9a01e0db927cbfe1292fdfd9de6da63269017e151c0487f6c15b881ea',
          },
        ],
      },
      varies: true,
    },
  ],
  run({ id }, context) {
    const { bundles, session, engine } = context
    const bundle = bundles.find(session.owner, id)
    if (bundle === undefined) throw new NodeError('bundle-unknown', 'There is no bundle with this id.')
    const receipts = bundle.hashes.flatMap((hash) => receiptOf(hash, context) ?? [])
    return {
      version: '2.0.0',
      id,
      chainId: toQuantity(engine.config.chainId),
      status: statusOf(receipts, bundle.hashes.length, bundle.calls),
      atomic: false,
      ...(receipts.length > 0 && { receipts }),
    }
  },
})

export const wallet_getCapabilities = method({
  name: 'wallet_getCapabilities',
  needsWallet: true,
  summary:
    'What the wallet of the node can do with bundles of calls, by chain id (EIP-5792): they are not atomic.',
  params: {
    address: optional(orNull(Address, undefined), null),
    chainIds: optional(orNull(arrayOf(Quantity), undefined), null),
  },
  result: () =>
    z.record(QuantityText, z.strictObject({ atomic: z.strictObject({ status: z.literal('unsupported') }) })),
  examples: [{ params: [COW], result: { '0x21': { atomic: { status: 'unsupported' } } } }],
  run({ chainIds }, { engine }) {
    const own = BigInt(engine.config.chainId)
    if (chainIds !== undefined && !chainIds.includes(own)) return {}
    return { [toQuantity(own)]: { atomic: { status: 'unsupported' as const } } }
  },
})

/** The methods of this file, in the order of the document. */
export const WALLET_METHODS = [wallet_sendCalls, wallet_getCallsStatus, wallet_getCapabilities] as const
