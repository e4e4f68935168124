/** How deeply JSON text is nested, told before it is parsed. */

/** Arrays and objects within one another that a message may have (rpc-methods 2.5). */
export const MAX_DEPTH = 1000

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Is the text nested deeper than `MAX_DEPTH`? Brackets inside strings do not count; the text need not be valid JSON. */
export function isTooDeep(text: string): boolean {
  // It takes that many characters to open that many brackets: most messages are decided here.
  if (text.length <= MAX_DEPTH) return false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) {
      i = endOfString(text, i + 1)
    } else if (char === 0x5b || char === 0x7b) {
      depth++
      if (depth > MAX_DEPTH) return true
    } else if (char === 0x5d || char === 0x7d) {
      depth--
    }
  }
  return false
}

/** Index of the quote that ends the string whose text starts at `start`, or the length when none does. */
function endOfString(text: string, start: number): number {
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
