/** Signatures over typed data (EIP-712, version 4 of the clients' method). */
import type { Hex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'

/** A message, the types that it is made of, and the domain that it is for; whether they fit is seen when it is hashed. */
export interface TypedData {
  /** Fields of each type, in order. Without `EIP712Domain` its fields are those that the domain has. */
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
  readonly primaryType: string
  readonly domain: Readonly<Record<string, unknown>>
  readonly message: Readonly<Record<string, unknown>>
}

/** Longest part of the library's words that a refusal repeats: they may quote the data. */
const LONGEST_REASON = 200

/** What JavaScript says where a value is of another type than its type. */
const CODE_WORDS = /\b(Type|Range)Error\b|\[object /

function refusal(error: unknown): Error {
  // That, as it is or within the library's words, speaks of code and not of the data.
  const isWords = error instanceof Error && !CODE_WORDS.test(`${error.name} ${error.message}`)
  return invalidParams(
    `Invalid typedData: ${isWords ? error.message.slice(0, LONGEST_REASON) : 'types and message do not fit muxTracers'}`,
  )
}

/**
 * Loads the library on first use and gives what signs: 65 bytes r ‖ s ‖ v, v 27 or 28, the nonce by RFC 6979.
 * Signing throws `invalid-params` when domain or message are not of their types, fields of no type among them.
 */
export async function loadTypedDataSigner(): Promise<(typedData: TypedData, key: Uint8Array) => Hex> {
  const { signTyped } = await import('micro-eth-signer')
  return (typedData, key) => {
    try {
      return signTyped(typedData as Parameters<typeof signTyped>[0], key, false) as Hex
    } catch (error) {
      throw refusal(error)
    }
  }
}
