/** The form of an API key, and its hash, which is all that is stored. */
import { createHash, randomBytes } from 'node:crypto'

/** The prefix lets scanners for leaked secrets find a key; the rest is 256 random bits in base64url. */
const PREFIX = 'tandem_'
const FORM = /^tandem_[A-Za-z0-9_-]{43}$/
/** Hashed in place of a malformed key, so that every refusal takes the same time. */
const STAND_IN = `${PREFIX}${'A'.repeat(43)}`

/** Generates a key. */
export function generateKey(): string {
  return PREFIX + randomBytes(32).toString('base64url')
}

/** SHA-256 of a key. A random key of 256 bits needs neither salt nor a slow hash. */
export function hashOfKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/**
 * The hash of the key that is the last segment of a path (docs/internals/rpc-reference.md#10-hosted-profile); the hash of a
 * stand-in and `wellFormed: false` for any other segment. No percent-decoding: a key has no character that needs it.
 */
export function keyHashIn(path: string): { readonly hash: Buffer; readonly wellFormed: boolean } {
  const segment = path.slice(path.lastIndexOf('/') + 1)
  const wellFormed = FORM.test(segment)
  return { hash: hashOfKey(wellFormed ? segment : STAND_IN), wellFormed }
}
