/** The settings of a fork: their forms, and what contradicts what. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSettings } from '../../src/cli/settings.ts'
import { NodeError } from '../../src/errors.ts'
import { FORK_SETTINGS, forkSource } from '../../src/options/fork-settings.ts'
import { type NodeOptions, resolveNodeOptions } from '../../src/options/options.ts'
import { defaultCacheDir, remoteSettingsOf } from '../../src/upstream/settings.ts'
import { saying } from '../support/refusals.ts'

const URL = 'https://node.example/v1/key'
const HASH = `0x${'ab'.repeat(32)}`
const sourceOf = (given: NodeOptions) => forkSource(resolveNodeOptions(given))

describe('the URL', () => {
  it.each([
    [URL, { urls: [URL], headers: [] }],
    [`${URL}@latest`, { urls: [URL], block: { tag: 'latest' }, headers: [] }],
    [`${URL}@1400000`, { urls: [URL], block: { number: 1_400_000 }, headers: [] }],
    [`${URL}@-10`, { urls: [URL], block: { number: -10 }, headers: [] }],
    [`${URL}@0x10`, { urls: [URL], block: { number: 16 }, headers: [] }],
    [`${URL}@${HASH.toUpperCase().replace('0X', '0x')}`, { urls: [URL], block: { hash: HASH }, headers: [] }],
    ['wss://host/key@latest', { urls: ['wss://host/key'], block: { tag: 'latest' }, headers: [] }],
    ['http://user:word@host:4444/', { urls: ['http://user:word@host:4444/'], headers: [] }],
  ])('%s is read', (fork, source) => {
    expect(sourceOf({ fork })).toEqual(source)
  })

  it.each(['node.example', 'ftp://node.example', 'ipc://node.example', ''])('"%s" is refused', (fork) => {
    expect(() => resolveNodeOptions({ fork })).toThrow(
      new NodeError(
        'invalid-options',
        'Option "fork" expects URLs such as https://node.example or ws://127.0.0.1:4445@latest, of http, https, ws or wss.',
      ),
    )
  })

  it('is not repeated by the refusal, since it may contain a key', () => {
    expect(() => resolveNodeOptions({ fork: 'ftp://node.example/secret' })).toThrow(/^((?!secret).)*$/)
  })

  it('may be given several times, as may a header', () => {
    const fork = [`${URL}@7`, 'http://127.0.0.1:4444']
    expect(sourceOf({ fork, forkBlock: 7, forkHeader: ['a: b', 'Authorization:  Bearer x '] })).toEqual({
      urls: [URL, 'http://127.0.0.1:4444'],
      block: { number: 7 },
      headers: [
        ['a', 'b'],
        ['Authorization', 'Bearer x'],
      ],
    })
    const env = { TANDEM_FORK: `${URL} http://127.0.0.1:4444`, TANDEM_FORK_HEADER: 'a: b, c\nd: e' }
    const { node } = readSettings(new Map([['memory', true]]), env)
    expect(node.fork).toEqual([URL, 'http://127.0.0.1:4444'])
    expect(node.forkHeader).toEqual(['a: b, c', 'd: e'])
  })
})

describe('the block', () => {
  it.each([['7'], [-3], ['-3'], ['latest'], ['safe'], ['finalized'], [HASH]])(
    '%s is accepted',
    (forkBlock) => {
      expect(resolveNodeOptions({ fork: URL, forkBlock }).forkBlock).toBe(forkBlock)
    },
  )

  it.each(['pending', '0x', '1.5', '--1', `${HASH}00`])('%s is refused', (forkBlock) => {
    expect(() => resolveNodeOptions({ fork: URL, forkBlock })).toThrow(
      saying(
        `Option "forkBlock" expects a height, a negative number of blocks below the tip, latest, earliest, safe, finalized, or a hash, not ${JSON.stringify(forkBlock)}.`,
      ),
    )
  })
})

const TWO_BLOCKS = 'Options "fork" and "forkBlock" name different blocks: a fork continues from one of them.'

describe('settings that contradict each other are refused:', () => {
  it.each<[NodeOptions, string]>([
    [{ fork: `${URL}@7`, forkBlock: 8 }, TWO_BLOCKS],
    [{ fork: [`${URL}@7`, `${URL}@8`] }, TWO_BLOCKS],
    [
      { fork: URL, forkBlock: 8, forkTransactionHash: HASH },
      'Options "forkBlock" and "forkTransactionHash" contradict each other: the transaction decides the block.',
    ],
    [
      { fork: URL, chain: 'mainnet' },
      `Options "fork" and "chain" contradict each other: a fork continues the upstream's chain.`,
    ],
    [
      { fork: URL, genesisTime: 1 },
      `Options "fork" and "genesisTime" contradict each other: a fork continues the upstream's chain.`,
    ],
    [
      { fork: URL, forkHeader: 'no header' },
      `Option "forkHeader" expects HTTP headers such as 'Authorization: Bearer …'.`,
    ],
  ])('%j', (given, sentence) => {
    expect(() => resolveNodeOptions(given)).toThrow(saying(sentence))
  })
})

describe('the cache directory', () => {
  it('is in the user’s cache folder, by the rules of XDG', () => {
    expect(defaultCacheDir({})).toBe(join(homedir(), '.cache', 'tandem', 'fork'))
    expect(defaultCacheDir({ XDG_CACHE_HOME: '/var/cache/me' })).toBe('/var/cache/me/tandem/fork')
    expect(defaultCacheDir({ XDG_CACHE_HOME: 'relative' })).toBe(join(homedir(), '.cache', 'tandem', 'fork'))
  })

  it('is the configured one, or none', () => {
    const settings = (given: NodeOptions) => remoteSettingsOf(resolveNodeOptions({ fork: URL, ...given }), {})
    expect(settings({ forkCacheDir: '/tmp/x', forkCacheSize: 3 })).toMatchObject({
      cacheDir: '/tmp/x',
      cacheBytes: 3 * 1024 * 1024,
    })
    expect(settings({ forkCache: false })).not.toHaveProperty('cacheDir')
    expect(remoteSettingsOf(resolveNodeOptions({}), {})).toBeUndefined()
  })
})

it('every setting has a flag that begins with its name', () => {
  for (const { flag } of Object.values(FORK_SETTINGS)) expect(flag).toMatch(/^--(no-)?fork/)
})
