/** Base58 with a four-byte checksum, the text form of addresses and extended keys on the parent chain. */
import { createBase58check } from '@scure/base'
import { sha256 } from './hash.ts'

const codec = createBase58check(sha256)

/** Payload and checksum in base 58; a leading zero byte is a leading `1`. Quadratic, meant for a hundred bytes. */
export const encodeBase58Check = (payload: Uint8Array): string => codec.encode(payload)

/** The payload; throws an Error on a foreign character or a wrong checksum. Bound the text's length before calling. */
export const decodeBase58Check = (text: string): Uint8Array => codec.decode(text)
