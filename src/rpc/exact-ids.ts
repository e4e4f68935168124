/** Ids of requests that a JavaScript number cannot hold, digit for digit (docs/internals/rpc-reference.md#23-request-id). */
import { endOfString } from '../encoding/json-complexity.ts'
import { RawJson, rawJson } from './raw-json.ts'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

const isInexact = (id: unknown): boolean => typeof id === 'number' && !Number.isSafeInteger(id)

/** Does a parsed message hold a request whose id may have lost digits? */
export function hasInexactId(message: unknown): boolean {
  if (Array.isArray(message)) return message.some(hasInexactId)
  return isObject(message) && isInexact(message.id)
}

/** Integers of fewer digits are exact. */
const MIN_DIGITS = 16
/** Ids of more digits are returned as JavaScript parses them, so that a reply does not repeat long text of its request. */
const MAX_DIGITS = 256
const NUMBER = /-?\d[\d.eE+-]*/y

/** JSON text with each long integer wrapped in an array, as text. */
function wrapIntegers(text: string): string {
  const parts: string[] = []
  let copied = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') {
      i = endOfString(text, i + 1)
      continue
    }
    NUMBER.lastIndex = i
    const [number] = NUMBER.exec(text) ?? []
    if (number === undefined) continue
    if (number.length >= MIN_DIGITS && number.length <= MAX_DIGITS && /^-?\d+$/.test(number)) {
      parts.push(text.slice(copied, i), `["${number}"]`)
      copied = i + number.length
    }
    i += number.length - 1
  }
  parts.push(text.slice(copied))
  return parts.join('')
}

function restore(message: unknown, exact: unknown): void {
  if (Array.isArray(message)) {
    if (Array.isArray(exact)) for (const [at, entry] of message.entries()) restore(entry, exact[at])
  } else if (isObject(message) && isInexact(message.id)) {
    if (isObject(exact) && Array.isArray(exact.id)) message.id = rawJson(String(exact.id[0]))
  }
}

/**
 * Replaces the ids that lost digits in `message`, the parsed `text`, by their JSON text. For messages with such an id
 * only: the text is parsed a second time, since Node 20 gives no access to the text of a number.
 */
export function restoreIds(message: unknown, text: string): void {
  restore(message, JSON.parse(wrapIntegers(text)))
}

/** Is this the id of a request, whose digits do not fit a number? */
export const isExactId = (id: unknown): id is RawJson => id instanceof RawJson
