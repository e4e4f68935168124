/** Is a header, or a block's content, what the chain allows after its parent? The first rule broken is named. */
import { NodeError } from '../errors.ts'
import { type Block, transactionsRoot, unclesHash } from './block.ts'
import type { ChainConfig } from './config.ts'
import { type Header, headerHash } from './header.ts'
import { decodeParentHeader, PARENT_HEADER_BYTES } from './merged-mining/parent-header.ts'
import { checkProof } from './merged-mining/proof.ts'
import { gasLimitRange, minimumGasPriceRange, nextDifficulty } from './next-header.ts'

/** The most uncles that a block may name (docs/protocol.md#32-uncles). */
export const MAX_UNCLES = 10

const MAX_EXTRA_DATA_BYTES = 32
const MAX_BASE_EVENT_BYTES = 128
const MAX_PARALLEL_SUBLISTS = 2

/** What the header rules look at. `now` in Unix seconds. */
interface HeaderCase {
  readonly header: Header
  readonly parent: Header
  readonly config: ChainConfig
  readonly now: number
}

/** The message of a broken rule, or `undefined`. */
type Rule<Case> = (given: Case) => string | undefined

const followsParent: Rule<HeaderCase> = ({ header, parent, config }) =>
  header.parentHash === headerHash(parent, config) ? undefined : `parentHash is not the hash of the parent`

const hasNextNumber: Rule<HeaderCase> = ({ header, parent }) =>
  header.number === parent.number + 1
    ? undefined
    : `number must be ${parent.number + 1}, not ${header.number}`

const hasVersion: Rule<HeaderCase> = ({ header, config }) => {
  const { headerVersion } = config.rulesAt(header.number)
  return header.version === headerVersion
    ? undefined
    : `header version must be ${headerVersion} at height ${header.number}, not ${header.version}`
}

const isTimely: Rule<HeaderCase> = ({ header, parent, config, now }) => {
  if (config.maxSecondsInFuture === 0) return undefined
  if (header.timestamp - now > config.maxSecondsInFuture) {
    return `timestamp ${header.timestamp} is more than ${config.maxSecondsInFuture} seconds in the future`
  }
  return header.timestamp > parent.timestamp
    ? undefined
    : `timestamp ${header.timestamp} does not exceed the parent's, ${parent.timestamp}`
}

const agreesWithParentChainClock: Rule<HeaderCase> = ({ header, config }) => {
  const window = config.parentChainTimeWindowAt(header.number)
  if (config.maxSecondsInFuture === 0 || window === undefined) return undefined
  if (header.bitcoinHeader.length !== PARENT_HEADER_BYTES) return wrongParentHeaderSize(header)
  const { time } = decodeParentHeader(header.bitcoinHeader)
  return Math.abs(time - header.timestamp) < window
    ? undefined
    : `timestamp ${header.timestamp} is ${window} seconds or more away from the parent-chain header's, ${time}`
}

const hasDifficulty: Rule<HeaderCase> = ({ header, parent, config }) => {
  const expected = nextDifficulty(parent, header.timestamp, header.uncleCount, config)
  return header.difficulty === expected
    ? undefined
    : `difficulty must be ${expected}, not ${header.difficulty}`
}

const hasGasLimit: Rule<HeaderCase> = ({ header, parent, config }) => {
  const { lowest, highest } = gasLimitRange(parent, config)
  return header.gasLimit >= lowest && header.gasLimit <= highest
    ? undefined
    : `gasLimit ${header.gasLimit} is not within ${lowest} and ${highest}`
}

const usesNoMoreThanLimit: Rule<HeaderCase> = ({ header }) =>
  header.gasUsed >= 0n && header.gasUsed <= header.gasLimit
    ? undefined
    : `gasUsed ${header.gasUsed} exceeds gasLimit ${header.gasLimit}`

const hasMinimumGasPrice: Rule<HeaderCase> = ({ header, parent }) => {
  const { lowest, highest } = minimumGasPriceRange(parent)
  return header.minimumGasPrice >= lowest && header.minimumGasPrice <= highest
    ? undefined
    : `minimumGasPrice ${header.minimumGasPrice} is not within ${lowest} and ${highest}`
}

const hasShortData: Rule<HeaderCase> = ({ header }) => {
  if (header.extraData.length > MAX_EXTRA_DATA_BYTES) {
    return `extraData has more than ${MAX_EXTRA_DATA_BYTES} bytes`
  }
  return header.baseEvent !== undefined && header.baseEvent.length > MAX_BASE_EVENT_BYTES
    ? `baseEvent has more than ${MAX_BASE_EVENT_BYTES} bytes`
    : undefined
}

const hasParentHeaderSize: Rule<HeaderCase> = ({ header }) =>
  header.bitcoinHeader.length === PARENT_HEADER_BYTES ? undefined : wrongParentHeaderSize(header)

function wrongParentHeaderSize({ bitcoinHeader }: Header): string {
  return `bitcoinMergedMiningHeader must have ${PARENT_HEADER_BYTES} bytes, not ${bitcoinHeader.length}`
}

const HEADER_RULES: readonly Rule<HeaderCase>[] = [
  followsParent,
  hasNextNumber,
  hasVersion,
  isTimely,
  agreesWithParentChainClock,
  hasDifficulty,
  hasGasLimit,
  usesNoMoreThanLimit,
  hasMinimumGasPrice,
  hasShortData,
  hasParentHeaderSize,
]

const OWN_HEADER_RULES = HEADER_RULES.filter((rule) => rule !== hasGasLimit && rule !== hasMinimumGasPrice)

/**
 * Checks a header against its parent, proof of work included (docs/protocol.md#17-validity,
 * docs/protocol.md#23-proof-of-work). `now` in Unix seconds. Throws `invalid-block` naming the first rule
 * broken. What follows from execution only (state root, receipts root, bloom, gas used, fees) is not looked at.
 */
export function validateHeader(header: Header, parent: Header, config: ChainConfig, now: number): void {
  check(HEADER_RULES, { header, parent, config, now }, header.number)
  checkProof(header, config)
}

/**
 * Checks a header that was made here, once it has its proof. What follows from the parent it has by its making, save
 * where a development client asked for another gas limit or gas price. `now` in Unix seconds. Throws `invalid-block`.
 */
export function validateOwnHeader(header: Header, parent: Header, config: ChainConfig, now: number): void {
  check(OWN_HEADER_RULES, { header, parent, config, now }, header.number)
  checkProof(header, config)
}

interface BodyCase {
  readonly block: Block
  readonly config: ChainConfig
}

const endsWithRemasc: Rule<BodyCase> = ({ block: { header, transactions } }) => {
  const last = transactions.at(-1)
  if (last?.isRemasc !== true) return 'the last transaction must be the REMASC transaction'
  if (last.nonce !== BigInt(header.number - 1)) {
    return `the REMASC transaction must have nonce ${header.number - 1}, not ${last.nonce}`
  }
  return transactions.slice(0, -1).some(({ isRemasc }) => isRemasc)
    ? 'only the last transaction may be a REMASC transaction'
    : undefined
}

const hasTransactionsRoot: Rule<BodyCase> = ({ block: { header, transactions } }) =>
  header.transactionsRoot === transactionsRoot(transactions)
    ? undefined
    : 'transactionsRoot is not that of the transactions'

const hasOwnTransactions: Rule<BodyCase> = ({ block: { transactions }, config }) => {
  const foreign = transactions.find(({ chainId }) => chainId !== 0 && chainId !== config.chainId)
  return foreign === undefined
    ? undefined
    : `transaction ${foreign.hash} is for chain ${foreign.chainId}, not ${config.chainId}`
}

const hasFairGasPrices: Rule<BodyCase> = ({ block: { header, transactions }, config }) => {
  const minimum = header.minimumGasPrice
  const cap = config.gasPriceCapAt(header.number)
  for (const { isRemasc, gasPrice, hash } of transactions) {
    if (isRemasc) continue
    if (gasPrice < minimum) return `transaction ${hash} offers less than the minimum gas price ${minimum}`
    if (cap !== undefined && minimum > 0n && gasPrice > minimum * cap) {
      return `transaction ${hash} offers more than ${cap} times the minimum gas price ${minimum}`
    }
  }
  return undefined
}

const hasEdges: Rule<BodyCase> = ({ block: { header, transactions } }) => {
  const edges = header.edges ?? []
  if (edges.length > MAX_PARALLEL_SUBLISTS) return `edges name more than ${MAX_PARALLEL_SUBLISTS} sublists`
  let previous = 0
  for (const edge of edges) {
    if (edge <= previous) return 'edges must be above zero and ascending'
    previous = edge
  }
  return previous > transactions.length - 1 ? 'edges reach beyond the transactions' : undefined
}

const hasUncles: Rule<BodyCase> = ({ block: { header, uncles }, config }) => {
  if (uncles.length > MAX_UNCLES) return `more than ${MAX_UNCLES} uncles`
  if (header.uncleCount !== uncles.length) {
    return `uncleCount must be ${uncles.length}, not ${header.uncleCount}`
  }
  return header.unclesHash === unclesHash(uncles, config) ? undefined : 'unclesHash is not that of the uncles'
}

const BODY_RULES: readonly Rule<BodyCase>[] = [
  endsWithRemasc,
  hasTransactionsRoot,
  hasOwnTransactions,
  hasFairGasPrices,
  hasEdges,
  hasUncles,
]

/**
 * Checks what a block carries against its header: transactions, sublists, uncles
 * (docs/protocol.md#16-edges-and-base-event, docs/protocol.md#17-validity, docs/protocol.md#32-uncles,
 * docs/protocol.md#42-minimum-gas-price). Throws `invalid-block` naming the first rule broken. How uncles
 * stand to the chain is not looked at.
 */
export function validateBody(block: Block, config: ChainConfig): void {
  check(BODY_RULES, { block, config }, block.header.number)
}

function check<Case>(rules: readonly Rule<Case>[], given: Case, height: number): void {
  for (const rule of rules) {
    const broken = rule(given)
    if (broken !== undefined) throw new NodeError('invalid-block', `block ${height}: ${broken}`)
  }
}
