/** The kinds of values that settings take: how each is checked, described and read from text. */

import { z } from 'zod'
import { LATEST_TIMESTAMP } from '../chain/config.ts'
import { CHAIN_NAMES } from '../chain/consensus-rules.ts'
import type { RuleTable } from '../chain/rule-table.ts'
import { type Hex, lowerCaseHex } from '../encoding/hex.ts'

/** The part of a schema that checks a value; the package's declarations cannot name types of zod, which is bundled. */
export interface ValueSchema<Value, Input> {
  safeParse(value: unknown): { success: true; data: Value } | { success: false }
  readonly _input: Input
}

/** How a value is checked and described, and how the text of a flag or environment variable is read. */
export interface Kind<Value, Input> {
  /** Made when a value is given: most settings keep their defaults. */
  schema(): ValueSchema<Value, Input>
  /** The end of the error message "expects …". */
  readonly expects: string
  /** Texts that a shell offers to complete; other texts may be allowed too. */
  readonly choices?: readonly string[]
  /** Text to a value for `schema`; malformed text is returned as it is, so that `schema` refuses it. */
  fromText(text: string): unknown
}

/** Returns a value as it is. */
export const same = (value: unknown): unknown => value
/** Items of a text, separated by commas or white space. */
export const splitList = (text: string): string[] => text.split(/[\s,]+/).filter((item) => item !== '')

/** True or false. */
export const yesOrNo: Kind<boolean, boolean> = {
  schema: () => z.boolean(),
  expects: 'true or false',
  fromText: (text) => ({ true: true, 1: true, false: false, 0: false })[text.toLowerCase()] ?? text,
}
/** Any text but the empty one. */
export const text: Kind<string, string> = {
  schema: () => z.string().min(1),
  expects: 'a text',
  fromText: same,
}
/** Where a Redis listens; it may hold a password. */
export const redisUrl: Kind<string, string> = {
  schema: () => z.url({ protocol: /^rediss?$/ }),
  expects: 'a URL such as redis://127.0.0.1:6379 or rediss://user:password@host:6379/0',
  fromText: same,
}
/** URLs of NATS servers; they may hold a password. */
export const natsUrls: Kind<string, string> = {
  schema: () => z.string().refine((urls) => urls.split(',').every((url) => NATS_URL.test(url.trim()))),
  expects: 'URLs such as nats://127.0.0.1:4222 or tls://user:password@host:4222, separated by commas',
  fromText: same,
}
const NATS_URL = /^(nats|tls):\/\/[^\s,/]+$/

/** A name that is a part of other names. */
export const word: Kind<string, string> = {
  schema: () => z.string().regex(/^[\w-]{1,32}$/),
  expects: 'up to 32 letters, digits, hyphens and underscores',
  fromText: same,
}
/** BIP-39 words; the word list and checksum are checked when keys are derived. */
export const mnemonic: Kind<string, string> = {
  schema: () =>
    z.string().refine((phrase) => [12, 15, 18, 21, 24].includes(phrase.trim().split(/\s+/).length)),
  expects: '12, 15, 18, 21 or 24 words',
  fromText: same,
}
/** An address, converted to lower case. */
export const address: Kind<Hex, string> = {
  schema: () =>
    z
      .string()
      .regex(/^0x[0-9a-f]{40}$/i)
      .transform((value) => lowerCaseHex(value)),
  expects: 'an address of 20 bytes in hex, with 0x',
  fromText: same,
}

function numberFromText(value: string): unknown {
  return /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

/** A whole number within bounds, both included. */
export function whole(minimum: number, maximum: number): Kind<number, number> {
  return {
    schema: () => z.int().min(minimum).max(maximum),
    expects: `a whole number from ${minimum} to ${maximum}`,
    fromText: numberFromText,
  }
}

/** Gas of a block or message: frames count gas in safe integers. */
export const GAS_BITS = 53

/** Gas or wei: in code a bigint, in JSON a number or text (decimal, or hex with 0x). */
export function quantity(minimum: bigint, bits: number): Kind<bigint, bigint | number | string> {
  return {
    schema: () =>
      z
        .union([z.bigint(), z.int(), z.string().regex(/^(0x[0-9a-f]+|\d+)$/i)])
        .transform((value) => BigInt(value))
        .refine((value) => value >= minimum && value < 1n << BigInt(bits)),
    expects: `a whole number from ${minimum} to 2^${bits} - 1, decimal or hex with 0x`,
    fromText: same,
  }
}

/** One of a few names. */
export function oneOf<const Name extends string>(...names: readonly [Name, ...Name[]]): Kind<Name, Name> {
  return {
    schema: () => z.enum(names),
    expects: `one of ${names.join(', ')}`,
    choices: names,
    fromText: same,
  }
}

/** A shipped network, or the path of a JSON file that defines one. */
export const chainName: Kind<string, string> = {
  schema: () => z.union([z.enum(CHAIN_NAMES), z.string().regex(/\.json$/i)]),
  expects: `one of ${CHAIN_NAMES.join(', ')}, or the path of a JSON file`,
  choices: CHAIN_NAMES,
  fromText: same,
}

/** A list of items of one form. */
export function listOf(item: RegExp, expects: string): Kind<readonly string[], readonly string[]> {
  return { schema: () => z.array(z.string().regex(item)).readonly(), expects, fromText: splitList }
}

/** Some of a few names. */
export function namesOf<const Name extends string>(
  ...names: readonly [Name, ...Name[]]
): Kind<readonly Name[], readonly Name[]> {
  return {
    schema: () => z.array(z.enum(names)).readonly(),
    expects: `names out of ${names.join(', ')}`,
    choices: names,
    fromText: splitList,
  }
}

/** Paths, separated by commas: they may contain spaces. */
export const paths: Kind<readonly string[], readonly string[]> = {
  schema: () => z.array(z.string().min(1)).readonly(),
  expects: 'paths, separated by commas',
  fromText: (value) =>
    value
      .split(',')
      .map((path) => path.trim())
      .filter((path) => path !== ''),
}

/** The name of an upgrade, or heights of rules by name, as JSON in text; null: never. */
export const ruleTable: Kind<string | RuleTable, string | RuleTable> = {
  schema: () => z.union([z.string().regex(/^\w{1,32}$/), z.record(z.string(), z.int().min(0).nullable())]),
  expects: 'the name of an upgrade, next, or JSON with the height of each rule, null for never',
  fromText(value) {
    if (!value.trimStart().startsWith('{')) return value
    try {
      return JSON.parse(value)
    } catch {
      return value
    }
  },
}

/** Longest delay of a timer of Node, milliseconds. */
export const LONGEST_DELAY = 2 ** 31 - 1
/** Longest interval, whole seconds. */
export const LONGEST_INTERVAL = Math.floor(LONGEST_DELAY / 1000)
/** The highest limit of bytes or items. */
export const BYTES = 1_073_741_824

/** Milliseconds by the name of a method or namespace. */
export const timesByName: Kind<Readonly<Record<string, number>>, Readonly<Record<string, number>>> = {
  schema: () =>
    z.record(
      z.string().regex(/^[a-zA-Z0-9]+([._]\w+)?$/),
      z
        .int()
        .min(0)
        .max(LONGEST_INTERVAL * 1000),
    ),
  expects: 'milliseconds by method or namespace, such as eth_call=2000',
  fromText(value) {
    const items = splitList(value).map((item) => item.split('='))
    if (!items.every(([name, time, ...rest]) => name && time && rest.length === 0)) return value
    return Object.fromEntries(items.map(([name, time = '']) => [name, numberFromText(time)]))
  },
}

/** When to mine: `auto`, `manual`, or at an interval of seconds. */
export const mining: Kind<'auto' | 'manual' | number, 'auto' | 'manual' | number> = {
  schema: () =>
    z.union([z.literal('auto'), z.literal('manual'), z.number().min(0.001).max(LONGEST_INTERVAL)]),
  expects: `auto, manual or seconds from 0.001 to ${LONGEST_INTERVAL}`,
  choices: ['auto', 'manual'],
  fromText: numberFromText,
}

/** Highest chain id: V of a signature, up to 36 above twice the id, takes six bytes. */
export const MAX_CHAIN_ID = 2 ** 47 - 19

/** The timestamp of block 0: `now`, or seconds since 1970. */
export const genesisTime: Kind<'now' | number, 'now' | number> = {
  schema: () => z.union([z.literal('now'), z.int().min(0).max(LATEST_TIMESTAMP)]),
  expects: 'now, or whole seconds since 1970',
  fromText: numberFromText,
}

/** A clock that stands still: whether it does, or the time at which it does, in seconds since 1970. */
export const frozenClock: Kind<boolean | number, boolean | number> = {
  schema: () => z.union([z.boolean(), z.int().min(0).max(LATEST_TIMESTAMP)]),
  expects: 'true, false, or whole seconds since 1970',
  fromText: (text) => ({ true: true, false: false })[text.toLowerCase()] ?? numberFromText(text),
}

/** A BIP-32 path such as `m/44'/60'/0'/0/`. */
export const derivationPath: Kind<string, string> = {
  schema: () =>
    z
      .string()
      .regex(/^m(\/\d{1,10}'?)*\/?$/)
      .refine((path) =>
        path.split('/').every((part) => part === 'm' || Number.parseInt(part || '0', 10) < 2 ** 31),
      ),
  expects: "a BIP-32 path such as m/44'/60'/0'/0/",
  fromText: same,
}
