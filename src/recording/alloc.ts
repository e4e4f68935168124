/** The option `alloc` in a recording: maps stand there as objects, numbers and bytes as text. */
import { z } from 'zod'
import type { GenesisAlloc } from '../chain/genesis.ts'
import { fromHex, type Hex } from '../encoding/hex.ts'

/** Hex of any length. */
export const HexText = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]*$/.test(value))

const Alloc = z.record(
  HexText,
  z.strictObject({
    balance: HexText.optional(),
    nonce: HexText.optional(),
    code: HexText.optional(),
    /** Slots in decimal. */
    storage: z.record(z.string().regex(/^[0-9]+$/), HexText).optional(),
  }),
)

/** The accounts of a recording's header. Throws `ZodError`. */
export function readAlloc(recorded: unknown): GenesisAlloc {
  return new Map(
    Object.entries(Alloc.parse(recorded)).map(([address, { balance, nonce, code, storage }]) => [
      address as Hex,
      {
        ...(balance !== undefined && { balance: BigInt(balance) }),
        ...(nonce !== undefined && { nonce: BigInt(nonce) }),
        ...(code !== undefined && { code: fromHex(code) }),
        ...(storage !== undefined && {
          storage: new Map(
            Object.entries(storage).map(([slot, value]) => [BigInt(slot), BigInt(value)] as const),
          ),
        }),
      },
    ]),
  )
}

/** The same accounts as an expression of JavaScript. Throws `ZodError`. */
export function allocSource(recorded: unknown): string {
  const entries = [...readAlloc(recorded)].map(([address, { balance, nonce, code, storage }]) => {
    const members = [
      balance !== undefined && `balance: ${balance}n`,
      nonce !== undefined && `nonce: ${nonce}n`,
      code !== undefined && `code: Buffer.from('${Buffer.from(code).toString('hex')}', 'hex')`,
      storage &&
        `storage: new Map([${[...storage].map(([slot, value]) => `[${slot}n, ${value}n]`).join(', ')}])`,
    ]
    return `['${address}', { ${members.filter((member) => member).join(', ')} }]`
  })
  return `new Map([${entries.join(', ')}])`
}
