/** Signatures over typed data (EIP-712, version 4 of the clients' method). */
import type { Hex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'

/**
 * A message, the types that it is made of, and the domain that it is for; whether they fit together is checked when it
 * is hashed.
 */
export interface TypedData {
  /** Fields of each type, in order. Without `EIP712Domain` its fields are those that the domain has. */
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
  readonly primaryType: string
  readonly domain: Readonly<Record<string, unknown>>
  readonly message: Readonly<Record<string, unknown>>
}

/** Longest part of the library's message that an error repeats: it may quote the data. */
const LONGEST_REASON = 200

/** JavaScript's own messages for a value of the wrong type. */
const CODE_MESSAGE = /\b(Type|Range)Error\b|\[object /

function refusal(error: unknown): Error {
  // Such a message, even within the library's, is about code and not about the data.
  const isReason = error instanceof Error && !CODE_MESSAGE.test(`${error.name} ${error.message}`)
  return invalidParams(
    `Invalid typedData: ${isReason ? error.message.slice(0, LONGEST_REASON) : 'types and message do not fit together'}`,
  )
}

/**
 * Loads the library on first use and returns the function that signs: 65 bytes r ‖ s ‖ v, v 27 or 28, the nonce by RFC
 * 6979. Signing throws `invalid-params` when domain or message are not of their types, fields of no type among them.
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
