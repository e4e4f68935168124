/** Results of the node's methods as the pages use them (docs/methods/README.md has all members). */
import { type Check, type Checked, isFlag, isOneOf, isText, listOf, objectOf, orNull } from './checks.ts'
import { isHex } from './format.ts'

const HEADER = {
  number: isHex,
  hash: isHex,
  parentHash: isHex,
  timestamp: isHex,
  miner: isHex,
  gasUsed: isHex,
  gasLimit: isHex,
  difficulty: isHex,
  totalDifficulty: isHex,
  size: isHex,
  minimumGasPrice: isHex,
  paidFees: isHex,
  stateRoot: isHex,
  receiptsRoot: isHex,
  transactionsRoot: isHex,
  sha3Uncles: isHex,
  logsBloom: isHex,
  extraData: isHex,
  bitcoinMergedMiningHeader: isHex,
  bitcoinMergedMiningCoinbaseTransaction: isHex,
  bitcoinMergedMiningMerkleProof: isHex,
  hashForMergedMining: isHex,
  cumulativeDifficulty: isHex,
}

/** `eth_getHeaderByNumber`, and the header in `eth_getBlockByNumber`. */
export const isHeader = objectOf(HEADER)
export type Header = Checked<typeof isHeader>

/** `eth_getBlockByNumber` with the hashes of the transactions. */
export const isBlock = objectOf(
  { ...HEADER, transactions: listOf(isHex), uncles: listOf(isHex) },
  // Transactions that other answers leave out (`--hide-remasc`).
  // A base fee from RSKIP-546 on, which brings types 1 and 2.
  { hiddenTransactions: listOf(isHex), baseFeePerGas: isHex },
)
export type Block = Checked<typeof isBlock>

/** `eth_getTransactionByHash`. */
export const isTransaction = objectOf(
  {
    hash: isHex,
    nonce: isHex,
    blockHash: orNull(isHex),
    blockNumber: orNull(isHex),
    transactionIndex: orNull(isHex),
    from: isHex,
    to: orNull(isHex),
    gas: isHex,
    gasPrice: isHex,
    value: isHex,
    input: isHex,
    type: isHex,
  },
  {
    maxFeePerGas: isHex,
    maxPriorityFeePerGas: isHex,
    accessList: listOf(objectOf({ address: isHex, storageKeys: listOf(isHex) })),
    authorizationList: listOf(objectOf({ address: isHex, chainId: isHex, nonce: isHex })),
  },
)
export type Transaction = Checked<typeof isTransaction>

/** A log of `eth_getTransactionReceipt`. */
export const isLog = objectOf({
  address: isHex,
  topics: listOf(isHex),
  data: isHex,
  logIndex: isHex,
  blockNumber: isHex,
  transactionHash: isHex,
})
export type Log = Checked<typeof isLog>

/** The members of `eth_getTransactionReceipt`. */
export const RECEIPT = {
  transactionHash: isHex,
  transactionIndex: isHex,
  blockHash: isHex,
  blockNumber: isHex,
  from: isHex,
  to: orNull(isHex),
  status: isHex,
  gasUsed: isHex,
  contractAddress: orNull(isHex),
  logs: listOf(isLog),
}
export const isReceipt = objectOf(RECEIPT)
export type Receipt = Checked<typeof isReceipt>

/** A block of `eth_getBlocksByNumber`. */
export const isKnownBlock = objectOf({ hash: isHex, totalDifficulty: isHex, inMainChain: isFlag })

/** A parameter of `evm_contractAbi`. */
export interface AbiParameter {
  readonly name: string
  readonly type: string
  readonly indexed?: boolean
  /** Of tuples and arrays of tuples only. */
  readonly components?: readonly AbiParameter[]
}

const isAbiParameter: Check<AbiParameter> = objectOf(
  { name: isText, type: isText },
  { indexed: isFlag, components: (value): value is readonly AbiParameter[] => isAbiParameters(value) },
)
const isAbiParameters = listOf(isAbiParameter)

/** An entry of `evm_contractAbi`. */
export const isAbiEntry = objectOf(
  { type: isOneOf('function', 'event', 'error', 'constructor'), inputs: isAbiParameters },
  {
    name: isText,
    outputs: isAbiParameters,
    stateMutability: isOneOf('pure', 'view', 'nonpayable', 'payable'),
    // Such as `transfer(address,uint256)`.
    signature: isText,
    // 4 bytes, or the topic of an event.
    selector: isHex,
  },
)
export type AbiEntry = Checked<typeof isAbiEntry>

/** A notification of `eth_subscribe("chain")`: how the canonical chain changed. */
export const isChainChange = objectOf({
  number: isHex,
  hash: isHex,
  // Height of the last block that both chains have.
  ancestor: isHex,
  removed: listOf(isHex),
  added: listOf(isHex),
})
export type ChainChange = Checked<typeof isChainChange>
