/** Is a header, or a block's content, what the chain allows after its parent? The first rule broken is named. */
import { type BrokenRule, invalidBlock } from '../errors.ts'
import { type Block, transactionsRoot, unclesHash } from './block.ts'
import type { ChainConfig } from './config.ts'
import { type Header, headerHash } from './header.ts'
import { decodeParentHeader, PARENT_HEADER_BYTES } from './merged-mining/parent-header.ts'
import { checkProof } from './merged-mining/proof.ts'
import { gasLimitRange, minimumGasPriceRange, nextDifficulty } from './next-header.ts'

/** The most uncles that a block may name (docs/internals/protocol.md#32-uncles). */
export const MAX_UNCLES = 10

/** A block may include uncles whose parents are up to this many heights below it (docs/internals/protocol.md#32-uncles). */
export const UNCLE_GENERATIONS = 7

const MAX_EXTRA_DATA_BYTES = 32
const MAX_BASE_EVENT_BYTES = 128
const MAX_PARALLEL_SUBLISTS = 2

/** What the header rules depend on. `now` in Unix seconds. */
interface HeaderCase {
  readonly header: Header
  readonly parent: Header
  readonly config: ChainConfig
  readonly now: number
}

/** A broken rule: the message, and the same for programs. */
interface Violation extends Omit<BrokenRule, 'height'> {
  readonly message: string
}

type Rule<Case> = (given: Case) => Violation | undefined

/** A violation with both values; they are compared as text. */
function violation(rule: string, message: string, expected?: unknown, found?: unknown): Violation {
  return {
    rule,
    message,
    ...(expected !== undefined && { expected: String(expected) }),
    ...(found !== undefined && { found: String(found) }),
  }
}

/** A field must have one value, which the message names too. */
function mustBe(rule: string, expected: unknown, found: unknown): Violation {
  return violation(rule, `${rule} must be ${expected}, not ${found}`, expected, found)
}

const followsParent: Rule<HeaderCase> = ({ header, parent, config }) => {
  const expected = headerHash(parent, config)
  return header.parentHash === expected
    ? undefined
    : violation('parentHash', 'parentHash is not the hash of the parent', expected, header.parentHash)
}

const hasNextNumber: Rule<HeaderCase> = ({ header, parent }) =>
  header.number === parent.number + 1 ? undefined : mustBe('number', parent.number + 1, header.number)

const hasVersion: Rule<HeaderCase> = ({ header, config }) => {
  const { headerVersion } = config.rulesAt(header.number)
  if (header.version === headerVersion) return undefined
  const message = `header version must be ${headerVersion} at height ${header.number}, not ${header.version}`
  return violation('version', message, headerVersion, header.version)
}

const isTimely: Rule<HeaderCase> = ({ header, parent, config, now }) => {
  const { maxSecondsInFuture } = config
  const { timestamp } = header
  if (maxSecondsInFuture === 0) return undefined
  if (timestamp - now > maxSecondsInFuture) {
    const message = `timestamp ${timestamp} is more than ${maxSecondsInFuture} seconds in the future`
    return violation('timestamp', message, `at most ${now + maxSecondsInFuture}`, timestamp)
  }
  if (timestamp > parent.timestamp) return undefined
  const message = `timestamp ${timestamp} does not exceed the parent's, ${parent.timestamp}`
  return violation('timestamp', message, `at least ${parent.timestamp + 1}`, timestamp)
}

const agreesWithParentChainClock: Rule<HeaderCase> = ({ header, config }) => {
  const window = config.parentChainTimeWindowAt(header.number)
  if (config.maxSecondsInFuture === 0 || window === undefined) return undefined
  if (header.bitcoinHeader.length !== PARENT_HEADER_BYTES) return wrongParentHeaderSize(header)
  const { time } = decodeParentHeader(header.bitcoinHeader)
  const { timestamp } = header
  if (Math.abs(time - timestamp) < window) return undefined
  const message = `timestamp ${timestamp} is ${window} seconds or more away from the parent-chain header's, ${time}`
  return violation('timestamp', message, `${time - window + 1} to ${time + window - 1}`, timestamp)
}

const hasDifficulty: Rule<HeaderCase> = ({ header, parent, config }) => {
  const expected = nextDifficulty(parent, header.timestamp, header.uncleCount, config)
  return header.difficulty === expected ? undefined : mustBe('difficulty', expected, header.difficulty)
}

/** A field must be within bounds. */
function withinRange(
  rule: string,
  { lowest, highest }: { readonly lowest: bigint; readonly highest: bigint },
  found: bigint,
): Violation | undefined {
  if (found >= lowest && found <= highest) return undefined
  return violation(
    rule,
    `${rule} ${found} is not within ${lowest} and ${highest}`,
    `${lowest} to ${highest}`,
    found,
  )
}

const hasGasLimit: Rule<HeaderCase> = ({ header, parent, config }) =>
  withinRange('gasLimit', gasLimitRange(parent, config), header.gasLimit)

const usesNoMoreThanLimit: Rule<HeaderCase> = ({ header: { gasUsed, gasLimit } }) =>
  gasUsed >= 0n && gasUsed <= gasLimit
    ? undefined
    : violation('gasUsed', `gasUsed ${gasUsed} exceeds gasLimit ${gasLimit}`, `at most ${gasLimit}`, gasUsed)

const hasMinimumGasPrice: Rule<HeaderCase> = ({ header, parent }) =>
  withinRange('minimumGasPrice', minimumGasPriceRange(parent), header.minimumGasPrice)

function longerThan(rule: string, bytes: Uint8Array, most: number): Violation | undefined {
  if (bytes.length <= most) return undefined
  return violation(
    rule,
    `${rule} has more than ${most} bytes`,
    `at most ${most} bytes`,
    `${bytes.length} bytes`,
  )
}

const hasShortData: Rule<HeaderCase> = ({ header: { extraData, baseEvent } }) =>
  longerThan('extraData', extraData, MAX_EXTRA_DATA_BYTES) ??
  (baseEvent && longerThan('baseEvent', baseEvent, MAX_BASE_EVENT_BYTES))

const hasParentHeaderSize: Rule<HeaderCase> = ({ header }) =>
  header.bitcoinHeader.length === PARENT_HEADER_BYTES ? undefined : wrongParentHeaderSize(header)

function wrongParentHeaderSize({ bitcoinHeader: { length } }: Header): Violation {
  return violation(
    'bitcoinMergedMiningHeader',
    `bitcoinMergedMiningHeader must have ${PARENT_HEADER_BYTES} bytes, not ${length}`,
    `${PARENT_HEADER_BYTES} bytes`,
    `${length} bytes`,
  )
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
 * Checks a header against its parent, proof of work included (docs/internals/protocol.md#17-validity,
 * docs/internals/protocol.md#23-proof-of-work). `now` in Unix seconds. Throws `invalid-block` naming the first rule
 * broken. What follows from execution only (state root, receipts root, bloom, gas used, fees) is not checked.
 */
export function validateHeader(header: Header, parent: Header, config: ChainConfig, now: number): void {
  check(HEADER_RULES, { header, parent, config, now }, header.number)
  checkProof(header, config)
}

/**
 * Checks a header that was made here, once it has its proof. The bounds of its gas limit and minimum gas price are left
 * out: a development client may have asked for other values. `now` in Unix seconds. Throws `invalid-block`.
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
  if (last?.isRemasc !== true)
    return violation('remasc', 'the last transaction must be the REMASC transaction')
  if (last.nonce !== BigInt(header.number - 1)) {
    const expected = header.number - 1
    const message = `the REMASC transaction must have nonce ${expected}, not ${last.nonce}`
    return violation('remasc', message, expected, last.nonce)
  }
  return transactions.slice(0, -1).some(({ isRemasc }) => isRemasc)
    ? violation('remasc', 'only the last transaction may be a REMASC transaction')
    : undefined
}

const hasTransactionsRoot: Rule<BodyCase> = ({ block: { header, transactions }, config }) => {
  const root = transactionsRoot(transactions, config.rulesAt(header.number))
  if (header.transactionsRoot === root) return undefined
  const message = 'transactionsRoot is not that of the transactions'
  return violation('transactionsRoot', message, root, header.transactionsRoot)
}

const hasOwnTransactions: Rule<BodyCase> = ({ block: { transactions }, config }) => {
  const foreign = transactions.find(({ chainId }) => chainId !== 0 && chainId !== config.chainId)
  if (foreign === undefined) return undefined
  const message = `transaction ${foreign.hash} is for chain ${foreign.chainId}, not ${config.chainId}`
  return violation('chainId', message, config.chainId, foreign.chainId)
}

const hasFairGasPrices: Rule<BodyCase> = ({ block: { header, transactions }, config }) => {
  const minimum = header.minimumGasPrice
  const cap = config.gasPriceCapAt(header.number)
  for (const { isRemasc, gasPrice, hash } of transactions) {
    if (isRemasc) continue
    if (gasPrice < minimum) {
      const message = `transaction ${hash} offers less than the minimum gas price ${minimum}`
      return violation('gasPrice', message, `at least ${minimum}`, gasPrice)
    }
    if (cap !== undefined && minimum > 0n && gasPrice > minimum * cap) {
      const message = `transaction ${hash} offers more than ${cap} times the minimum gas price ${minimum}`
      return violation('gasPrice', message, `at most ${minimum * cap}`, gasPrice)
    }
  }
  return undefined
}

const hasEdges: Rule<BodyCase> = ({ block: { header, transactions } }) => {
  const edges = header.edges ?? []
  const most = MAX_PARALLEL_SUBLISTS
  if (edges.length > most) {
    return violation('edges', `edges name more than ${most} sublists`, `at most ${most}`, edges.length)
  }
  let previous = 0
  for (const edge of edges) {
    if (edge <= previous) {
      return violation('edges', 'edges must be above zero and ascending', `above ${previous}`, edge)
    }
    previous = edge
  }
  const last = transactions.length - 1
  return previous > last
    ? violation('edges', 'edges reach beyond the transactions', `at most ${last}`, previous)
    : undefined
}

const hasUncles: Rule<BodyCase> = ({ block: { header, uncles }, config }) => {
  const { length } = uncles
  if (length > MAX_UNCLES) {
    return violation('uncles', `more than ${MAX_UNCLES} uncles`, `at most ${MAX_UNCLES}`, length)
  }
  if (header.uncleCount !== length) return mustBe('uncleCount', length, header.uncleCount)
  const hash = unclesHash(uncles, config)
  if (header.unclesHash === hash) return undefined
  return violation('unclesHash', 'unclesHash is not that of the uncles', hash, header.unclesHash)
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
 * (docs/internals/protocol.md#16-edges-and-base-event, docs/internals/protocol.md#17-validity,
 * docs/internals/protocol.md#32-uncles, docs/internals/protocol.md#42-minimum-gas-price). Throws `invalid-block` naming
 * the first rule broken. The ancestry of uncles is not checked.
 */
export function validateBody(block: Block, config: ChainConfig): void {
  check(BODY_RULES, { block, config }, block.header.number)
}

function check<Case>(rules: readonly Rule<Case>[], given: Case, height: number): void {
  for (const rule of rules) {
    const broken = rule(given)
    if (broken === undefined) continue
    const { message, ...rest } = broken
    throw invalidBlock(`block ${height}: ${message}`, { ...rest, height })
  }
}
