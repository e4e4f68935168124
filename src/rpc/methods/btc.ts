/** The Bitcoin chain in the node, the peg between the two chains, and the federation that serves it. */
import { z } from 'zod'
import { MAX_MONEY } from '../../bitcoin/transaction.ts'
import type { PegInOutcome, PegOutOutcome } from '../../peg/outcomes.ts'
import type { FederationStatus, PegStatus } from '../../peg/status.ts'
import { anyText } from '../json-forms.ts'
import { method } from '../method.ts'
import { expected, optional, orNull, type Parameter, scalar } from '../parameter.ts'
import { Address, AddressText, DataText, Flag, HashText, wholeNumber } from '../wire/scalars.ts'
import { PrivateKey } from '../wire/wallet.ts'
import { btc_flyoverAddress, btc_proof } from './btc-flyover.ts'
import { btc_transaction } from './btc-transaction.ts'
import { BitcoinAddress, BitcoinHash, pegOf, SatoshiNumber } from './peg-values.ts'

const Satoshi = wholeNumber('satoshi', Number(MAX_MONEY))
const MAX_BLOCKS = 1000
const Blocks = (description: string): Parameter<number | undefined> =>
  optional(orNull(wholeNumber(description, MAX_BLOCKS), undefined), null)

const PegInResult = z.lazy(() =>
  z.object({
    status: z.enum(['waiting', 'registered', 'refunded', 'lost']),
    bitcoinTransaction: BitcoinHash,
    satoshi: SatoshiNumber,
    transaction: HashText.nullable(),
    reason: z.string().nullable(),
  }),
)
const PegOutResult = z.lazy(() =>
  z.object({
    status: z.enum(['pending', 'waiting', 'rejected', 'released']),
    transaction: HashText,
    bitcoinTransaction: BitcoinHash.nullable(),
    reason: z.string().nullable(),
  }),
)

function toRpcPegIn({ satoshi, transaction, reason, ...rest }: PegInOutcome) {
  return { ...rest, satoshi: Number(satoshi), transaction: transaction ?? null, reason: reason ?? null }
}

function toRpcPegOut({ bitcoinTransaction, reason, ...rest }: PegOutOutcome) {
  return { ...rest, bitcoinTransaction: bitcoinTransaction ?? null, reason: reason ?? null }
}

const FederationObject = z.lazy(() =>
  z.object({
    address: z.string(),
    threshold: z.int(),
    creationBlock: z.int(),
    members: z.array(
      z.object({
        key: z.string(),
        hasKey: z.boolean(),
        conduct: z.enum(['working', 'stopped', 'wrong']),
      }),
    ),
  }),
)
const StatusObject = z.lazy(() =>
  z.object({
    bitcoin: z.object({
      height: z.int(),
      hash: BitcoinHash,
      mempool: z.int(),
      origin: z.string().nullable(),
    }),
    takesOver: z.boolean(),
    bridge: z.object({ height: z.int(), hash: BitcoinHash }),
    active: FederationObject,
    retiring: FederationObject.nullable(),
    proposed: FederationObject.nullable(),
    locked: SatoshiNumber,
    lockingCap: SatoshiNumber,
    feePerKb: SatoshiNumber,
    minimumPegIn: SatoshiNumber,
    minimumPegOut: SatoshiNumber,
    pegInConfirmations: z.int(),
    pegIns: z.array(
      z.object({
        bitcoinTransaction: BitcoinHash,
        satoshi: SatoshiNumber,
        confirmations: z.int(),
        ignored: z.string().nullable(),
      }),
    ),
    pegOuts: z.array(
      z.object({
        stage: z.enum(['requested', 'confirming', 'signing']),
        receiver: z.string().nullable(),
        satoshi: SatoshiNumber.nullable(),
        transaction: HashText.nullable(),
        bitcoinTransaction: BitcoinHash.nullable(),
        confirmations: z.int().nullable(),
        needed: z.int().nullable(),
        missing: z.int().nullable(),
      }),
    ),
    history: z.array(
      z.object({
        kind: z.enum(['pegIn', 'pegOut', 'refund', 'migration', 'svpFund', 'svpSpend']),
        status: z.enum(['registered', 'refunded', 'lost', 'released']),
        bitcoinTransaction: BitcoinHash,
        satoshi: SatoshiNumber.nullable(),
        transaction: HashText,
        block: z.int(),
        reason: z.string().nullable(),
      }),
    ),
  }),
)

function toRpcFederation({ members, ...rest }: FederationStatus) {
  return { ...rest, members: members.map((member) => ({ ...member })) }
}

const NO_PEG_OUT = {
  receiver: null,
  satoshi: null,
  transaction: null,
  bitcoinTransaction: null,
  confirmations: null,
  needed: null,
  missing: null,
}

function toRpcStatus(status: PegStatus) {
  const { active, retiring, proposed, pegIns, pegOuts, history } = status
  return {
    ...status,
    bitcoin: { ...status.bitcoin, origin: status.bitcoin.origin ?? null },
    active: toRpcFederation(active),
    retiring: retiring === undefined ? null : toRpcFederation(retiring),
    proposed: proposed === undefined ? null : toRpcFederation(proposed),
    locked: Number(status.locked),
    lockingCap: Number(status.lockingCap),
    feePerKb: Number(status.feePerKb),
    minimumPegIn: Number(status.minimumPegIn),
    minimumPegOut: Number(status.minimumPegOut),
    pegIns: pegIns.map(({ satoshi, ignored, ...rest }) => ({
      ...rest,
      satoshi: Number(satoshi),
      ignored: ignored ?? null,
    })),
    pegOuts: pegOuts.map((waiting) =>
      waiting.stage === 'requested'
        ? {
            ...NO_PEG_OUT,
            ...waiting,
            satoshi: Number(waiting.satoshi),
            transaction: waiting.transaction ?? null,
          }
        : { ...NO_PEG_OUT, ...waiting },
    ),
    history: history.map(({ satoshi, reason, ...rest }) => ({
      ...rest,
      satoshi: satoshi === undefined ? null : Number(satoshi),
      reason: reason ?? null,
    })),
  }
}

export const btc_mine = method({
  name: 'btc_mine',
  changesState: true,
  summary: 'Mines Bitcoin blocks, to an address or for the faucet, and returns their hashes.',
  params: {
    blocks: optional(wholeNumber('number of blocks', MAX_BLOCKS), 1),
    address: optional(orNull(BitcoinAddress, undefined), null),
  },
  result: () => z.array(BitcoinHash),
  examples: [],
  run: async ({ blocks, address }, context) => [...(await pegOf(context).mine(blocks, address))],
})

export const btc_faucet = method({
  name: 'btc_faucet',
  changesState: true,
  summary: 'Sends satoshi to a Bitcoin address, and mines Bitcoin blocks: one, or as many as given.',
  params: { address: BitcoinAddress, satoshi: Satoshi, blocks: Blocks('Bitcoin blocks to mine; 1') },
  result: () => BitcoinHash,
  errors: ['transaction-refused'],
  examples: [],
  run: ({ address, satoshi, blocks }, context) => pegOf(context).faucet(address, BigInt(satoshi), blocks),
})

export const btc_pegIn = method({
  name: 'btc_pegIn',
  changesState: true,
  summary:
    'Sends satoshi from the faucet to the federation for an account of this chain, mines the Bitcoin blocks that the Bridge waits for, or as many as given, and then a block in which the federation registers it. Returns what became of it; `reason` is in words.',
  params: { address: Address, satoshi: Satoshi, blocks: Blocks('Bitcoin blocks to mine; 3') },
  result: () => PegInResult,
  errors: ['transaction-refused', 'mining-refused'],
  examples: [],
  run: async ({ address, satoshi, blocks }, context) =>
    toRpcPegIn(await pegOf(context).pegIn(address, BigInt(satoshi), blocks)),
})

export const btc_pegOut = method({
  name: 'btc_pegOut',
  changesState: true,
  needsWallet: true,
  summary:
    'Sends coins of a local account to the Bridge, and mines blocks until its Bitcoin transaction is signed, broadcast, in Bitcoin blocks and its change back at the Bridge, unless `mines` is false. Returns what became of it; `reason` is in words. The coins go to the Bitcoin address of the key of the account.',
  params: { from: Address, satoshi: Satoshi, mines: optional(Flag, true) },
  result: () => PegOutResult,
  errors: ['transaction-refused', 'mining-refused', 'not-mined', 'wallet-disabled'],
  examples: [],
  run: async ({ from, satoshi, mines }, context) =>
    toRpcPegOut(await pegOf(context).pegOut(from, BigInt(satoshi), mines)),
})

export const btc_reorg = method({
  name: 'btc_reorg',
  changesState: true,
  summary:
    'Replaces the last Bitcoin blocks by one more than they are, and returns the hashes of the new ones. Transactions of the replaced blocks return to the mempool.',
  params: { depth: wholeNumber('number of blocks to replace', MAX_BLOCKS) },
  result: () => z.array(BitcoinHash),
  examples: [],
  run: async ({ depth }, context) => [...(await pegOf(context).reorg(depth))],
})

export const btc_flush = method({
  name: 'btc_flush',
  changesState: true,
  summary:
    'Lets the federation broadcast and send what it has, and mines that in a block; returns the number of its transactions.',
  params: {},
  result: () => z.int(),
  errors: ['transaction-refused', 'mining-refused', 'not-mined'],
  examples: [],
  run: (_, context) => pegOf(context).flush(),
})

const RequestText = (description: string): Parameter<string> =>
  scalar({
    form: anyText(),
    description,
    decode: (value) => value,
    refusal: (_, name) => expected(name, 'a text'),
  })

export const btc_request = method({
  name: 'btc_request',
  changesState: true,
  summary:
    "Answers a request of Bitcoin's own interfaces as the port of --bitcoin-rpc-port does, without user and password: Bitcoin Core's JSON-RPC at / and /wallet/<name> (POST), Esplora and Blockbook. Returns null for a path of none.",
  params: {
    verb: RequestText('GET or POST'),
    path: RequestText('path, without a query'),
    body: optional(RequestText('body'), ''),
  },
  result: () => z.object({ status: z.int(), type: z.string(), body: z.string() }).nullable(),
  examples: [],
  run: async (request, context) =>
    (await pegOf(context).answer(request, () => context.session.isGone?.() === true)) ?? null,
})

export const btc_status = method({
  name: 'btc_status',
  summary:
    "The heads of the Bitcoin chain and of its headers in the Bridge, the federations, limits, the peg-ins and peg-outs that wait, and what became of the last ones (`history`: 20 at most, of the last 1,000 blocks). `ignored` says in words why the members do not tell the Bridge of a peg-in, `reason` why the Bridge rejected one. `origin` is where the Bitcoin Core is that has the chain, null for the simulated one. `takesOver`: on a fork, the federation took the place of the upstream's.",
  params: {},
  result: () => StatusObject,
  examples: [],
  run: async (_, context) => toRpcStatus(await pegOf(context).status()),
})

export const fed_updateBridge = method({
  name: 'fed_updateBridge',
  changesState: true,
  summary:
    'Lets the federation send what it has to the Bridge: headers, coinbases, transactions, an update and signatures. All but signatures are sent by one member, with `--federation manual` by the one whose account is given. Returns the number of transactions, which are then in the pool or mined.',
  params: { member: optional(orNull(Address, undefined), null) },
  result: () => z.int(),
  errors: ['transaction-refused', 'mining-refused', 'not-mined'],
  examples: [],
  run: ({ member }, context) => pegOf(context).updateBridge({ isAsked: true, member }),
})

export const fed_importKey = method({
  name: 'fed_importKey',
  changesState: true,
  answeredBy: 'holder',
  summary:
    'Gives the node the private key of a member of a federation, on both chains, as votes name it (`addFederatorPublicKeyMultikey`): it then informs the Bridge and signs like the members that the node knows. Its account gets coins where it has none. Returns the compressed public key and the account.',
  params: { key: PrivateKey },
  result: () => z.object({ publicKey: DataText, address: AddressText }),
  examples: [],
  run: ({ key }, context) => pegOf(context).importKey(key),
})

/** The methods of this file, in the order of the document. */
export const BTC_METHODS = [
  btc_status,
  btc_transaction,
  btc_mine,
  btc_faucet,
  btc_pegIn,
  btc_pegOut,
  btc_reorg,
  btc_flush,
  btc_request,
  btc_flyoverAddress,
  btc_proof,
  fed_updateBridge,
  fed_importKey,
] as const
