/** The key file: what is accepted, and that it is replaced whole, under a lock, and readable by its owner alone. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { generateKey, hashOfKey, keyHashIn } from '../../../src/transport/keys/api-key.ts'
import { addKey, revokeKey, rotateKey } from '../../../src/transport/keys/key-changes.ts'
import { changeKeys, parseKeys, readKeys } from '../../../src/transport/keys/key-file.ts'
import { type KeyRecord, parseAllowance } from '../../../src/transport/keys/key-record.ts'
import { saying } from '../../support/refusals.ts'

const NOW = new Date('2026-01-02T03:04:05.000Z')
const hex = (key: string) => hashOfKey(key).toString('hex')
const record = (name: string, more: Partial<KeyRecord> = {}): KeyRecord => ({
  name,
  hash: hex(name),
  created: NOW.toISOString(),
  allow: [],
  stateOverride: false,
  ...more,
})
const plain = (name: string) => ({ name, allow: [], stateOverride: false })

let dir: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keys-'))
  file = join(dir, 'keys.json')
})
afterEach(() => rmSync(dir, { recursive: true }))

describe('a key', () => {
  it('is 256 random bits in text that needs no escaping in a path', () => {
    const keys = Array.from({ length: 100 }, generateKey)
    expect(new Set(keys).size).toBe(100)
    for (const key of keys) {
      expect(key).toMatch(/^tandem_[\w-]{43}$/)
      expect(encodeURIComponent(key)).toBe(key)
      expect(keyHashIn(`/v1/${key}`)).toEqual({ hash: hashOfKey(key), wellFormed: true })
      expect(keyHashIn(key).wellFormed).toBe(true)
    }
  })

  it('is read from the last segment only, without decoding', () => {
    const key = generateKey()
    const paths = [
      '/',
      '',
      `/${key}/`,
      `/${key}x`,
      `/${key.slice(1)}`,
      `/x${key}`,
      `/${key}%20`,
      `/%74${key.slice(1)}`,
    ]
    for (const path of paths) {
      const { hash, wellFormed } = keyHashIn(path)
      expect([path, wellFormed]).toEqual([path, false])
      expect(hash).toHaveLength(32)
    }
  })
})

describe('an allowance', () => {
  it.each<[string, number, number]>([
    ['50/s', 50, 1],
    ['1000/min', 1000, 60],
    ['9000/h', 9000, 3600],
    ['25000/day', 25_000, 86_400],
  ])('%s', (text, calls, seconds) => {
    expect(parseAllowance(text)).toEqual({ calls, seconds })
  })

  it.each(['', '50', '0/s', '-1/s', '1.5/s', '50/S', '50 /s', '1e3/s', '50/constructor', '9999999999/s'])(
    'is not %j',
    (text) => {
      expect(parseAllowance(text)).toBeUndefined()
    },
  )
})

describe('changes', () => {
  it('add a key, by its hash', () => {
    const [added, ...rest] = addKey([], { ...plain('ci'), rate: '50/s', quota: '25000/day' }, 'the key', NOW)
    expect(rest).toEqual([])
    expect(added).toEqual(record('ci', { hash: hex('the key'), rate: '50/s', quota: '25000/day' }))
  })

  it.each<[object, string]>([
    [
      { name: 'a b' },
      "The key's name is malformed: expected up to 64 letters, digits, dots, dashes and underscores, the first a letter or digit.",
    ],
    [
      { rate: '50/day' },
      "The key's rate is malformed: expected calls in a second, minute or hour, such as 50/s, 1000/min or 9000/h.",
    ],
    [{ quota: '50/s' }, "The key's quota is malformed: expected calls in a day, such as 25000/day."],
    [
      { burst: Number.NaN },
      "The key's burst is malformed: expected a whole number of calls from 1 to 999999999.",
    ],
    [
      { allow: ['+eth'] },
      "The key's allow is malformed: expected namespaces and methods such as eth or eth_call, with a minus to close one.",
    ],
  ])('refuse %j', (more, words) => {
    expect(() => addKey([], { ...plain('ci'), ...more }, 'k', NOW)).toThrow(saying(words))
  })

  it('give a name to one active key only', () => {
    expect(() => addKey([record('ci')], plain('ci'), 'k', NOW)).toThrow(
      saying('There is a key "ci" already: rotate or revoke it.'),
    )
    const revoked = revokeKey([record('ci'), record('web')], 'ci', NOW)
    const again = addKey(revoked, plain('ci'), 'k', NOW)
    expect(again.map(({ name, revoked: at }) => [name, at])).toEqual([
      ['web', undefined],
      ['ci', undefined],
    ])
  })

  it('rotate with grace, or without, and forget the key before the last', () => {
    const [once] = rotateKey([record('ci')], 'ci', 'second', 3600, NOW)
    expect(once).toEqual(
      record('ci', { hash: hex('second'), previous: { hash: hex('ci'), until: '2026-01-02T04:04:05.000Z' } }),
    )
    const [twice] = rotateKey([once as KeyRecord], 'ci', 'third', 60, NOW)
    expect(twice?.previous?.hash).toBe(hex('second'))
    const [bare] = rotateKey([twice as KeyRecord], 'ci', 'fourth', 0, NOW)
    expect(bare).toEqual(record('ci', { hash: hex('fourth') }))
  })

  it('revoke a key with the one that it replaced, once', () => {
    const keys = rotateKey([record('ci')], 'ci', 'second', 3600, NOW)
    const [revoked] = revokeKey(keys, 'ci', NOW)
    expect(revoked).toEqual(record('ci', { hash: hex('second'), revoked: NOW.toISOString() }))
    expect(() => revokeKey([revoked as KeyRecord], 'ci', NOW)).toThrow(
      saying('The key "ci" is revoked already.'),
    )
    expect(() => rotateKey([revoked as KeyRecord], 'ci', 'k', 0, NOW)).toThrow(
      saying('The key "ci" is revoked already.'),
    )
    expect(() => revokeKey(keys, 'web', NOW)).toThrow(saying('There is no key "web".'))
  })
})

describe('the key file', () => {
  it('is created with mode 600, and keeps its keys', async () => {
    await changeKeys(file, (keys) => addKey(keys, plain('one'), 'k1', NOW))
    await changeKeys(file, (keys) => addKey(keys, plain('two'), 'k2', NOW))
    expect(readKeys(file)).toEqual([record('one', { hash: hex('k1') }), record('two', { hash: hex('k2') })])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(dir)).toEqual(['keys.json'])
  })

  it('loses no key of concurrent changes', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `key${i}`)
    await Promise.all(names.map((name) => changeKeys(file, (keys) => addKey(keys, plain(name), name, NOW))))
    expect(new Set(readKeys(file).map(({ name }) => name))).toEqual(new Set(names))
  })

  it('is unchanged when a change is refused, and is not left locked', async () => {
    await changeKeys(file, (keys) => addKey(keys, plain('one'), 'k1', NOW))
    const before = readFileSync(file, 'utf8')
    await expect(changeKeys(file, (keys) => revokeKey(keys, 'two', NOW))).rejects.toThrow(
      saying('There is no key "two".'),
    )
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(readdirSync(dir)).toEqual(['keys.json'])
  })

  it('is replaced at the target of a symbolic link', async () => {
    const real = join(dir, 'real.json')
    writeFileSync(real, '{"version":1,"keys":[]}')
    symlinkSync(real, file)
    await changeKeys(file, (keys) => addKey(keys, plain('one'), 'k1', NOW))
    expect(readKeys(real)).toHaveLength(1)
  })

  it.each<[unknown, string]>([
    ['{', 'is not JSON.'],
    [[], 'is malformed: Invalid input: expected object, received array.'],
    [{ version: 2, keys: [] }, 'is malformed at version: Invalid input: expected 1.'],
    [
      { version: 1, keys: [{ ...record('a'), rate: '5' }] },
      'is malformed at keys.0.rate: expected calls in a second, minute or hour, such as 50/s, 1000/min or 9000/h.',
    ],
    [
      { version: 1, keys: [{ ...record('a'), hash: 'secret' }] },
      'is malformed at keys.0.hash: expected a SHA-256 in hex.',
    ],
    [
      { version: 1, keys: [{ ...record('a'), alow: ['eth'] }] },
      'is malformed at keys.0: Unrecognized key: "alow".',
    ],
    [{ version: 1, keys: [record('a'), record('a')] }, 'is malformed: two keys have one name.'],
    [
      { version: 1, keys: [record('a'), { ...record('b'), hash: hex('a') }] },
      'is malformed: two keys have one hash.',
    ],
  ])('with %j is refused with its name', (content, words) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    expect(() => parseKeys(text, 'k.json')).toThrow(saying(`The key file k.json ${words}`))
  })

  it('that is missing is reported with the command that creates it', () => {
    expect(() => readKeys(file)).toThrow(
      saying(
        `There is no key file ${file}: make one with tandem keys create --api-keys ${file} --name <name>.`,
      ),
    )
  })

  it('is not created in a folder that cannot be written', async () => {
    const place = join(dir, 'missing', 'keys.json')
    await expect(changeKeys(place, (keys) => keys)).rejects.toThrow(
      saying(`Cannot write beside ${place}: ENOENT.`),
    )
  })
})
