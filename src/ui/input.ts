/** Values that users type: addresses, amounts, whole numbers. Each reader throws an Error with a message for the user. */
import { type Hex, isAddress, quantity } from './format.ts'

const COIN_DIGITS = 18
const WORD_DIGITS = 64

/** The address in a text. Throws an Error with a message for the user. */
export function addressOf(text: string): Hex {
  const address = text.trim().toLowerCase()
  if (!isAddress(address)) throw new Error('Expected an address: 0x and 40 hex digits')
  return address
}

/** Coins as wei; empty is none. Throws an Error with a message for the user. */
export function weiOf(text: string): bigint {
  const plain = text.replace(/[\s_\u202f]/g, '')
  if (plain === '') return 0n
  const match = /^(\d+)(?:\.(\d{0,18}))?$/.exec(plain)
  if (match === null) throw new Error('Expected an amount of coins, such as 1.5')
  return BigInt(`${match[1]}${(match[2] ?? '').padEnd(COIN_DIGITS, '0')}`)
}

/** A whole number: decimal, hex, or with a decimal exponent, such as `1.5e18`; `undefined` for any other text. */
export function integerOf(text: string): bigint | undefined {
  const plain = text.replace(/[_\s]/g, '')
  if (/^-?(\d+|0x[0-9a-f]+)$/i.test(plain)) {
    return plain.startsWith('-') ? -BigInt(plain.slice(1)) : BigInt(plain)
  }
  const match = /^(-?)(\d+)(?:\.(\d+))?e\+?(\d{1,2})$/i.exec(plain)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent] = match
  const zeros = Number(exponent) - fraction.length
  if (zeros < 0) return undefined
  const value = BigInt(whole + fraction) * 10n ** BigInt(zeros)
  return sign === '-' ? -value : value
}

/** A whole number that is not negative and has at most 256 bits. Throws an Error with a message for the user. */
export function amountOf(text: string): bigint {
  const value = integerOf(text)
  if (value === undefined || value < 0n || value >= 1n << 256n) {
    throw new Error('Expected a whole number, decimal or hex')
  }
  return value
}

/** A whole number as a quantity of the wire. Throws an Error with a message for the user. */
export function quantityOf(text: string): Hex {
  return quantity(amountOf(text))
}

/** A whole number that a JSON number holds. Throws an Error with a message for the user. */
export function countOf(text: string): number {
  const value = amountOf(text)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('Expected a smaller number')
  return Number(value)
}

/** A whole number, or a word in hex, as a word of 32 bytes. Throws an Error with a message for the user. */
export function wordOf(text: string): Hex {
  return `0x${amountOf(text).toString(16).padStart(WORD_DIGITS, '0')}`
}

const BLOCK_TAGS: ReadonlySet<string> = new Set(['latest', 'earliest', 'pending', 'safe', 'finalized'])

/** A block as the wire names it: a height, a hash, or a tag; empty is the latest. Throws an Error with a message for the user. */
export function blockOf(text: string): string {
  const plain = text.trim().toLowerCase().replace(/^#/, '')
  if (plain === '') return 'latest'
  if (BLOCK_TAGS.has(plain) || /^0x[0-9a-f]{64}$/.test(plain)) return plain
  const height = integerOf(plain)
  if (height === undefined || height < 0n) throw new Error('Expected a block: its height, hash or tag')
  return quantity(height)
}

/** Bytes in hex, in lower case. Throws an Error with a message for the user. */
export function bytesOf(text: string): Hex {
  const plain = text.replace(/\s/g, '').toLowerCase()
  if (!/^0x(?:[0-9a-f]{2})*$/.test(plain)) throw new Error('Expected bytes: 0x and two hex digits a byte')
  return `0x${plain.slice(2)}`
}
