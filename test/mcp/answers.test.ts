/** Answers in parts: together they are the answer, whatever the sizes. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Answers } from '../../src/mcp/answers.ts'

describe('the parts of an answer', () => {
  it('are the answer, in order, each within its length', () => {
    const answers = new Answers()
    const text = fc.oneof(fc.json(), fc.string({ unit: 'grapheme', maxLength: 500 }))
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 60 }), (whole, length) => {
        let part = answers.first(whole, 'a', length)
        let read = part.text
        while (part.rest !== undefined) {
          expect(part.text.length).toBeLessThanOrEqual(length)
          // Half a character is encoded as U+FFFD.
          expect(Buffer.from(part.text).toString()).toBe(part.text)
          expect(part.rest.characters).toBe(whole.length - read.length)
          part = answers.next(part.rest.cursor ?? '', 'a', length)
          read += part.text
        }
        expect(read).toBe(whole)
      }),
    )
  })

  it('belong to the caller of the first', () => {
    const answers = new Answers()
    const { rest } = answers.first('x'.repeat(100), 'a', 10)
    expect(() => answers.next(rest?.cursor ?? '', 'b')).toThrow('The cursor is not known')
    expect(answers.next(rest?.cursor ?? '', 'a').text).toBe('x'.repeat(90))
  })

  it('end where the answer is too long to be kept', () => {
    const { text, rest } = new Answers().first('x'.repeat(40_000_000), 'a', 10)
    expect(text).toHaveLength(10)
    expect(rest).toEqual({ characters: 39_999_990 })
  })
})
