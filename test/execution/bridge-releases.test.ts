/**
 * The peg-outs that the chains of Bridge calls signed are valid on the parent chain: the interpreter, which is held to
 * Bitcoin Core's vectors, lets every input spend the output that it names, and bitcoinjs-lib hashes what was signed.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { toEventSelector, toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { displayed } from '../../src/bitcoin/displayed-hash.ts'
import { POLICY_RULES } from '../../src/bitcoin/interpreter/flags.ts'
import { SignatureChecker } from '../../src/bitcoin/interpreter/signature-checker.ts'
import { verifySpending } from '../../src/bitcoin/interpreter/verification.ts'
import { parseRedeem } from '../../src/bitcoin/redeem-script-parser.ts'
import {
  decodeTransaction,
  encodeTransaction,
  type Transaction,
  txid,
} from '../../src/bitcoin/transaction.ts'
import { toBigInt } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { library } from '../bitcoin/library.ts'
import { type BridgeChain, bridgeChain, bridgeChainNames } from '../support/bridge-chains.ts'

/** The first `bytes` argument of call data, or of a log. */
function bytesAt(data: Uint8Array, head: number): Uint8Array {
  const word = (at: number) => Number(toBigInt(data.subarray(at, at + 32)))
  const at = head + word(head)
  return data.slice(at + 32, at + 32 + word(at))
}

const REGISTRATIONS = [
  'registerBtcTransaction(bytes,int256,bytes)',
  'registerFastBridgeBtcTransaction(bytes,uint256,bytes,bytes32,bytes,address,bytes,bool)',
].map((signature) => toFunctionSelector(signature))
const SIGNED = toEventSelector('release_btc(bytes32,bytes)')

/** The signed peg-outs of a chain, and every transaction of the parent chain that it shows. */
function parentTransactions({ steps }: BridgeChain) {
  const known = new Map<string, Transaction>()
  const releases: Transaction[] = []
  const keep = (transaction: Transaction) => known.set(displayed(txid(transaction)), transaction)
  // Some calls show what is no transaction.
  const keepIfWhole = (bytes: Uint8Array) => {
    try {
      keep(decodeTransaction(bytes))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
  }
  for (const step of steps) {
    if ('call' in step) continue
    for (const { input, logs } of step.transactions ?? []) {
      if (input !== undefined && REGISTRATIONS.includes(input.slice(0, 10) as Hex)) {
        keepIfWhole(bytesAt(fromHex(input).slice(4), 0))
      }
      for (const { topics, data } of logs) {
        if (topics[0] === SIGNED) releases.push(decodeTransaction(bytesAt(fromHex(data), 0)))
      }
    }
  }
  releases.forEach(keep)
  return { known, releases }
}

/** How many signatures of a release bitcoinjs-lib's hashes find good, by one of the keys each. */
function librarySigned(release: Transaction, index: number, value: bigint): number {
  const transaction = library.Transaction.fromBuffer(Buffer.from(encodeTransaction(release)))
  const { witness } = release.inputs[index] as Transaction['inputs'][number]
  const script = witness.at(-1) as Uint8Array
  const hash = transaction.hashForWitnessV0(index, script, value, library.Transaction.SIGHASH_ALL)
  const isByAnyKey = (signature: Uint8Array) =>
    parseRedeem(script)?.keys.some((key) =>
      secp256k1.verify(signature.subarray(0, -1), hash, key, { prehash: false, format: 'der' }),
    )
  return witness.slice(1, -1).filter((item) => item.length > 0 && isByAnyKey(item)).length
}

describe('the signed peg-outs of the chains of Bridge calls', () => {
  it('spend the outputs that they name', () => {
    let inputs = 0
    for (const name of bridgeChainNames()) {
      const { known, releases } = parentTransactions(bridgeChain(name))
      for (const release of releases) {
        for (const [index, { hash, index: position, script, witness }] of release.inputs.entries()) {
          const spent = known.get(displayed(hash))?.outputs[position]
          if (spent === undefined) throw new Error(`${name}: an output that the chain does not show`)
          const spending = { unlocking: script, locking: spent.script, witness }
          verifySpending(spending, POLICY_RULES, new SignatureChecker(release, index, spent.value))
          expect(librarySigned(release, index, spent.value)).toBe(
            parseRedeem(witness.at(-1) as Uint8Array)?.required,
          )
          inputs++
        }
      }
    }
    expect(inputs).toBeGreaterThan(30)
  })

  it('are refused with another value', () => {
    const { known, releases } = parentTransactions(bridgeChain('pegout-1'))
    const [release] = releases
    const input = release?.inputs[0]
    const spent = input && known.get(displayed(input.hash))?.outputs[input.index]
    if (release === undefined || input === undefined || spent === undefined) throw new Error('no release')
    const spending = { unlocking: input.script, locking: spent.script, witness: input.witness }
    const checker = new SignatureChecker(release, 0, spent.value + 1n)
    expect(() => verifySpending(spending, POLICY_RULES, checker)).toThrow()
  })
})
