/** Whose answers the cache has: those of one upstream are never read in the place of another one's. */
import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { cacheScope } from '../../../../src/state/remote/cache/cache-directory.ts'
import type { RemoteSettings } from '../../../../src/upstream/settings.ts'
import { changed, type FaultProxy, faultProxy, type Message } from '../../../support/fault-proxy.ts'
import { forkedNode, NOBODY } from '../../../support/forked-node.ts'
import { testClock, testDeps } from '../../../support/remote.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const nodeOf = forkedNode()
/** Another URL of the same node. */
let other: FaultProxy
beforeAll(async () => {
  other = await faultProxy(nodeOf().node.url)
})
afterAll(() => other.close())

/** Answers of a node, each account a little richer and each slot another one. */
const lies = changed((reply, request) => {
  const lie = ({ method }: Message, { result, ...rest }: Message): Message => {
    if (method === 'eth_getBalance') return { ...rest, result: '0x7' }
    if (method === 'eth_getAccountInfo') return { ...rest, result: { ...result, balance: '0x7' } }
    if (method === 'eth_getStorageAt') return { ...rest, result: `0x${'0'.repeat(63)}7` }
    return { ...rest, result }
  }
  return Array.isArray(request)
    ? reply.map((one: Message, i: number) => lie(request[i], one))
    : lie(request, reply)
})

const balanceOf = async (settings: Partial<RemoteSettings>, deps = testDeps({ clock: testClock() })) => {
  const chain = await nodeOf().fork(settings, deps)
  const state = chain.stateAt(chain.point)
  await state.fetch([{ kind: 'account', address: NOBODY }])
  await chain.close()
  return { balance: state.account(NOBODY)?.account?.balance, cacheHits: chain.usage().cacheHits }
}

describe('the scope of answers', () => {
  it('covers all URLs of a fork, in any order', () => {
    const [a, b] = ['https://a.example', 'https://b.example'] as const
    expect(cacheScope([a, b])).toBe(cacheScope([b, a, a]))
    expect(new Set([cacheScope([a]), cacheScope([b]), cacheScope([a, b])]).size).toBe(3)
  })

  it('separates the answers of a false upstream from a fork of another URL', async () => {
    const cacheDir = temporaryFolder()
    const { url } = nodeOf().proxy
    other.always(lies)
    onTestFinished(() => other.always(undefined))
    const lying = { urls: [other.url], headerOrigins: [], cacheDir }
    expect((await balanceOf(lying)).balance).toBe(7n)
    expect((await balanceOf({ cacheDir })).balance).toBe(5n)
    expect((await balanceOf({ urls: [url, other.url], cacheDir })).balance).toBe(5n)
    expect((await balanceOf({ cacheDir, isOffline: true })).balance).toBe(5n)
    expect((await balanceOf({ ...lying, isOffline: true })).balance).toBe(7n)
  })

  it('ends with the URL; answers of a replacement URL are not written', async () => {
    const cacheDir = temporaryFolder()
    const deps = testDeps({ clock: testClock() })
    const chain = await nodeOf().fork({ cacheDir }, deps)
    await chain.setUrls([nodeOf().proxy.url])
    expect(deps.notices).toEqual([])
    await chain.setUrls([other.url])
    other.always(lies)
    onTestFinished(() => other.always(undefined))
    const state = chain.stateAt(chain.point)
    await state.fetch([{ kind: 'account', address: NOBODY }])
    expect(state.account(NOBODY)?.account?.balance).toBe(7n)
    await chain.close()
    expect(deps.notices).toEqual([
      'The cache of the fork is not written any more: it belongs to another URL than the present one.',
    ])
    expect((await balanceOf({ cacheDir })).balance).toBe(5n)
  })

  it('is missing in a folder of the older format, which is not read, with a notice', async () => {
    const cacheDir = temporaryFolder()
    await balanceOf({ cacheDir })
    const folder = join(cacheDir, '33')
    const [name = ''] = readdirSync(folder)
    renameSync(join(folder, name), join(folder, name.slice(0, name.lastIndexOf('-'))))
    mkdirSync(join(folder, 'something else'))
    const deps = testDeps({ clock: testClock() })
    expect((await balanceOf({ cacheDir }, deps)).cacheHits).toBe(0)
    expect(deps.notices).toEqual([
      `The cache in ${cacheDir} has 1 block of an older format, which does not name the upstream. Nothing of that format is read; tandem fork clear removes it.`,
    ])
    await expect(
      balanceOf({ cacheDir, urls: [other.url], headerOrigins: [], isOffline: true }),
    ).rejects.toThrow(
      `Offline, and the cache does not have a fork at block "latest" from ${other.url} in ${cacheDir}. `,
    )
  })
})
