/** What every byte that leaves a node must be free of. */
import { expect } from 'vitest'

/** Marks of a stack trace, of a file of ours or of Node, and of messages that only a bug produces. */
const LEAKS = [
  /\bat (async )?[\w.<>[\] ]+ \((file:|node:|\/)/,
  /\bnode:internal\b/,
  /\bfile:\/\//,
  /\bnode_modules\b/,
  /\/[\w./-]+\.[cm]?[jt]s\b/,
  /[cm]?[jt]s:\d+:\d+/,
  /Cannot (read|mix|destructure) /,
  /is not (a function|iterable|defined)/,
  /Maximum call stack/,
  /Invalid (string|array|typed array) length/,
  /\[object \w+\]/,
]

/** Most characters of a refusal: it may repeat a little of what was sent, not all of it. */
const LONGEST_MESSAGE = 600

/** The first mark of a leak in a text; undefined in one that is fit to be sent. */
export function leakIn(text: string): string | undefined {
  for (const mark of LEAKS) {
    const [found] = mark.exec(text) ?? []
    if (found !== undefined) return found
  }
  return undefined
}

/** Why a reply is not fit for a hostile caller: a failure of ours, a leak, an endless refusal. */
export function faultOf(text: string): string | undefined {
  const leak = leakIn(text)
  if (leak !== undefined) return `leaks ${leak}`
  for (const reply of [JSON.parse(text)].flat(9)) {
    const { jsonrpc, id, result, error } = reply
    if (jsonrpc !== '2.0' || id === undefined) return 'is no reply'
    if ((error === undefined) === (result === undefined)) return 'has not one of result and error'
    if (error === undefined) continue
    if (error.code === -32603) return 'reports an internal error'
    if (typeof error.message !== 'string' || error.message === '') return 'has no message'
    if (error.message.length > LONGEST_MESSAGE) return `repeats ${error.message.length} characters`
  }
  return undefined
}

/** Fails the test when `Object.prototype`, or that of another kind, has been given members. */
export function expectCleanPrototypes(): void {
  for (const { prototype } of [Object, Array, Function, String, Number, Map, Promise]) {
    expect(Object.keys(prototype)).toEqual([])
  }
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
}
