/**
 * A private key under a passphrase: the keystore format, version 3, that geth and the client libraries read and write.
 * `micro-eth-signer/keystore.js` has the format too, but derives on the main thread: 2.0 s of it for a key at the standard
 * cost, where `node:crypto` takes 1.0 s of another thread (Node 20).
 */
import {
  createCipheriv,
  createDecipheriv,
  pbkdf2,
  randomBytes,
  randomUUID,
  scrypt,
  timingSafeEqual,
} from 'node:crypto'
import { promisify } from 'node:util'
import { z } from 'zod'
import { concat } from '../../encoding/bytes.ts'
import { keccak256 } from '../../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../encoding/hex.ts'

/** Parameters of scrypt (RFC 7914). Memory is 128 × n × r bytes. */
export interface Cost {
  readonly n: number
  readonly r: number
  readonly p: number
}

/** About a third of a second and 128 MiB per derivation; the parameters of ethers, half of geth's. */
export const STANDARD_COST: Cost = { n: 131_072, r: 8, p: 1 }

/** About ten milliseconds and 4 MiB: the light parameters of geth, for keys that never leave memory. */
export const MEMORY_COST: Cost = { n: 4096, r: 8, p: 1 }

/** Limits on the key derivation that a foreign file may request, in bytes and rounds. */
const MAX_MEMORY = 512 * 1024 * 1024
const MAX_WORK = 2 ** 24
const MAX_ROUNDS = 2 ** 22

const CIPHER = 'aes-128-ctr'

function hexOf(bytes?: number) {
  const digits =
    bytes === undefined ? /^(0x)?([0-9a-f]{2})+$/i : new RegExp(`^(0x)?[0-9a-f]{${2 * bytes}}$`, 'i')
  return z.string().regex(digits)
}

const positive = z.int().positive()
const scryptParameters = z
  .object({ n: positive, r: positive, p: positive, dklen: z.literal(32), salt: hexOf() })
  .refine(
    ({ n, r, p }) =>
      n > 1 &&
      (n & (n - 1)) === 0 &&
      Math.log2(n) < 16 * r && // RFC 7914, section 6
      128 * n * r <= MAX_MEMORY &&
      n * r * p <= MAX_WORK,
  )
const pbkdf2Parameters = z.object({
  c: positive.max(MAX_ROUNDS),
  prf: z.literal('hmac-sha256'),
  dklen: z.literal(32),
  salt: hexOf(),
})
const keyDerivation = z.discriminatedUnion('kdf', [
  z.object({ kdf: z.literal('scrypt'), kdfparams: scryptParameters }),
  z.object({ kdf: z.literal('pbkdf2'), kdfparams: pbkdf2Parameters }),
])
const encryptedKey = z.object({
  version: z.literal(3),
  id: z.string(),
  address: hexOf(20),
  crypto: z.intersection(
    z.object({
      cipher: z.literal(CIPHER),
      cipherparams: z.object({ iv: hexOf(16) }),
      ciphertext: hexOf(32),
      mac: hexOf(32),
    }),
    keyDerivation,
  ),
})

/** The parsed content of a key file. */
export type EncryptedKey = z.infer<typeof encryptedKey>

/** Parses a key file; `undefined` when it is not of version 3, or its key derivation exceeds the limits. */
export function parseEncryptedKey(text: string): EncryptedKey | undefined {
  try {
    const { Crypto, ...rest } = JSON.parse(text)
    // Some libraries write `Crypto` with a capital letter.
    return encryptedKey.safeParse(Crypto === undefined ? rest : { ...rest, crypto: Crypto }).data
  } catch {
    return undefined
  }
}

const bytesOf = (hex: string): Uint8Array => fromHex(hex.startsWith('0x') ? hex : `0x${hex}`)
const digitsOf = (bytes: Uint8Array): string => toHex(bytes).slice(2)

const runScrypt = promisify<string, Uint8Array, number, object, Buffer>(scrypt)
const runPbkdf2 = promisify(pbkdf2)

/** Derives the cipher key (16 bytes) and the MAC key (16 bytes) from a passphrase, off the main thread. */
async function deriveKeys(
  passphrase: string,
  { kdf, kdfparams }: z.infer<typeof keyDerivation>,
): Promise<Uint8Array> {
  const salt = bytesOf(kdfparams.salt)
  if (kdf === 'pbkdf2') return runPbkdf2(passphrase, salt, kdfparams.c, 32, 'sha256')
  const { n: N, r, p } = kdfparams
  return runScrypt(passphrase, salt, 32, { N, r, p, maxmem: MAX_MEMORY * 2 })
}

const macOf = (derived: Uint8Array, ciphertext: Uint8Array): Uint8Array =>
  keccak256(concat(derived.subarray(16), ciphertext))

/** Encrypts the 32-byte key of an address with a random salt and IV. */
export async function encryptKey(
  key: Uint8Array,
  address: Hex,
  passphrase: string,
  cost: Cost,
): Promise<EncryptedKey> {
  const iv = randomBytes(16)
  const parameters = {
    cipher: CIPHER,
    cipherparams: { iv: digitsOf(iv) },
    kdf: 'scrypt',
    kdfparams: { ...cost, dklen: 32, salt: digitsOf(randomBytes(32)) },
  } as const
  const derived = await deriveKeys(passphrase, parameters)
  const cipher = createCipheriv(CIPHER, derived.subarray(0, 16), iv)
  const ciphertext = concat(cipher.update(key), cipher.final())
  const mac = macOf(derived, ciphertext)
  return {
    version: 3,
    id: randomUUID(),
    address: address.slice(2),
    crypto: { ...parameters, ciphertext: digitsOf(ciphertext), mac: digitsOf(mac) },
  }
}

/** The 32-byte key, or `undefined` when the passphrase is wrong; both take the same time. */
export async function decryptKey(
  { crypto }: EncryptedKey,
  passphrase: string,
): Promise<Uint8Array | undefined> {
  const ciphertext = bytesOf(crypto.ciphertext)
  const derived = await deriveKeys(passphrase, crypto)
  if (!timingSafeEqual(macOf(derived, ciphertext), bytesOf(crypto.mac))) return undefined
  const cipher = createDecipheriv(CIPHER, derived.subarray(0, 16), bytesOf(crypto.cipherparams.iv))
  return concat(cipher.update(ciphertext), cipher.final())
}

/** The address in a key file; not verified against the key. */
export function addressOfEncrypted({ address }: EncryptedKey): Hex {
  return toHex(bytesOf(address))
}
