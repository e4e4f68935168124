/** Base58 with a four-byte checksum, the text form of addresses and extended keys on the parent chain. */
import { concat, equal, fromBigInt } from './bytes.ts'
import { doubleSha256 } from './hash.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const CHECKSUM_LENGTH = 4

/** Payload and checksum in base 58; a leading zero byte is a leading `1`. Quadratic, meant for a hundred bytes. */
export function encodeBase58Check(payload: Uint8Array): string {
  const bytes = concat(payload, doubleSha256(payload).subarray(0, CHECKSUM_LENGTH))
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (; value > 0n; value /= 58n) text = (ALPHABET[Number(value % 58n)] as string) + text
  let zeros = 0
  while (bytes[zeros] === 0) zeros++
  return '1'.repeat(zeros) + text
}

/** The payload; throws a RangeError on a foreign character or a wrong checksum. Bound the text's length before calling. */
export function decodeBase58Check(text: string): Uint8Array {
  let value = 0n
  for (const character of text) {
    const digit = ALPHABET.indexOf(character)
    if (digit < 0) throw new RangeError(`${JSON.stringify(character)} is not a base58 digit`)
    value = value * 58n + BigInt(digit)
  }
  let zeros = 0
  while (text[zeros] === '1') zeros++
  const bytes = concat(new Uint8Array(zeros), fromBigInt(value))
  const payload = bytes.subarray(0, Math.max(bytes.length - CHECKSUM_LENGTH, 0))
  const checksum = bytes.subarray(payload.length)
  if (!equal(checksum, doubleSha256(payload).subarray(0, CHECKSUM_LENGTH))) {
    throw new RangeError('the base58 checksum does not match')
  }
  return payload
}
