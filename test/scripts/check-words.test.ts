/** The check for retired words finds them, and only them. */
import { describe, expect, it } from 'vitest'

const script = new URL('../../scripts/check-words.mjs', import.meta.url).href
const { retiredWordsIn } = (await import(script)) as { retiredWordsIn(text: string): string[] }

describe('retired words', () => {
  it.each([
    ['// the native contract at 0x01', '1: "native contract" (say: precompiled contract)'],
    ['a line\nconst vitals = read()', '2: "vitals" (say: health, peer scoring)'],
    ['a save point', '1: "save point" (say: snapshot)'],
    ['const readVitals = 1', '1: "Vitals" (say: health, peer scoring)'],
  ])('finds %j', (text, found) => {
    expect(retiredWordsIn(text)).toEqual([found])
  })

  it('passes over words of the vocabulary, and lines that quote a text of others', () => {
    expect(retiredWordsIn('the precompiled contract reports its health')).toEqual([])
    expect(retiredWordsIn("'basic cost' // retired-words: quoted")).toEqual([])
  })
})
