/** Bech32 and Bech32m, the text forms of witness programs (BIP-173, BIP-350). */
import { bech32, bech32m } from '@scure/base'

/** Longest text of an address. */
const MAX_TEXT = 90

/** A text form: version 0 of witness programs has the first, later ones the second. */
export type Bech32Form = 'bech32' | 'bech32m'

const CODECS = { bech32, bech32m }

/** What a text holds. */
export interface Bech32Parts {
  readonly prefix: string
  readonly version: number
  readonly program: Uint8Array
}

/** Text of a version and the program after it. */
export function encodeBech32({ prefix, version, program }: Bech32Parts, form: Bech32Form): string {
  const { encode, toWords } = CODECS[form]
  return encode(prefix, [version, ...toWords(program)])
}

/** What a text of this form holds; throws a RangeError when it is none. */
export function decodeBech32(text: string, form: Bech32Form): Bech32Parts {
  const { decodeUnsafe, fromWordsUnsafe } = CODECS[form]
  const decoded = text.length > MAX_TEXT ? undefined : decodeUnsafe(text)
  const [version, ...words] = decoded?.words ?? []
  const program = fromWordsUnsafe(words)
  if (decoded === undefined || version === undefined || !(program instanceof Uint8Array))
    throw new RangeError(`not ${form}`)
  return { prefix: decoded.prefix, version, program }
}
