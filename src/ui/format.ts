/** Values of the wire as text: amounts, gas, times and shortened hashes. */

/** A `0x` string. */
export type Hex = `0x${string}`

/** Is this a `0x` string? */
export function isHex(value: unknown): value is Hex {
  return typeof value === 'string' && value.startsWith('0x')
}

/** Is the text an address in lower case? */
export function isAddress(text: string): text is Hex {
  return /^0x[0-9a-f]{40}$/.test(text)
}

/** The members of an object that is keyed by hex. */
export function entriesOf<Value>(members: Readonly<Record<Hex, Value>>): [Hex, Value][] {
  // `Object.entries` gives keys the type string.
  return Object.entries(members).filter((entry): entry is [Hex, Value] => isHex(entry[0]))
}

const WEI_DIGITS = 18

/** Digits in groups of three, separated by a narrow space. */
export function grouped(value: bigint | number | string): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f')
}

/** A quantity of the wire. */
export function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

/** A quantity of the wire as a number; 0 for what is absent. */
export function toNumber(quantity: string | number | null | undefined): number {
  return quantity === null || quantity === undefined ? 0 : Number(quantity)
}

/** A quantity of the wire; 0 for what is absent. */
export function toBigInt(quantity: string | number | bigint | null | undefined): bigint {
  return quantity === null || quantity === undefined || quantity === '0x' ? 0n : BigInt(quantity)
}

/** An amount of a token with some decimals, without trailing zeros; a remainder below `digits` decimals is cut off. */
export function units(amount: bigint, decimals: number, digits: number = decimals): string {
  const sign = amount < 0n ? '\u2212' : ''
  const text = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
  const whole = text.slice(0, text.length - decimals)
  const fraction = text.slice(whole.length).slice(0, digits).replace(/0+$/, '')
  return `${sign}${grouped(whole)}${fraction === '' ? '' : `.${fraction}`}`
}

/** Wei as coins, without trailing zeros; a remainder below `digits` decimals is cut off. */
export function coins(wei: bigint, digits: number = WEI_DIGITS): string {
  return units(wei, WEI_DIGITS, digits)
}

/** The unit of an amount that `coins` has written. */
export function coinUnit(text: string): string {
  return /^\u2212?1$/.test(text) ? 'coin' : 'coins'
}

/** The first and last digits of a hash or address. */
export function shortened(hash: string, digits = 6): string {
  return hash.length <= 2 * digits + 5 ? hash : `${hash.slice(0, 2 + digits)}\u2026${hash.slice(-digits)}`
}

/** A word in hex without leading zeros. */
export function shortWord(word: string): Hex {
  return `0x${word.replace(/^0x/, '').replace(/^0+(?=.)/, '')}`
}

/** Unix seconds as date and time of this machine's zone; a time that is none of a calendar as a number. */
export function dateText(seconds: number): string {
  if (!isCalendarTime(seconds)) return `Time ${grouped(seconds)}`
  return new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** A length of time in its largest unit. */
export function durationText(seconds: number): string {
  const [unit, name] = UNITS.find(([unit]) => seconds >= unit) ?? [1, 's']
  return `${Math.floor(seconds / unit)} ${name}`
}

/** Times before are those of a chain whose clock began at 0, and not of a calendar: 1973-03-03. */
const FIRST_CALENDAR_TIME = 100_000_000

/** Is this a time of a calendar, Unix seconds? */
export function isCalendarTime(seconds: number): boolean {
  return seconds >= FIRST_CALENDAR_TIME
}

/**
 * How long ago a time was, Unix seconds, or how far ahead. A time that is none of a calendar is told from the start of its
 * chain.
 */
export function ageText(seconds: number, now: number): string {
  if (!isCalendarTime(seconds)) return seconds === 0 ? 'at the start' : `${durationText(seconds)} after 0`
  const age = now - seconds
  return age < 0 ? `in ${durationText(-age)}` : `${durationText(age)} ago`
}

/** A part of a whole in percent, with one decimal. */
export function percent(part: bigint | number, whole: bigint | number): string {
  return Number(whole) === 0 || Number(part) === 0
    ? '0 %'
    : `${((100 * Number(part)) / Number(whole)).toFixed(1)} %`
}

/** How many bytes a hex string holds. */
export function byteLength(hex: string): number {
  return Math.max(0, (hex.length - 2) / 2)
}

/** A count and its noun, which gets an s unless the count is one. */
export function counted(count: number | bigint, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 || count === 1n ? '' : 's'}`
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The reason of a failed frame, without the class and the transaction that the reference node's exceptions name. */
export function frameFailureText(error: string): string {
  if (/^(class \S+: )?Not enough gas /.test(error)) return 'out of gas'
  return error.replace(/^class [\w.$]+: /, '').replace(/, tx(: |\[)0x[0-9a-f]*\]?$/, '')
}

/** The reason of a failure without the words that all such messages begin with. */
export function failureText(message: string): string {
  return message.replace(/^VM Exception while processing transaction: /, '')
}
