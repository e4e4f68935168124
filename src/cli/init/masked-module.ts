/** The text of a JavaScript or TypeScript module without what looks like code and is none. */
import jsTokens from 'js-tokens'

const blank = (text: string) => text.replace(/[^\r\n]/g, ' ')

/** A module's text, with spaces for what is left out, so that positions are those of the text. */
export interface MaskedModule {
  /** Without comments. */
  readonly code: string
  /** Without comments and the content of strings, templates and regular expressions. */
  readonly structure: string
}

/** Masks a module; one that is malformed is masked as far as its tokens are known. */
export function maskModule(text: string): MaskedModule {
  const tokens = [...jsTokens(text)]
  const masked = (isMasked: RegExp) =>
    tokens.map(({ type, value }) => (isMasked.test(type) ? blank(value) : value)).join('')
  return {
    code: masked(/Comment$/),
    structure: masked(/Comment$|^StringLiteral$|Template|^RegularExpressionLiteral$/),
  }
}

/** How many brackets are open at a position of a structure. */
export function depthAt(structure: string, position: number): number {
  let depth = 0
  for (const character of structure.slice(0, position)) {
    if ('([{'.includes(character)) depth++
    if (')]}'.includes(character)) depth--
  }
  return depth
}
