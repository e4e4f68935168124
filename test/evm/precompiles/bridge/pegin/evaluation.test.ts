/** What happens to peg-ins: the table of RSKIP-379 as the reference node has it. */
import { describe, expect, it } from 'vitest'
import {
  outputScript,
  toPublicKey,
  toScript,
  toWitnessScript,
} from '../../../../../src/bitcoin/output-script.ts'
import { multisig } from '../../../../../src/bitcoin/redeem-script.ts'
import { OP } from '../../../../../src/bitcoin/script.ts'
import { concat, EMPTY } from '../../../../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../../../../src/encoding/hex.ts'
import type { FederationFormat } from '../../../../../src/evm/precompiles/bridge/constants/network.ts'
import {
  evaluatePegin,
  type PeginFederation,
  REJECTED,
  UNREFUNDABLE,
} from '../../../../../src/evm/precompiles/bridge/pegin/evaluation.ts'
import { ACCOUNT, input, KEY, pushes, SIGNATURE, transactionOf } from './inputs.ts'

const SCRIPT = multisig(1, [KEY])
const federation = (format: FederationFormat, count: number): PeginFederation => {
  const script = multisig(
    1,
    Array.from({ length: count }, () => KEY),
  )
  const destination = toWitnessScript(script)
  return { format, outputScript: outputScript(destination), scriptHash: destination.hash }
}
const ACTIVE = federation(4000, 2)
const RETIRING = federation(3000, 3)
const SAME = federation(4000, 4)
const MINIMUM = 500_000n

const byKey = input({ script: pushes(SIGNATURE, KEY) })
const byKeys = input({ script: pushes(EMPTY, SIGNATURE, SCRIPT) })
const byNone = input()
const pays = (federation: PeginFederation, value = MINIMUM) => ({ value, script: federation.outputScript })
const note = (hex: string) => ({
  value: 0n,
  script: concat(Uint8Array.of(OP.RETURN), pushes(fromHex(`0x52534b54${hex}` as Hex))),
})
const RECEIVER: Hex = `0x${'0a'.repeat(20)}`
const GOOD = note(`01${'0a'.repeat(20)}`)
const BAD = note('02')

const evaluate = (
  ...[first, outputs, live = [ACTIVE, RETIRING]]: readonly [
    Parameters<typeof transactionOf>[0],
    NonNullable<Parameters<typeof transactionOf>[1]>,
    (readonly PeginFederation[])?,
  ]
) => evaluatePegin(transactionOf(first, outputs), live, MINIMUM)

describe('a peg-in', () => {
  it('goes to the account of its sender, or to whom its instructions name', () => {
    const one = { action: 'register', receiver: ACCOUNT, version: 0 }
    expect(evaluate(byKey, [pays(ACTIVE)])).toEqual(one)
    expect(evaluate(byKey, [pays(RETIRING), pays(ACTIVE)])).toEqual(one)
    for (const sender of [byKey, byKeys, byNone]) {
      expect(evaluate(sender, [pays(ACTIVE), GOOD])).toEqual({
        action: 'register',
        receiver: RECEIVER,
        version: 1,
      })
    }
  })

  it('is lost when it pays too little to any federation, or nothing', () => {
    const lost = { action: 'keep', reason: REJECTED.amount, unrefundable: UNREFUNDABLE.amount }
    for (const outputs of [
      [],
      [{ value: MINIMUM, script: EMPTY }],
      [pays(ACTIVE), pays(RETIRING, MINIMUM - 1n)],
    ]) {
      expect(evaluate(byKey, outputs)).toEqual(lost)
    }
  })

  it('goes back to many keys, but not from federations of two formats', () => {
    const reason = REJECTED.multisigSender
    const back = { action: 'refund', reason, to: toScript(SCRIPT) }
    expect(evaluate(byKeys, [pays(ACTIVE)])).toEqual(back)
    expect(evaluate(byKeys, [pays(ACTIVE), pays(SAME)], [ACTIVE, SAME])).toEqual(back)
    const kept = { action: 'keep', reason, unrefundable: UNREFUNDABLE.differentFederations }
    expect(evaluate(byKeys, [pays(ACTIVE), pays(RETIRING)])).toEqual(kept)
  })

  it('counts a payment to a key of the same hash as one to a federation when it compares formats', () => {
    const hash = RETIRING.scriptHash
    const toKey = { value: 1n, script: outputScript({ kind: 'publicKeyHash', hash }) }
    expect(evaluate(byKeys, [pays(ACTIVE), toKey])).toMatchObject({ action: 'keep' })
  })

  it('is lost without a known sender', () => {
    const lost = { action: 'keep', reason: REJECTED.unknownSender, unrefundable: UNREFUNDABLE.unknownSender }
    expect(evaluate(byNone, [pays(ACTIVE)])).toEqual(lost)
  })

  it('goes back when its instructions are malformed, if its sender is known', () => {
    const reason = REJECTED.malformedInstructions
    expect(evaluate(byKey, [pays(ACTIVE), BAD])).toEqual({ action: 'refund', reason, to: toPublicKey(KEY) })
    expect(evaluate(byKeys, [pays(ACTIVE), BAD])).toEqual({ action: 'refund', reason, to: toScript(SCRIPT) })
    const kept = { action: 'keep', reason, unrefundable: UNREFUNDABLE.unknownSender }
    expect(evaluate(byNone, [pays(ACTIVE), BAD])).toEqual(kept)
    expect(evaluate(byKey, [pays(ACTIVE), { value: 0n, script: Uint8Array.of(5) }])).toMatchObject({ reason })
  })

  it('cannot be evaluated where the reference node fails', () => {
    const noForm = { value: 0n, script: Uint8Array.of(OP.RETURN) }
    expect(() => evaluate(byKeys, [pays(ACTIVE), noForm])).toThrow(RangeError)
    expect(evaluate(byKey, [pays(ACTIVE), noForm])).toMatchObject({ action: 'register' })
    const looksLikeKey = Uint8Array.of(OP.DUP, OP.HASH160, OP[1], OP.EQUALVERIFY, OP.CHECKSIG)
    expect(() => evaluate(byKey, [pays(ACTIVE), { value: 0n, script: looksLikeKey }])).toThrow(RangeError)
    expect(evaluate(byKey, [pays(ACTIVE), { value: 0n, script: looksLikeKey.subarray(0, 4) }])).toMatchObject(
      {
        action: 'register',
      },
    )
  })
})
