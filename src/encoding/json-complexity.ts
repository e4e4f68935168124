/** What JSON text costs to parse, known before it is parsed. */

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Lists and objects that any text may hold: about 40 ms of parsing. A longer text may hold one for each
 * `CHARACTERS_EACH`; compilers' output, the densest that is sent here, has one for 60 and more.
 */
const MOST_COLLECTIONS = 200_000
const CHARACTERS_EACH = 16

/**
 * Is the text nested deeper than `maxDepth` (docs/internals/rpc-reference.md#25-malformed-input), or does it hold more
 * lists and objects than data of its size has? 4 MB of empty lists block the thread for up to 0.7 s while they are
 * parsed. Brackets inside strings do not count; the text need not be valid JSON.
 */
export function isTooComplex(text: string, maxDepth: number): boolean {
  // It takes that many characters to open that many brackets: most messages are decided here.
  if (text.length <= maxDepth) return false
  const maxCollections = Math.max(MOST_COLLECTIONS, text.length / CHARACTERS_EACH)
  let depth = 0
  let collections = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) {
      i = endOfString(text, i + 1)
    } else if (char === 0x5b || char === 0x7b) {
      if (++depth > maxDepth || ++collections > maxCollections) return true
    } else if (char === 0x5d || char === 0x7d) {
      depth--
    }
  }
  return false
}

/** Index of the quote that ends the string whose text starts at `start`, or the length when none does. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start)
  while (end !== -1) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH && end - 1 - backslashes >= start)
      backslashes++
    if (backslashes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return text.length
}
