/** Instructions of peg-ins, in the layout of RSKIP-170. */
import { describe, expect, it } from 'vitest'
import { OP } from '../../../../../src/bitcoin/script.ts'
import { concat } from '../../../../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../../../../src/encoding/hex.ts'
import { instructionsOf } from '../../../../../src/evm/precompiles/bridge/pegin/instructions.ts'
import { input, pushes, transactionOf } from './inputs.ts'

const RECEIVER = `0x${'0a'.repeat(20)}`
const HASH = '0b'.repeat(20)

const data = (hex: string): Uint8Array =>
  concat(Uint8Array.of(OP.RETURN), pushes(fromHex(`0x52534b54${hex}` as Hex)))
const read = (...scripts: readonly Uint8Array[]) =>
  instructionsOf(
    transactionOf(
      input(),
      scripts.map((script) => ({ value: 0n, script })),
    ),
  )
const plain = `01${RECEIVER.slice(2)}`

describe('instructions', () => {
  it('name a receiver', () => {
    expect(read(data(plain))).toEqual({ receiver: RECEIVER, refund: undefined })
  })

  it.each([
    ['01', 'publicKeyHash'],
    ['02', 'scriptHash'],
  ])('name a refund address of kind %s', (kind, expected) => {
    const refund = { kind: expected, hash: fromHex(`0x${HASH}`) }
    expect(read(data(`${plain}${kind}${HASH}`))).toEqual({ receiver: RECEIVER, refund })
  })

  it('are there beside other outputs', () => {
    const others = [
      '0x',
      '0x51',
      '0x6a',
      '0x6a51',
      '0x6a03525354',
      `0x6a04${'52534b55'}`,
      `0x04${'52534b54'}`,
    ]
    expect(read(...others.map((hex) => fromHex(hex as Hex)))).toBeUndefined()
    expect(read(...others.map((hex) => fromHex(hex as Hex)), data(plain))).toMatchObject({
      receiver: RECEIVER,
    })
    // A long push of it counts, and what follows it does not.
    const long = fromHex(`0x6a4c1952534b54${plain}51` as Hex)
    expect(read(long)).toMatchObject({ receiver: RECEIVER })
  })

  it.each([
    ['', 'instructions of an unknown version'],
    [`00${RECEIVER.slice(2)}`, 'instructions of an unknown version'],
    [`02${RECEIVER.slice(2)}`, 'instructions of an unknown version'],
    [plain.slice(2), 'instructions of an unknown version'],
    [plain.slice(0, -2), 'instructions of a wrong length'],
    [`${plain}01`, 'instructions of a wrong length'],
    [`${plain}01${HASH}00`, 'instructions of a wrong length'],
    [`${plain}00${HASH}`, 'instructions with an unknown kind of refund address'],
    [`${plain}03${HASH}`, 'instructions with an unknown kind of refund address'],
  ])('are malformed: %s', (hex, message) => {
    expect(() => read(data(hex))).toThrow(new RangeError(message))
  })

  it('are malformed when there are two, or an output ends within a push', () => {
    expect(() => read(data(plain), data(plain))).toThrow(
      new RangeError('a transaction with two instructions'),
    )
    expect(() => read(data(plain), Uint8Array.of(5))).toThrow(RangeError)
    expect(() => read(Uint8Array.of(5))).toThrow(RangeError)
  })
})
