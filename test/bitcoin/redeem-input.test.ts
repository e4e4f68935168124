/** What inputs reveal, and transactions before they were signed: peg-outs that the reference node has recognized. */
import { describe, expect, it } from 'vitest'
import { outputScript, toWitnessKey } from '../../src/bitcoin/output-script.ts'
import {
  revealedScript,
  unsignedSighash,
  unsignedTxid,
  withoutSignatures,
} from '../../src/bitcoin/redeem-input.ts'
import { multisig } from '../../src/bitcoin/redeem-script.ts'
import { OP, push } from '../../src/bitcoin/script.ts'
import {
  decodeTransaction,
  encodeTransaction,
  type Input,
  readTransaction,
} from '../../src/bitcoin/transaction.ts'
import { concat, EMPTY } from '../../src/encoding/bytes.ts'
import { fromHex, toHex } from '../../src/encoding/hex.ts'
import { fixture } from '../support/fixture.ts'

/** Transactions of the reference node, and the hashes under which it has them in its index. */
const { pegouts } = fixture<{ pegouts: readonly { signed: `0x${string}`; sighash: string }[] }>(
  'bridge/pegout-index.json',
)

const input = (parts: Partial<Input>): Input => ({
  hash: new Uint8Array(32).fill(1),
  index: 0,
  script: EMPTY,
  sequence: 0xffffffff,
  witness: [],
  ...parts,
})
const transaction = (...inputs: readonly Input[]) => ({
  version: 2,
  inputs,
  outputs: [{ value: 5n, script: EMPTY }],
  lockTime: 0,
})
const KEY = fromHex('0x02cd53fc53a07f211641a677d250f6de99caf620e8e77071e811a28b3bcddf0be1')
const SCRIPT = multisig(1, [KEY])

describe('the hash in the index of peg-outs', () => {
  it.each(pegouts)('is that of the reference node: $sighash', ({ signed, sighash }) => {
    const transaction = decodeTransaction(fromHex(signed))
    expect(toHex(unsignedSighash(transaction) ?? EMPTY)).toBe(sighash)
    const unsigned = withoutSignatures(transaction)
    if (unsigned === undefined) throw new Error('not a transaction of the federation')
    expect(toHex(encodeTransaction(unsigned))).not.toBe(signed)
    expect(toHex(unsignedSighash(unsigned) ?? EMPTY)).toBe(sighash)
    expect(unsignedTxid(unsigned)).toEqual(unsignedTxid(transaction))
  })
})

describe('the revealed script', () => {
  it('is the last item of the witness, or else of the script', () => {
    expect(revealedScript(input({ script: concat(push(KEY), push(SCRIPT)) }))).toEqual(SCRIPT)
    expect(revealedScript(input({ script: push(KEY), witness: [EMPTY, SCRIPT] }))).toEqual(SCRIPT)
  })

  it('is none without data that are a script', () => {
    expect(revealedScript(input({}))).toBeUndefined()
    expect(revealedScript(input({ script: Uint8Array.of(OP[1]) }))).toBeUndefined()
    expect(revealedScript(input({ script: push(Uint8Array.of(5)) }))).toBeUndefined()
    expect(revealedScript(input({ script: push(SCRIPT), witness: [Uint8Array.of(5)] }))).toBeUndefined()
  })

  it('cannot be read from a script that ends within a push', () => {
    expect(() => revealedScript(input({ script: Uint8Array.of(5) }))).toThrow(RangeError)
    expect(revealedScript(input({ script: Uint8Array.of(5), witness: [SCRIPT] }))).toEqual(SCRIPT)
  })
})

describe('a transaction without signatures', () => {
  const signed = input({ script: concat(Uint8Array.of(OP[0]), push(KEY), push(SCRIPT)) })

  it('has an empty push for each', () => {
    const empty = concat(Uint8Array.of(OP[0], OP[0]), push(SCRIPT))
    expect(withoutSignatures(transaction(signed))?.inputs[0]?.script).toEqual(empty)
    const witness = withoutSignatures(transaction(input({ witness: [EMPTY, KEY, SCRIPT] })))?.inputs[0]
      ?.witness
    expect(witness).toEqual([EMPTY, EMPTY, EMPTY, SCRIPT])
  })

  it('is none when an input spends anything else, or needs more than 16 signatures', () => {
    const many = multisig(
      17,
      Array.from({ length: 20 }, () => KEY),
    )
    const huge = concat(
      Uint8Array.of(4, 0xff, 0xff, 0xff, 0x7f),
      push(KEY),
      Uint8Array.of(OP[1], OP.CHECKMULTISIG),
    )
    for (const other of [
      input({ script: concat(push(KEY), push(KEY)) }),
      input({ witness: [KEY, KEY] }),
      input({ script: push(outputScript(toWitnessKey(KEY))) }),
      input({ script: push(many) }),
      input({ witness: [EMPTY, huge] }),
    ]) {
      for (const both of [transaction(other), transaction(signed, other)]) {
        expect(withoutSignatures(both)).toBeUndefined()
        expect(unsignedSighash(both)).toBeUndefined()
      }
    }
    expect(unsignedSighash(transaction())).toBeUndefined()
  })
})

describe('large transactions', () => {
  it('with 200,000 witness items are read, written and searched', () => {
    const witness = Array.from({ length: 200_000 }, () => EMPTY)
    const bytes = encodeTransaction(transaction(input({ witness: [KEY, ...witness] })))
    const read = readTransaction(bytes)
    expect(read.size).toBe(bytes.length)
    expect(encodeTransaction(read.transaction)).toEqual(bytes)
    expect(unsignedSighash(read.transaction)).toBeUndefined()
  })

  it('with a script of 30,000 prefixes are searched', () => {
    const prefix = concat(push(new Uint8Array(32)), Uint8Array.of(OP.DROP))
    const script = concat(...Array.from({ length: 30_000 }, () => prefix), SCRIPT)
    expect(unsignedSighash(transaction(input({ witness: [EMPTY, script] })))).toHaveLength(32)
  })
})
