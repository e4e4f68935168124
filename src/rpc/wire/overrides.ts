/**
 * The state override set of `eth_call` (docs/rpc-reference.md#74-calls-and-estimates); every refusal names
 * the field.
 */
import { z } from 'zod'
import { fromHex, type Hex, isHexDigits } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { AccountOverride, StateOverrides } from '../../execution/request.ts'
import type { Parameter } from '../method.ts'
import { Address, refuse } from './scalars.ts'

const MAX_WORD = (1n << 256n) - 1n
const MAX_NONCE = (1n << 63n) - 1n

function members(value: unknown, field: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(field, 'an object')
  return Object.entries(value)
}

/** An unsigned integer in `0x` hex; decimal text is refused, as the chain's nodes do here. */
function readNumber(value: unknown, field: string, maximum: bigint): bigint {
  const fits = typeof value === 'string' && value.length <= 66 && /^0x[0-9a-fA-F]+$/.test(value)
  const number = fits ? BigInt(value) : -1n
  if (number < 0n || number > maximum) refuse(field, 'a hex number with 0x, within range')
  return number
}

function readCode(value: unknown, field: string): Uint8Array {
  if (typeof value !== 'string') refuse(field, 'hex text')
  const digits = value.startsWith('0x') ? value.slice(2) : value
  if (!isHexDigits(digits)) refuse(field, 'hex text')
  return fromHex(digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`)
}

/** A storage slot or word of at most 32 bytes; `0x` is optional, a short one counts as padded on the left. */
function readWord(value: unknown, field: string): bigint {
  const digits = typeof value === 'string' ? value.replace(/^0x/, '') : ''
  if (!/^[0-9a-fA-F]{1,64}$/.test(digits)) refuse(field, 'at most 32 bytes in hex')
  return BigInt(`0x${digits}`)
}

function readStorage(value: unknown, field: string): ReadonlyMap<bigint, bigint> {
  const words = members(value, field).map(
    ([slot, word]) => [readWord(slot, `${field} slot ${slot}`), readWord(word, `${field}.${slot}`)] as const,
  )
  return new Map(words)
}

function readAccount(value: unknown, field: string): AccountOverride {
  const given = new Map(members(value, field).filter(([, member]) => member !== undefined && member !== null))
  if (given.has('movePrecompileToAddress')) {
    throw new NodeError('invalid-params', `${field}.movePrecompileToAddress is not supported`)
  }
  if (given.has('state') && given.has('stateDiff')) {
    throw new NodeError(
      'invalid-params',
      `${field}.state and ${field}.stateDiff cannot be set at the same time`,
    )
  }
  const read = <T>(key: string, reader: (member: unknown, field: string) => T): T | undefined =>
    given.has(key) ? reader(given.get(key), `${field}.${key}`) : undefined
  const balance = read('balance', (member, name) => readNumber(member, name, MAX_WORD))
  const nonce = read('nonce', (member, name) => readNumber(member, name, MAX_NONCE))
  const code = read('code', readCode)
  const state = read('state', readStorage)
  const stateDiff = read('stateDiff', readStorage)
  return {
    ...(balance !== undefined && { balance }),
    ...(nonce !== undefined && { nonce }),
    ...(code !== undefined && { code }),
    ...(state !== undefined && { state }),
    ...(stateDiff !== undefined && { stateDiff }),
  }
}

const words = z.record(z.string(), z.string())

/** Accounts to pretend, in the order sent; null members count as absent, unknown ones are ignored. */
export const OverrideSet: Parameter<StateOverrides> = {
  schema: z.record(
    z.string().describe('ADDRESS'),
    z.object({
      balance: z.string().optional(),
      nonce: z.string().optional(),
      code: z.string().optional(),
      state: words.optional(),
      stateDiff: words.optional(),
    }),
  ),
  read(value, name) {
    const accounts = new Map<Hex, AccountOverride>()
    for (const [key, account] of members(value, name)) {
      const digits = key.replace(/^0x/, '')
      if (digits.length !== 40 || !isHexDigits(digits)) refuse(`${name} key ${key}`, 'an address')
      accounts.set(Address.read(key, name), readAccount(account, `${name}.${key}`))
    }
    return accounts
  },
}
