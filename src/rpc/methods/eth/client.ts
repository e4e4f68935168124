/** Methods that tell of the node and its chain: ids, versions, mining, prices (rpc-methods 7.2). */
import { z } from 'zod'
import { bigIntToHex, toQuantity } from '../../../encoding/hex.ts'
import { method } from '../../method.ts'
import { AddressText, DataText, QuantityText } from '../../wire/scalars.ts'

/** Highest version of the chain's own wire capability (rpc-methods 7.2). */
export const PROTOCOL_VERSION = 62

export const eth_chainId = method({
  name: 'eth_chainId',
  summary: 'Chain id that signatures are bound to (EIP-155), two digits per byte.',
  params: {},
  result: DataText,
  examples: [{ params: [], result: '0x21' }],
  run: (_, { engine }) => bigIntToHex(BigInt(engine.config.chainId)),
})

export const eth_protocolVersion = method({
  name: 'eth_protocolVersion',
  summary: "Version of the chain's wire protocol.",
  params: {},
  result: QuantityText,
  examples: [{ params: [], result: '0x3e' }],
  run: () => toQuantity(PROTOCOL_VERSION),
})

export const eth_blockNumber = method({
  name: 'eth_blockNumber',
  summary: 'Height of the head.',
  params: {},
  result: QuantityText,
  examples: [{ params: [], result: '0x0' }],
  run: (_, { engine }) => toQuantity(engine.queries.head().block.header.number),
})

export const eth_gasPrice = method({
  name: 'eth_gasPrice',
  summary: 'Price that a new transaction should offer, in wei per gas.',
  params: {},
  result: QuantityText,
  examples: [{ params: [], result: '0x0' }],
  run: (_, { engine }) => toQuantity(engine.queries.gasPrice()),
})

export const eth_accounts = method({
  name: 'eth_accounts',
  summary: 'Accounts that the node signs for.',
  params: {},
  result: z.array(AddressText),
  examples: [
    {
      params: [],
      result: [
        '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826',
        '0x7986b3df570230288501eea3d890bd66948c9b79',
        '0x0a3aa774752ec2042c46548456c094a76c7f3a79',
        '0xcf7cdbbb5f7ba79d3ffe74a0bba13fc0295f6036',
        '0x39b12c05e8503356e3a7df0b7b33efa4c054c409',
        '0xc354d97642faa06781b76ffb6786f72cd7746c97',
        '0xdebe71e1de41fc77c44df4b6db940026e31b0e71',
        '0x7857288e171c6159c5576d1bd9ac40c0c48a771c',
        '0xa4dea4d5c954f5fd9e87f0e9752911e83a3d18b3',
        '0x09a1eda29f664ac8f68106f6567276df0c65d859',
        '0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d',
      ],
    },
  ],
  run: (_, { engine }) => [...engine.accounts.list()],
})

export const eth_coinbase = method({
  name: 'eth_coinbase',
  summary: 'Who is rewarded for blocks mined here.',
  params: {},
  result: AddressText,
  examples: [{ params: [], result: '0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d' }],
  run: (_, { engine }) => engine.queries.coinbase(),
})

export const eth_mining = method({
  name: 'eth_mining',
  summary: 'Does the node mine by itself?',
  params: {},
  result: z.boolean(),
  examples: [{ params: [], result: true }],
  run: (_, { engine }) => engine.queries.isMining(),
})

export const eth_hashrate = method({
  name: 'eth_hashrate',
  summary:
    'Hashes per second of the blocks mined here over the last hour, and what live miners say of their own.',
  params: {},
  result: QuantityText,
  examples: [{ params: [], result: '0x0' }],
  run: (_, { engine }) => toQuantity(engine.queries.hashrate().own),
})

export const eth_netHashrate = method({
  name: 'eth_netHashrate',
  summary: 'Hashes per second of all blocks, over the last hour; a JSON integer, unlike every other figure.',
  params: {},
  result: z.int(),
  examples: [{ params: [], result: 0 }],
  run: (_, { engine }) => Number(engine.queries.hashrate().network),
})

export const eth_syncing = method({
  name: 'eth_syncing',
  summary: 'Progress of synchronisation, or false; this node has no peers to synchronise with.',
  params: {},
  result: z.literal(false),
  examples: [{ params: [], result: false }],
  run: () => false as const,
})

/** The methods of this file, in the order of the document. */
export const CLIENT_METHODS = [
  eth_chainId,
  eth_protocolVersion,
  eth_blockNumber,
  eth_gasPrice,
  eth_accounts,
  eth_coinbase,
  eth_mining,
  eth_hashrate,
  eth_netHashrate,
  eth_syncing,
] as const
