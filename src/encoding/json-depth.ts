/** How deeply JSON text is nested, known before it is parsed. */

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Is the text nested deeper than `limit` (docs/internals/rpc-reference.md#25-malformed-input)? Brackets inside strings
 * do not count; the text need not be valid JSON.
 */
export function isTooDeep(text: string, limit: number): boolean {
  // It takes that many characters to open that many brackets: most messages are decided here.
  if (text.length <= limit) return false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) {
      i = endOfString(text, i + 1)
    } else if (char === 0x5b || char === 0x7b) {
      depth++
      if (depth > limit) return true
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
