/** Methods about transactions in hex digits. */
import { z } from 'zod'
import { virtualBytes } from '../../bitcoin/chain/acceptance.ts'
import { idOf } from '../../bitcoin/chain/block.ts'
import { MAX_SCRIPT } from '../../bitcoin/chain/coin.ts'
import { spentByPosition } from '../../bitcoin/chain/connection.ts'
import { feeFor } from '../../bitcoin/chain/policy.ts'
import { RuleViolation } from '../../bitcoin/chain/rule-violation.ts'
import { kindOf } from '../../bitcoin/chain/script-kind.ts'
import { digitsOf, displayed } from '../../bitcoin/displayed-hash.ts'
import { hash160 } from '../../bitcoin/hash.ts'
import { addressOf, witnessScriptOf } from '../../bitcoin/regtest-address.ts'
import { encodeTransaction, type Transaction, wtxid } from '../../bitcoin/transaction.ts'
import { scriptForHash } from '../../bitcoin/wallet/model.ts'
import { sha256 } from '../../encoding/hash.ts'
import { Amount } from '../amount.ts'
import { describe } from '../descriptor.ts'
import { type Context, type Method, method } from '../method.ts'
import { NEW_TRANSACTION, newTransaction } from '../new-transaction.ts'
import {
  amount,
  blockOf,
  bytesOf,
  flag,
  hashOf,
  includableOf,
  level,
  text,
  transactionOf,
} from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'
import { asmOf, viewOfScript } from '../script-view.ts'
import { findTransaction, viewOfFound, viewOfTransaction } from '../transaction-view.ts'

const category = 'Rawtransactions'
/** Fee above which a transaction is not sent unless the caller allows it: satoshi for 1,000 virtual bytes. */
const MAX_FEE_RATE = 10_000_000n

const getRawTransaction = method({
  name: 'getrawtransaction',
  category,
  help: 'Returns a transaction of the chain or the mempool: as bytes (0), as an object (1), or also with what it spends (2).',
  parameters: { txid: text, verbosity: level.default(0), blockhash: text.optional() },
  handle({ txid, verbosity, blockhash }, context) {
    const id = hashOf(txid, 'parameter 1')
    const { state } = context.bitcoin.chain
    const stored = blockhash === undefined ? undefined : blockOf(context, blockhash)
    const position = stored?.ids.indexOf(id) ?? -1
    const inBlock = stored?.block.transactions[position]
    const found =
      stored === undefined
        ? findTransaction(state, id)
        : inBlock && { transaction: inBlock, block: stored, spent: spentByPosition(stored)[position] ?? [] }
    if (found === undefined) {
      const where =
        stored === undefined
          ? 'No such mempool or blockchain transaction'
          : 'No such transaction found in the provided block'
      throw new RpcFailure(CODE.ADDRESS_OR_KEY, `${where}. Use gettransaction for wallet transactions.`)
    }
    if (verbosity <= 0) return digitsOf(encodeTransaction(found.transaction))
    const isExplicit = stored !== undefined
    return viewOfFound(state, found.transaction, found.block, {
      isExplicit,
      ...(verbosity > 1 ? { spent: found.spent } : {}),
    })
  },
})

const createRawTransaction = method({
  name: 'createrawtransaction',
  category,
  help: 'Returns a transaction without signatures. Outputs are amounts by address; "data" is a data output.',
  parameters: NEW_TRANSACTION,
  handle: (given) => digitsOf(encodeTransaction(newTransaction(given))),
})

/** Throws a failure for a fee above the limit. */
function checkFeeRate(context: Context, transaction: Transaction, limit: bigint): void {
  if (limit === 0n) return
  const entry = context.bitcoin.chain.checkTransaction(transaction)
  if (entry.fee > feeFor(virtualBytes(entry), limit)) throw new RuleViolation('max-fee-exceeded')
}

/** The failure that `sendrawtransaction` answers with. */
function refusalOf(violation: RuleViolation): RpcFailure {
  const { reason, message } = violation
  if (reason === 'txn-already-known')
    return new RpcFailure(CODE.ALREADY_IN_CHAIN, 'Transaction outputs already in utxo set')
  if (reason === 'missing-inputs') return new RpcFailure(CODE.VERIFY, 'bad-txns-inputs-missingorspent')
  if (reason === 'max-fee-exceeded')
    return new RpcFailure(CODE.VERIFY, 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)')
  return new RpcFailure(CODE.REJECTED, message)
}

const sendRawTransaction = method({
  name: 'sendrawtransaction',
  category,
  help: 'Puts a transaction into the mempool; returns its id.',
  parameters: {
    hexstring: text,
    maxfeerate: amount.default(MAX_FEE_RATE),
    maxburnamount: amount.default(0n),
  },
  handle({ hexstring, maxfeerate, maxburnamount }, context) {
    const transaction = transactionOf(hexstring)
    const isBurnt = transaction.outputs.some(
      ({ script, value }) => kindOf(script).kind === 'nulldata' && value > maxburnamount,
    )
    if (isBurnt)
      throw new RpcFailure(
        CODE.VERIFY,
        'Unspendable output exceeds maximum configured by user (maxburnamount)',
      )
    const id = idOf(transaction)
    if (context.bitcoin.chain.state.mempool.has(id)) return id
    try {
      checkFeeRate(context, transaction, maxfeerate)
      return context.bitcoin.chain.accept(transaction).id
    } catch (error) {
      if (error instanceof RuleViolation) throw refusalOf(error)
      throw error
    }
  },
})

const testMempoolAccept = method({
  name: 'testmempoolaccept',
  category,
  help: 'Returns for each transaction whether the mempool would accept it. They are checked one by one, not as a package.',
  parameters: { rawtxs: z.array(text).min(1).max(25), maxfeerate: amount.default(MAX_FEE_RATE) },
  handle({ rawtxs, maxfeerate }, context) {
    return rawtxs.map((raw) => {
      const transaction = transactionOf(raw)
      const ids = { txid: idOf(transaction), wtxid: displayed(wtxid(transaction)) }
      try {
        const entry = context.bitcoin.chain.checkTransaction(transaction)
        checkFeeRate(context, transaction, maxfeerate)
        return { ...ids, allowed: true, vsize: virtualBytes(entry), fees: { base: new Amount(entry.fee) } }
      } catch (error) {
        if (!(error instanceof RuleViolation)) throw error
        return { ...ids, allowed: false, 'reject-reason': error.reason }
      }
    })
  },
})

/** What an address pays to when the script is behind a hash. */
function segwitView(script: Uint8Array): object | undefined {
  const { kind, hash, keys } = kindOf(script)
  const isKeyHash = kind === 'pubkeyhash' && hash !== undefined
  if (kind.startsWith('witness') || kind === 'scripthash' || kind === 'nulldata') return undefined
  const [key] = keys ?? []
  const program = kind === 'pubkey' && key !== undefined ? hash160(key) : isKeyHash ? hash : sha256(script)
  const witness = witnessScriptOf(0, program)
  const nested = scriptForHash(witness)
  return { ...viewOfScript(witness), 'p2sh-segwit': addressOf(nested) }
}

const decodeScript = method({
  name: 'decodescript',
  category,
  help: 'Returns a script as an object, with the addresses of its hash.',
  parameters: { hexstring: text },
  handle({ hexstring }) {
    const script = bytesOf(hexstring, 'argument')
    if (script.length > MAX_SCRIPT)
      throw new RpcFailure(CODE.PARAMETER, `argument must be a script of at most ${MAX_SCRIPT} bytes`)
    const { kind } = kindOf(script)
    const canBeHashed = kind !== 'scripthash' && kind !== 'nulldata' && !kind.startsWith('witness')
    return {
      asm: asmOf(script),
      desc: describe(script),
      address: addressOf(script),
      type: kind,
      p2sh: kind === 'scripthash' ? undefined : addressOf(scriptForHash(script)),
      segwit: canBeHashed ? segwitView(script) : undefined,
    }
  },
})

/** About transactions in hex digits. */
export const RAW_TRANSACTION_METHODS: readonly Method[] = [
  getRawTransaction,
  createRawTransaction,
  sendRawTransaction,
  testMempoolAccept,
  decodeScript,
  method({
    name: 'decoderawtransaction',
    category,
    help: 'Returns a transaction as an object.',
    parameters: { hexstring: text, iswitness: flag.optional() },
    handle: ({ hexstring }) => viewOfTransaction(includableOf(hexstring)),
  }),
]
