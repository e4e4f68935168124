/** What an operator does with keys: make one, replace one, end one. Pure: from the keys there are to those there will be. */
import { NodeError } from '../../errors.ts'
import { hashOfKey } from './api-key.ts'
import { KeyRecord } from './key-record.ts'

/** What a new key is given, checked here. */
export type NewKey = Omit<KeyRecord, 'hash' | 'created' | 'previous' | 'revoked'>

function refused(message: string): NodeError {
  return new NodeError('invalid-options', message)
}

const hexHash = (key: string): string => hashOfKey(key).toString('hex')

/** Adds a key. Throws `invalid-options` for a malformed member, and for a name that a living key has. */
export function addKey(keys: readonly KeyRecord[], given: NewKey, key: string, now: Date): KeyRecord[] {
  const outcome = KeyRecord.safeParse({ ...given, hash: hexHash(key), created: now.toISOString() })
  if (!outcome.success) {
    const [issue] = outcome.error.issues
    throw refused(`The key's ${issue?.path[0]?.toString() ?? 'record'} is malformed: ${issue?.message}.`)
  }
  const namesake = keys.find(({ name }) => name === given.name)
  if (namesake !== undefined && namesake.revoked === undefined) {
    throw refused(`There is a key "${given.name}" already: rotate or revoke it.`)
  }
  return [...keys.filter((record) => record !== namesake), outcome.data]
}

function changeOne(
  keys: readonly KeyRecord[],
  name: string,
  change: (record: KeyRecord) => KeyRecord,
): KeyRecord[] {
  const found = keys.find((record) => record.name === name)
  if (found === undefined) throw refused(`There is no key "${name}".`)
  if (found.revoked !== undefined) throw refused(`The key "${name}" is revoked already.`)
  return keys.map((record) => (record === found ? change(record) : record))
}

/** Ends a key, and the one that it replaced. Throws `invalid-options` when there is no living one of the name. */
export function revokeKey(keys: readonly KeyRecord[], name: string, now: Date): KeyRecord[] {
  return changeOne(keys, name, ({ previous: _, ...record }) => ({ ...record, revoked: now.toISOString() }))
}

/**
 * Gives a name another key; the one before stays good for `graceSeconds`, an older one ends. Throws `invalid-options`
 * when there is no living one of the name.
 */
export function rotateKey(
  keys: readonly KeyRecord[],
  name: string,
  key: string,
  graceSeconds: number,
  now: Date,
): KeyRecord[] {
  return changeOne(keys, name, ({ previous: _, ...record }) => ({
    ...record,
    hash: hexHash(key),
    ...(graceSeconds > 0 && {
      previous: { hash: record.hash, until: new Date(now.getTime() + graceSeconds * 1000).toISOString() },
    }),
  }))
}
