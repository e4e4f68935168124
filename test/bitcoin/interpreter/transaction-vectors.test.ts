/** Transactions of Bitcoin Core's vectors: valid under all rules but some, invalid under some, and their hashes to sign. */
import { describe, expect, it } from 'vitest'
import { reversed } from '../../../src/bitcoin/hash.ts'
import { RULE } from '../../../src/bitcoin/interpreter/flags.ts'
import { ScriptFailure } from '../../../src/bitcoin/interpreter/script-failure.ts'
import { SignatureChecker } from '../../../src/bitcoin/interpreter/signature-checker.ts'
import { legacyHash } from '../../../src/bitcoin/interpreter/signature-hash.ts'
import { verifySpending } from '../../../src/bitcoin/interpreter/verification.ts'
import {
  checkTransaction,
  decodeTransaction,
  encodeStripped,
  type Transaction,
} from '../../../src/bitcoin/transaction.ts'
import { EMPTY } from '../../../src/encoding/bytes.ts'
import { fixture } from '../../support/fixture.ts'
import { rulesOf, scriptOf } from './vectors.ts'

type Previous = readonly [hash: string, index: number, script: string, value?: number]
type Vector = readonly [previous: readonly Previous[], transaction: string, rules: string]

const fromText = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const displayed = (hash: Uint8Array) => Buffer.from(reversed(hash)).toString('hex')

const ALL = Object.values(RULE).reduce((all, rule) => all | rule, 0)

/** Bitcoin Core's test program knows these rules; some need others. */
function completed(rules: number): number {
  let all = rules
  if ((all & RULE.CLEANSTACK) !== 0) all |= RULE.P2SH | RULE.WITNESS
  if ((all & RULE.WITNESS) !== 0) all |= RULE.P2SH
  return all
}

/** The rules without some, and without those that need them. */
function without(excluded: number): number {
  let rules = ALL & ~excluded
  if ((rules & RULE.P2SH) === 0) rules &= ~RULE.WITNESS
  if ((rules & RULE.WITNESS) === 0) rules &= ~RULE.CLEANSTACK
  return rules
}

function isValid(transaction: Transaction, previous: readonly Previous[], rules: number): boolean {
  const outputs = new Map(
    previous.map(([hash, index, script, value = 0]) => [`${hash}:${index >>> 0}`, { script, value }]),
  )
  try {
    checkTransaction(transaction, encodeStripped(transaction).length)
    transaction.inputs.forEach(({ hash, index, script, witness }, i) => {
      const output = outputs.get(`${displayed(hash)}:${index}`)
      if (output === undefined) throw new Error('a vector without the output that is spent')
      const checker = new SignatureChecker(transaction, i, BigInt(output.value))
      verifySpending({ unlocking: script, locking: scriptOf(output.script), witness }, rules, checker)
    })
    return true
  } catch (error) {
    if (error instanceof ScriptFailure || error instanceof RangeError) return false
    throw error
  }
}

const vectorsOf = (name: string) =>
  fixture<(Vector | readonly [string])[]>(`bitcoin/${name}.json`).filter(
    (vector): vector is Vector => vector.length === 3,
  )

describe('transactions', () => {
  it('of tx_valid.json are valid under all rules but the excluded ones', () => {
    const vectors = vectorsOf('tx_valid')
    expect(vectors.length).toBeGreaterThan(100)
    const wrong = vectors.filter(
      ([previous, hex, rules]) =>
        !isValid(decodeTransaction(fromText(hex)), previous, without(rulesOf(rules) as number)),
    )
    expect(wrong).toEqual([])
  })

  it('of tx_invalid.json are invalid', () => {
    const vectors = vectorsOf('tx_invalid')
    expect(vectors.length).toBeGreaterThan(80)
    const wrong = vectors.filter(([previous, hex, rules]) => {
      if (rules === 'BADTX') return isValid(decodeTransaction(fromText(hex)), previous, 0)
      return isValid(decodeTransaction(fromText(hex)), previous, completed(rulesOf(rules) as number))
    })
    expect(wrong).toEqual([])
  })

  it('have the hashes to sign of sighash.json', () => {
    const vectors = fixture<(readonly [string, string, number, number, string])[]>('bitcoin/sighash.json')
    const wrong = vectors.filter(([hex, script, index, type, hash]) => {
      if (script === undefined) return false
      const code = script === '' ? EMPTY : fromText(script)
      return displayed(legacyHash(decodeTransaction(fromText(hex)), index, code, type)) !== hash
    })
    expect(vectors.length).toBe(501)
    expect(wrong).toEqual([])
  })
})
