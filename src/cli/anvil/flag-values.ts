/** What the flags of `tandem anvil` set, and how their values are read. */

import { type Hex, lowerCaseHex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { NODE_SETTINGS, NodeOptions, ServeOptions } from '../../options/options.ts'
import type { StateFiles } from '../state-files.ts'
import { WEI_PER_COIN } from '../terminal-text.ts'

/** What a run of the command is set up with. Every member is absent until a flag sets it. */
export interface AnvilSettings {
  node: { -readonly [K in keyof NodeOptions]: NodeOptions[K] }
  serve: { -readonly [K in keyof ServeOptions]: ServeOptions[K] }
  /** Prints no line at all. */
  silent: boolean
  quiet: boolean
  verbose: boolean
  json: boolean
  autoImpersonate: boolean
  printsConsole: boolean
  printsTraces: boolean
  configOut: string | undefined
  /** Words of a mnemonic to make at random. */
  randomWords: number | undefined
  mnemonicSeed: string | undefined
  /** Balances in wei of further accounts. */
  funded: Map<Hex, bigint | undefined>
  /** A genesis file. */
  init: string | undefined
  loadState: StateFiles['load']
  dumpState: string | undefined
  /** Seconds. */
  stateInterval: number | undefined
  /** Warnings to print before the first line; the node starts nevertheless. */
  warnings: string[]
}

/** One flag: as commander declares it, other spellings, and its effect. */
export interface Flag {
  readonly flags: string
  readonly help: string
  readonly aliases?: readonly string[]
  /** It may be given several times; its values are joined by line breaks. */
  readonly repeatable?: true
  /** The secret setting that its value contains. */
  readonly holds?: keyof typeof NODE_SETTINGS
  apply(value: string, settings: AnvilSettings, flag: string): void
}

/** The error for a flag that cannot be followed. */
export function refused(flag: string, reason: string): NodeError {
  return new NodeError('invalid-options', `${flag} is not supported: ${reason}.`)
}

/** The error for two flags that exclude each other. */
export function contradicting(first: string, second: string): NodeError {
  return new NodeError('invalid-options', `${first} and ${second} contradict each other: give one of them.`)
}

/** A whole number, decimal or hex. Throws `invalid-options`. */
export function number(
  value: string,
  flag: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER } = {},
): number {
  const parsed = /^(0x[0-9a-f]+|\d+)$/i.test(value) ? Number(value) : Number.NaN
  if (Number.isInteger(parsed) && parsed >= least && parsed <= most) return parsed
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`
  throw new NodeError('invalid-options', `${flag} expects a whole number ${range}, not "${value}".`)
}

/** Coins to wei, with up to 18 decimals. Throws `invalid-options`. */
export function coins(value: string, flag: string): bigint {
  const [, whole = '', part = ''] = /^(\d+)(?:\.(\d{1,18}))?$/.exec(value) ?? []
  if (whole === '')
    throw new NodeError('invalid-options', `${flag} expects an amount of coins, not "${value}".`)
  return BigInt(whole) * WEI_PER_COIN + BigInt(part.padEnd(18, '0'))
}

function address(value: string, flag: string): Hex {
  if (/^0x[0-9a-f]{40}$/i.test(value)) return lowerCaseHex(value)
  throw new NodeError(
    'invalid-options',
    `${flag} expects addresses of 20 bytes in hex, with 0x, not "${value}".`,
  )
}

/** Ethereum's forks up to the one whose opcodes the chain has. */
const KNOWN_FORKS =
  'frontier homestead dao tangerine spuriousdragon byzantium constantinople petersburg istanbul muirglacier berlin london arrowglacier grayglacier paris shanghai cancun latest'

/** Takes the forks that the chain's rules cover, with a warning for older ones. Throws `invalid-options`. */
export function hardfork(value: string, { warnings }: AnvilSettings): void {
  const name = value.toLowerCase()
  if (name === 'cancun' || name === 'latest') return
  if (!KNOWN_FORKS.split(' ').includes(name)) {
    throw refused(`--hardfork ${value}`, 'this chain has one set of rules, with the opcodes of cancun')
  }
  warnings.push(
    `Warning: --hardfork ${name} changes nothing: this chain has one set of rules, with the opcodes of cancun`,
  )
}

/** Reads `address` and `address:coins`, separated by commas. Throws `invalid-options`. */
export function fund(value: string, { funded }: AnvilSettings, flag: string): void {
  for (const entry of value.split(',')) {
    const [account = '', amount] = entry.trim().split(':')
    funded.set(address(account, flag), amount === undefined ? undefined : coins(amount, flag))
  }
}
