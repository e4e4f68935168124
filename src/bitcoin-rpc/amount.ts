/** Amounts of satoshi as Bitcoin Core's JSON has them: coins, as a number with eight decimals. */
import { COIN } from '../bitcoin/chain/regtest.ts'
import { MAX_MONEY } from '../bitcoin/transaction.ts'
import { CODE, RpcFailure } from './rpc-failure.ts'

const DECIMALS = 8

/** An amount in a result. */
export class Amount {
  readonly satoshi: bigint

  constructor(satoshi: bigint) {
    this.satoshi = satoshi
  }

  /** `0.10000000`. */
  toString(): string {
    const { satoshi } = this
    const absolute = satoshi < 0n ? -satoshi : satoshi
    const decimals = String(absolute % COIN).padStart(DECIMALS, '0')
    return `${satoshi < 0n ? '-' : ''}${absolute / COIN}.${decimals}`
  }
}

function satoshiOfText(text: string): bigint | undefined {
  const [, sign = '', whole = '', decimals = ''] = /^(-?)(\d{1,10})(?:\.(\d{1,8})0*)?$/.exec(text) ?? []
  if (whole === '') return undefined
  const value = BigInt(whole) * COIN + BigInt(decimals.padEnd(DECIMALS, '0'))
  return sign === '' ? value : -value
}

/** The decimals of a number, when eight are enough to write it. */
function textOfNumber(value: number): string {
  const text = value.toFixed(DECIMALS)
  return Number(text) === value ? text : ''
}

/** Satoshi of coins as a number or a text. Throws a failure with code -3. */
export function satoshiOf(value: number | string): bigint {
  const satoshi = satoshiOfText(typeof value === 'string' ? value : textOfNumber(value))
  if (satoshi === undefined) throw new RpcFailure(CODE.TYPE, 'Invalid amount')
  if (satoshi < 0n || satoshi > MAX_MONEY) throw new RpcFailure(CODE.TYPE, 'Amount out of range')
  return satoshi
}

/** JSON of a result: as `JSON.stringify` writes it, with amounts as numbers of eight decimals. */
export function writeJson(value: unknown): string {
  if (value instanceof Amount) return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  // Texts grow in place: lists of all parts are three times as slow for transactions of ten thousands of inputs.
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${writeJson(item ?? null)}`
    return `[${text}]`
  }
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${writeJson(member)}`
  }
  return `{${text}}`
}
