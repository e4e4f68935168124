/** Scripts of Bitcoin Core's vectors run to the results that it has for them. */
import { describe, expect, it } from 'vitest'
import { RULE } from '../../../src/bitcoin/interpreter/flags.ts'
import { ScriptFailure } from '../../../src/bitcoin/interpreter/script-failure.ts'
import { SignatureChecker } from '../../../src/bitcoin/interpreter/signature-checker.ts'
import { verifySpending } from '../../../src/bitcoin/interpreter/verification.ts'
import { FINAL_SEQUENCE, type Transaction, txid } from '../../../src/bitcoin/transaction.ts'
import { EMPTY } from '../../../src/encoding/bytes.ts'
import { fixture } from '../../support/fixture.ts'
import { rulesOf, scriptOf } from './vectors.ts'

type Vector = readonly (string | readonly (string | number)[])[]

interface Case {
  readonly unlocking: Uint8Array
  readonly locking: Uint8Array
  readonly witness: readonly Uint8Array[]
  readonly value: bigint
  readonly rules: number | undefined
  readonly result: string
  readonly title: string
}

function caseOf(vector: Vector): Case | undefined {
  const [head, ...rest] = Array.isArray(vector[0]) ? vector : [[0], ...vector]
  if (rest.length < 4 || !Array.isArray(head)) return undefined
  const [unlocking, locking, rules, result, comment = ''] = rest as string[]
  const items = head.slice(0, -1) as string[]
  // Vectors of taproot have placeholders, which Bitcoin Core's test program fills in.
  if (items.some((item) => item.startsWith('#'))) return undefined
  return {
    unlocking: scriptOf(unlocking as string),
    locking: scriptOf((locking as string).startsWith('0x51 0x20 #') ? '' : (locking as string)),
    witness: items.map((item) => new Uint8Array(Buffer.from(item, 'hex'))),
    value: BigInt(Math.round(Number(head.at(-1)) * 1e8)),
    rules: rulesOf(rules as string),
    result: result as string,
    title: `${unlocking} | ${locking} | ${rules} ${comment}`,
  }
}

/** The transactions that Bitcoin Core's test program makes of two scripts. */
function spendingOf({ unlocking, locking, witness, value }: Case): Transaction {
  const crediting: Transaction = {
    version: 1,
    lockTime: 0,
    inputs: [
      {
        hash: new Uint8Array(32),
        index: 0xffffffff,
        script: Uint8Array.of(0, 0),
        sequence: FINAL_SEQUENCE,
        witness: [],
      },
    ],
    outputs: [{ value, script: locking }],
  }
  return {
    version: 1,
    lockTime: 0,
    inputs: [{ hash: txid(crediting), index: 0, script: unlocking, sequence: FINAL_SEQUENCE, witness }],
    outputs: [{ value, script: EMPTY }],
  }
}

function resultOf(vector: Case): string {
  try {
    verifySpending(vector, vector.rules ?? 0, new SignatureChecker(spendingOf(vector), 0, vector.value))
    return 'OK'
  } catch (error) {
    if (error instanceof ScriptFailure) return error.failure
    throw error
  }
}

const vectors = fixture<Vector[]>('bitcoin/script_tests.json').filter((vector) => vector.length > 1)
const cases = vectors.flatMap((vector) => caseOf(vector) ?? [])

describe('script_tests.json', () => {
  it('has the expected number of cases, all but those of taproot', () => {
    expect(vectors.length - cases.length).toBeLessThan(20)
    expect(cases.length).toBeGreaterThan(1200)
    const isOfTaproot = ({ rules }: Case) => rules === undefined || (rules & RULE.TAPROOT) !== 0
    expect(cases.filter(isOfTaproot).length).toBe(0)
  })

  it('gives the result of every case', () => {
    const wrong = cases
      .map((vector) => ({ title: vector.title, expected: vector.result, found: resultOf(vector) }))
      .filter(({ expected, found }) => expected !== found)
    expect(wrong).toEqual([])
  })
})
