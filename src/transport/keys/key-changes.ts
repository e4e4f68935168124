/** Adding, rotating and revoking keys, as pure functions from the records of a file to its new records. */
import { NodeError } from '../../errors.ts'
import { hashOfKey } from './api-key.ts'
import { KeyRecord } from './key-record.ts'

/** The operator's part of a new key's record, not checked yet. */
export type NewKey = Omit<KeyRecord, 'hash' | 'created' | 'previous' | 'revoked'>

function refused(message: string): NodeError {
  return new NodeError('invalid-options', message)
}

const hexHash = (key: string): string => hashOfKey(key).toString('hex')

/** Adds a key. Throws `invalid-options` for a malformed member, and for a name that an active key has. */
export function addKey(keys: readonly KeyRecord[], given: NewKey, key: string, now: Date): KeyRecord[] {
  const outcome = KeyRecord.safeParse({ ...given, hash: hexHash(key), created: now.toISOString() })
  if (!outcome.success) {
    const [issue] = outcome.error.issues
    throw refused(`The key's ${issue?.path[0]?.toString() ?? 'record'} is malformed: ${issue?.message}.`)
  }
  const sameName = keys.find(({ name }) => name === given.name)
  if (sameName !== undefined && sameName.revoked === undefined) {
    throw refused(`There is a key "${given.name}" already: rotate or revoke it.`)
  }
  return [...keys.filter((record) => record !== sameName), outcome.data]
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

/** Revokes a key, and the one that it replaced. Throws `invalid-options` when no active key has the name. */
export function revokeKey(keys: readonly KeyRecord[], name: string, now: Date): KeyRecord[] {
  return changeOne(keys, name, ({ previous: _, ...record }) => ({ ...record, revoked: now.toISOString() }))
}

/**
 * Replaces the key of a name; the old key stays valid for `graceSeconds`, one that it replaced ends. Throws
 * `invalid-options` when no active key has the name.
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
