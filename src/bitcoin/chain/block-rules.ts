/** What must hold of a block without looking at coins, in Bitcoin Core's words. */
import { equal } from '../../encoding/bytes.ts'
import { HASH_BYTES } from '../../encoding/hash.ts'
import { legacyChecks } from '../interpreter/signature-operations.ts'
import { hasWitness, isCoinbase, txid } from '../transaction.ts'
import { findWitnessCommitment, witnessCommitment } from '../witness-commitment.ts'
import { type Block, blockSizes, transactionsRoot, witnessRoot } from './block.ts'
import { heightPush } from './coinbase.ts'
import { type Header, hashOfHeader, meetsTarget } from './header.ts'
import { hasEqualNeighbours } from './merkle-root.ts'
import { MAX_CHECKS_COST, MAX_WEIGHT, REGTEST, WITNESS_SCALE } from './regtest.ts'
import { requireRule } from './rule-violation.ts'
import { type ChainState, medianTime, type StoredBlock } from './state.ts'
import { isFinal } from './time-locks.ts'
import { checkForm } from './transaction-rules.ts'

/** Seconds that a block may be ahead of the clock. */
const MAX_AHEAD = 2 * 60 * 60
/** Versions below are refused once BIP-34, BIP-66 and BIP-65 are active, as they are from the first block on. */
const LEAST_VERSION = 4

/** Throws a `RuleViolation` unless the hash meets the target. */
export function checkWork(header: Header): void {
  requireRule(meetsTarget(hashOfHeader(header), header.bits), 'high-hash', 'proof of work failed')
}

/** Throws a `RuleViolation` unless the header may follow its parent. `now`: seconds since 1970. */
export function checkHeader(state: ChainState, header: Header, parent: StoredBlock, now: number): void {
  requireRule(header.bits === REGTEST.bits, 'bad-diffbits', 'incorrect proof of work')
  requireRule(header.time > medianTime(state, parent), 'time-too-old', "block's timestamp is too early")
  requireRule(header.time <= now + MAX_AHEAD, 'time-too-new', 'block timestamp too far in the future')
  const version = `bad-version(0x${(header.version >>> 0).toString(16).padStart(8, '0')})`
  requireRule(header.version >= LEAST_VERSION, version, 'rejected nVersion block')
}

/** Throws a `RuleViolation` when the block is invalid on every parent. */
export function checkBlock(block: Block): void {
  const { header, transactions } = block
  const [first, ...others] = transactions
  requireRule(
    equal(header.merkleRoot, transactionsRoot(transactions)),
    'bad-txnmrklroot',
    'hashMerkleRoot mismatch',
  )
  requireRule(!hasEqualNeighbours(transactions.map(txid)), 'bad-txns-duplicate', 'duplicate transaction')
  const tooLarge = blockSizes(block).stripped * WITNESS_SCALE > MAX_WEIGHT
  requireRule(first !== undefined && !tooLarge, 'bad-blk-length', 'size limits failed')
  requireRule(first !== undefined && isCoinbase(first), 'bad-cb-missing', 'first tx is not coinbase')
  requireRule(!others.some(isCoinbase), 'bad-cb-multiple', 'more than one coinbase')
  for (const transaction of transactions) checkForm(transaction)
  const cost = transactions.reduce((sum, transaction) => sum + legacyChecks(transaction), 0) * WITNESS_SCALE
  requireRule(cost <= MAX_CHECKS_COST, 'bad-blk-sigops', 'out-of-bounds SigOpCount')
}

function checkWitness(block: Block): void {
  const [coinbase] = block.transactions
  const commitment = coinbase === undefined ? undefined : findWitnessCommitment(coinbase)
  if (coinbase === undefined || commitment === undefined) {
    requireRule(!block.transactions.some(hasWitness), 'unexpected-witness', 'unexpected witness data found')
    return
  }
  const [reserved = new Uint8Array(), ...more] = coinbase.inputs[0]?.witness ?? []
  requireRule(
    reserved.length === HASH_BYTES && more.length === 0,
    'bad-witness-nonce-size',
    'invalid witness reserved value size',
  )
  const expected = witnessCommitment(witnessRoot(block.transactions), reserved)
  requireRule(equal(commitment, expected), 'bad-witness-merkle-match', 'witness merkle commitment mismatch')
}

/** Throws a `RuleViolation` when the block is invalid on this parent, whatever its transactions spend. */
export function checkInContext(state: ChainState, block: Block, parent: StoredBlock): void {
  const height = parent.height + 1
  const median = medianTime(state, parent)
  const areFinal = block.transactions.every((transaction) => isFinal(transaction, height, median))
  requireRule(areFinal, 'bad-txns-nonfinal', 'non-final transaction')
  const script = block.transactions[0]?.inputs[0]?.script ?? new Uint8Array()
  const push = heightPush(height)
  requireRule(
    equal(script.subarray(0, push.length), push),
    'bad-cb-height',
    'block height mismatch in coinbase',
  )
  checkWitness(block)
  requireRule(blockSizes(block).weight <= MAX_WEIGHT, 'bad-blk-weight', 'weight limit failed')
}
