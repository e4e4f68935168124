/** Methods that describe the node and its chain: ids, versions, mining, prices (docs/internals/rpc-reference.md#72-chain). */
import { z } from 'zod'
import { bigIntToHex, toQuantity } from '../../../encoding/hex.ts'
import { method } from '../../method.ts'
import { AddressText, DataText, QuantityText } from '../../wire/scalars.ts'
import { LOCAL_ACCOUNTS } from '../example-accounts.ts'

/** Highest version of the chain's own wire protocol (docs/internals/rpc-reference.md#72-chain). */
export const PROTOCOL_VERSION = 62

export const eth_chainId = method({
  name: 'eth_chainId',
  hosted: true,
  summary: 'Chain id for signatures (EIP-155), two digits per byte.',
  params: {},
  result: () => DataText,
  examples: [{ params: [], result: '0x21' }],
  run: (_, { engine }) => bigIntToHex(BigInt(engine.config.chainId)),
})

export const eth_protocolVersion = method({
  name: 'eth_protocolVersion',
  hosted: true,
  summary: "Version of the chain's wire protocol.",
  params: {},
  result: () => QuantityText,
  examples: [{ params: [], result: '0x3e' }],
  run: () => toQuantity(PROTOCOL_VERSION),
})

export const eth_blockNumber = method({
  name: 'eth_blockNumber',
  hosted: true,
  summary: 'Height of the head.',
  params: {},
  result: () => QuantityText,
  examples: [{ params: [], result: '0x0' }],
  run: (_, { engine }) => toQuantity(engine.queries.head().block.header.number),
})

export const eth_gasPrice = method({
  name: 'eth_gasPrice',
  hosted: true,
  summary: 'Suggested gas price of a new transaction, in wei.',
  params: {},
  result: () => QuantityText,
  examples: [{ params: [], result: '0x0' }],
  run: (_, { engine }) => toQuantity(engine.queries.gasPrice()),
})

export const eth_accounts = method({
  name: 'eth_accounts',
  answeredBy: 'leader',
  hosted: true,
  summary: 'Accounts that the node signs for.',
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

export const eth_requestAccounts = method({
  name: 'eth_requestAccounts',
  answeredBy: 'leader',
  summary: 'Accounts that the node signs for, as wallets answer it (EIP-1102), without asking a user.',
  params: {},
  result: () => z.array(AddressText),
  examples: [{ params: [], result: LOCAL_ACCOUNTS }],
  run: (_, { engine }) => [...engine.accounts.list()],
})

export const eth_networkId = method({
  name: 'eth_networkId',
  summary: 'Network id, in decimal, the same as net_version.',
  params: {},
  result: () => z.string(),
  examples: [{ params: [], result: '33' }],
  run: (_, { engine }) => String(engine.config.chainId),
})

export const eth_coinbase = method({
  name: 'eth_coinbase',
  answeredBy: 'leader',
  summary: 'The address that receives the rewards of blocks mined by this node.',
  params: {},
  result: () => AddressText,
  examples: [{ params: [], result: '0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d' }],
  run: (_, { engine }) => engine.queries.coinbase(),
})

export const eth_mining = method({
  name: 'eth_mining',
  answeredBy: 'leader',
  summary: 'Whether the node mines automatically.',
  params: {},
  result: () => z.boolean(),
  examples: [{ params: [], result: true }],
  run: (_, { engine }) => engine.queries.isMining(),
})

export const eth_hashrate = method({
  name: 'eth_hashrate',
  answeredBy: 'leader',
  summary: 'Hashes per second: of the blocks mined here over the last hour, plus what running miners report.',
  params: {},
  result: () => QuantityText,
  examples: [{ params: [], result: '0x0' }],
  run: (_, { engine }) => toQuantity(engine.queries.hashrate().own),
})

export const eth_netHashrate = method({
  name: 'eth_netHashrate',
  answeredBy: 'leader',
  summary: 'Hashes per second of all blocks over the last hour; a JSON integer, not a quantity.',
  params: {},
  result: () => z.int(),
  examples: [{ params: [], result: 0 }],
  run: (_, { engine }) => Number(engine.queries.hashrate().network),
})

export const eth_syncing = method({
  name: 'eth_syncing',
  summary: 'Progress of synchronisation, or false; this node has no peers to synchronise with.',
  params: {},
  result: () => z.literal(false),
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
  eth_requestAccounts,
  eth_networkId,
  eth_coinbase,
  eth_mining,
  eth_hashrate,
  eth_netHashrate,
  eth_syncing,
] as const
