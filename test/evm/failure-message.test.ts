import { describe, expect, it } from 'vitest'
import { fromHex } from '../../src/encoding/hex.ts'
import { failureError, failureOf, revertReason } from '../../src/evm/failure-message.ts'

const word = (value: number) => value.toString(16).padStart(64, '0')
const text = (value: string) => Buffer.from(value).toString('hex')
const payload = (offset: number, length: number, body: string) =>
  fromHex(`0x08c379a0${word(offset)}${word(length)}${body}`)

describe('the reason of a revert', () => {
  it('is the text of Error(string)', () => {
    expect(revertReason(payload(32, 4, text('boom').padEnd(64, '0')))).toBe('boom')
    expect(revertReason(payload(32, 0, ''))).toBe('')
    expect(revertReason(payload(32, 5, text('día!')))).toBe('día!')
  })

  it.each([
    ['nothing', '0x'],
    ['a selector alone', '0x08c379a0'],
    ['Panic(uint256)', `0x4e487b71${word(17)}`],
    ['a custom error', `0x12345678${word(32)}${word(0)}`],
  ])('is unknown for %s', (_, hex) => {
    expect(revertReason(fromHex(hex))).toBeUndefined()
  })

  it('is unknown when the text is not at its standard offset', () => {
    expect(revertReason(payload(64, 4, text('boom')))).toBeUndefined()
    expect(revertReason(payload(32, 5, text('boom')))).toBeUndefined()
    expect(revertReason(fromHex(`0x08c379a0${word(32)}${'f'.repeat(64)}`))).toBeUndefined()
  })
})

describe('a failure', () => {
  it('is absent when the message succeeded', () => {
    expect(failureOf({ status: 'succeeded', output: new Uint8Array(0) })).toBeUndefined()
  })

  it('becomes an error with the whole payload', () => {
    const output = payload(32, 4, text('boom').padEnd(64, '0'))
    const failure = failureOf({ status: 'reverted', output })
    expect(failure).toEqual({ kind: 'reverted', reason: 'revert boom', output })
    expect(failure && failureError(failure)).toMatchObject({
      kind: 'reverted',
      message: 'VM Exception while processing transaction: revert boom',
      data: `0x${Buffer.from(output).toString('hex')}`,
    })
  })

  it('is named in plain words', () => {
    const words = (failure: string) =>
      failureOf({ status: 'failed', failure, output: new Uint8Array(0) })?.reason
    expect(words('out of gas')).toBe('out of gas')
    expect(words('invalid JUMP')).toBe('invalid jump')
    expect(words('invalid JUMP at 0x00/0x00:5')).toBe('invalid jump')
    expect(words('static state change')).toBe('state change inside a static call')
  })
})
