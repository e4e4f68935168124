/** Errors of Bitcoin Core's JSON-RPC, with its codes. */

/** Bitcoin Core's codes, by what they are for. */
export const CODE = {
  MISC: -1,
  TYPE: -3,
  WALLET: -4,
  ADDRESS_OR_KEY: -5,
  INSUFFICIENT_FUNDS: -6,
  PARAMETER: -8,
  LABEL: -11,
  WALLET_UNLOCK_NEEDED: -13,
  PASSPHRASE: -14,
  ENCRYPTION_STATE: -15,
  WALLET_NOT_FOUND: -18,
  WALLET_NOT_SPECIFIED: -19,
  DATABASE: -20,
  DESERIALIZATION: -22,
  VERIFY: -25,
  REJECTED: -26,
  ALREADY_IN_CHAIN: -27,
  WARMUP: -28,
  WALLET_EXISTS: -36,
  WALLET_ALREADY_LOADED: -35,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INTERNAL: -32603,
  PARSE: -32700,
} as const

/** A call fails with a code and a message. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
