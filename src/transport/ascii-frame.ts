/** The WebSocket frame of a short text, as one string, so that it is written in one piece (RFC 6455, section 5.2). */

/** FIN, and the opcode of a text. */
const WHOLE_TEXT = 0x81
/** From this many bytes on the length has 16 bits, and this marks it. */
const LONG = 126
/** The largest length of 16 bits. */
const MOST = 0xffff

/**
 * The message as a server sends it, unmasked and uncompressed, in Latin-1: a character a byte. `undefined` for a text
 * that is not of ASCII alone, or has more than 65,535 bytes.
 */
export function asciiFrame(text: string): string | undefined {
  const { length } = text
  if (length > MOST || Buffer.byteLength(text) !== length) return undefined
  const header =
    length < LONG
      ? String.fromCharCode(WHOLE_TEXT, length)
      : String.fromCharCode(WHOLE_TEXT, LONG, length >> 8, length & 0xff)
  return header + text
}
