/** Transactions and headers of Bitcoin's main and test networks: what the Bridge reads in them. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, it } from 'vitest'
import { digitsOf, displayed, fromDigits } from '../../../../src/bitcoin/displayed-hash.ts'
import { POLICY_RULES } from '../../../../src/bitcoin/interpreter/flags.ts'
import { SignatureChecker } from '../../../../src/bitcoin/interpreter/signature-checker.ts'
import { verifySpending } from '../../../../src/bitcoin/interpreter/verification.ts'
import { outputScript, toPublicKey, toScript } from '../../../../src/bitcoin/output-script.ts'
import { revealedScript, unsignedSighash, unsignedTxid } from '../../../../src/bitcoin/redeem-input.ts'
import { parseRedeem } from '../../../../src/bitcoin/redeem-script-parser.ts'
import { parseScript } from '../../../../src/bitcoin/script.ts'
import {
  decodeTransaction,
  encodeTransaction,
  isCoinbase,
  type Transaction,
  txid,
} from '../../../../src/bitcoin/transaction.ts'
import { findWitnessCommitment } from '../../../../src/bitcoin/witness-commitment.ts'
import { BRIDGE_SENDERS } from '../../../../src/chain/bridge-senders.ts'
import { CHAINS, PRECOMPILE_ADDRESS } from '../../../../src/chain/config.ts'
import { concat, EMPTY, fromBigIntFixed } from '../../../../src/encoding/bytes.ts'
import { type Hex, toHex } from '../../../../src/encoding/hex.ts'
import { instructionsOf } from '../../../../src/evm/precompiles/bridge/pegin/instructions.ts'
import { senderOf } from '../../../../src/evm/precompiles/bridge/pegin/sender.ts'
import { missingSignatures } from '../../../../src/evm/precompiles/bridge/pegout/input-signatures.ts'
import { vmRulesOf } from '../../../../src/evm/rules.ts'
import { fixture } from '../../../support/fixture.ts'
import { outcome } from '../vectors.ts'
import { dataOf, freshBridge, hashOf } from './calls.ts'

interface Vectors {
  readonly transactions: readonly {
    readonly what: string
    readonly network: 'main' | 'test'
    readonly id: string
    readonly spends: 'federation' | 'witness' | 'key' | 'witnessKey' | 'multisig'
    readonly raw: string
    readonly unsignedId?: string
  }[]
  readonly coinbases: readonly {
    readonly id: string
    readonly isMalformed: boolean
    readonly commitment: string
    readonly raw: string
  }[]
  readonly headers: {
    readonly first: number
    readonly raw: readonly string[]
    readonly work: Readonly<Record<string, string>>
  }
}

const { transactions, coinbases, headers } = fixture<Vectors>('bridge/real-transactions.json')
const spending = (...kinds: readonly string[]) =>
  transactions.filter(({ spends }) => kinds.includes(spends)).map((vector) => [vector.what, vector] as const)

const pushesOf = (script: Uint8Array) => parseScript(script).map(({ data }) => data ?? EMPTY)

/** Inputs whose scripts run: each takes dozens of milliseconds. */
const MOST_INPUTS = 5

/** Runs the scripts of inputs, which spend outputs to keys or to scripts, and have no witness. */
function verifyInputs(transaction: Transaction, isByKey: boolean): void {
  for (const [index, { script }] of transaction.inputs.slice(0, MOST_INPUTS).entries()) {
    const last = pushesOf(script).at(-1) ?? EMPTY
    const locking = outputScript(isByKey ? toPublicKey(last) : toScript(last))
    const checker = new SignatureChecker(transaction, index, 0n)
    verifySpending({ unlocking: script, locking, witness: [] }, POLICY_RULES, checker)
  }
}

describe('a transaction of a public network', () => {
  it.each([...transactions, ...coinbases])('$id has its id, and is written as it was read', ({ id, raw }) => {
    const transaction = decodeTransaction(fromDigits(raw))
    expect(digitsOf(encodeTransaction(transaction))).toBe(raw)
    expect(displayed(txid(transaction))).toBe(id)
  })

  it.each(spending('federation', 'multisig', 'key'))('spends what its signatures sign: %s', (_, vector) => {
    const transaction = decodeTransaction(fromDigits(vector.raw))
    const isByKey = vector.spends === 'key'
    verifyInputs(transaction, isByKey)
    const other = { ...transaction, lockTime: transaction.lockTime + 1 }
    expect(() => verifyInputs(other, isByKey)).toThrow()
  })

  it.each(spending('federation', 'multisig'))('is found by the hash that is signed: %s', (_, { raw }) => {
    const transaction = decodeTransaction(fromDigits(raw))
    const hash = unsignedSighash(transaction) ?? EMPTY
    const [first] = transaction.inputs
    const redeem = first && parseRedeem(revealedScript(first) ?? EMPTY)
    if (first === undefined || redeem === undefined) throw new Error('no script of many keys')
    const signatures = pushesOf(first.script)
      .slice(0, -1)
      .filter(({ length }) => length > 0)
    const isSigned = (signature: Uint8Array) =>
      redeem.keys.some((key) =>
        secp256k1.verify(signature.subarray(0, -1), hash, key, { prehash: false, format: 'der' }),
      )
    expect(signatures).toHaveLength(redeem.required)
    expect(signatures.every(isSigned)).toBe(true)
  })

  it.each(spending('federation', 'witness'))('is complete, each input by a federation: %s', (_, vector) => {
    const transaction = decodeTransaction(fromDigits(vector.raw))
    expect(transaction.inputs.map(missingSignatures)).toEqual(transaction.inputs.map(() => 0))
    const unsigned = unsignedTxid(transaction) ?? EMPTY
    if (vector.unsignedId !== undefined) expect(displayed(unsigned)).toBe(vector.unsignedId)
    // A witness is no part of the id, signatures in scripts are.
    expect(displayed(unsigned) === vector.id).toBe(vector.spends === 'witness')
  })

  it.each(spending('key', 'witnessKey', 'multisig'))(
    'has the sender that the Bridge knows: %s',
    (_, vector) => {
      const transaction = decodeTransaction(fromDigits(vector.raw))
      const sender = senderOf(transaction)
      expect(sender !== undefined).toBe(vector.spends !== 'witnessKey')
      expect(sender?.account !== undefined).toBe(vector.spends === 'key')
      expect(unsignedSighash(transaction) !== undefined).toBe(vector.spends === 'multisig')
      const [, receiver] = /52534b5401([0-9a-f]{40})/.exec(vector.raw) ?? []
      expect(instructionsOf(transaction)?.receiver).toBe(receiver && `0x${receiver}`)
      expect(receiver !== undefined).toBe(vector.what.includes('version 1'))
    },
  )

  it.each(coinbases)('$id commits to the witnesses of its block', ({ raw, isMalformed, commitment }) => {
    const transaction = decodeTransaction(fromDigits(raw))
    expect(isCoinbase(transaction)).toBe(true)
    expect(digitsOf(findWitnessCommitment(transaction) ?? EMPTY)).toBe(commitment)
    const read = () => transaction.outputs.map(({ script }) => parseScript(script))
    if (isMalformed) expect(read).toThrow(RangeError)
    else expect(read).not.toThrow()
  })
})

describe('headers of the main network around a chain work of more than 95 bits', () => {
  const HEIGHT = { before: 6_300_000, after: 6_600_000 }
  const [FEDERATOR] = BRIDGE_SENDERS.mainnet.federators

  /** A Bridge that knows one of the headers, under the rules of a height. */
  function bridgeAt(height: number, known: number) {
    const contract = vmRulesOf(CHAINS.mainnet)(height).precompiles.get(PRECOMPILE_ADDRESS.bridge)
    if (contract === undefined || FEDERATOR === undefined) throw new Error('no Bridge')
    const { env, storage } = freshBridge({ isLocal: false, isTop: true, caller: FEDERATOR, number: height })
    const header = fromDigits(headers.raw[known - headers.first] ?? '')
    const work = fromDigits(headers.work[known] ?? '')
    const stored = concat(work, fromBigIntFixed(BigInt(known), 4), header)
    storage.setBytes(BigInt(hashOf(header)), stored)
    storage.setBytes(BigInt(toHex(new TextEncoder().encode('blockStoreChainHead'))), stored)
    return {
      raw: (data: Hex) => outcome(contract, data, env),
      knows: (at: number) => storage.bytes(BigInt(hashOf(fromDigits(headers.raw[at] ?? '')))).length > 0,
    }
  }

  it.each([
    ['before', `0x${(2n ** 256n - 99n).toString(16)}`, false],
    ['after', `0x${'0'.repeat(64)}`, true],
  ] as const)('%s RSKIP-434: the one that exceeds it', (rules, code, isStored) => {
    const bridge = bridgeAt(HEIGHT[rules], 849_137)
    expect(bridge.raw(dataOf('receiveHeader', `0x${headers.raw[4]}`))).toBe(code)
    expect(bridge.knows(4)).toBe(isStored)
  })

  it.each([
    ['before', [1, 2, 3]],
    ['after', [1, 2, 3, 4, 5]],
  ] as const)('%s RSKIP-434: several', (rules, expected) => {
    const bridge = bridgeAt(HEIGHT[rules], headers.first)
    const list = headers.raw.slice(1).map((raw) => `0x${raw}`)
    expect(bridge.raw(dataOf('receiveHeaders', list))).toBe('0x')
    expect([1, 2, 3, 4, 5].filter(bridge.knows)).toEqual(expected)
  })
})
