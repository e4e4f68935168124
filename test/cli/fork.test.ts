/** `tandem fork`, in processes of its own: two on one cache, one killed while it writes, and one on another machine. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wantedOf } from '../../src/cli/fork.ts'
import { type Hex, toFixedHex } from '../../src/encoding/hex.ts'
import { openRemoteChain } from '../../src/state/remote/remote-chain.ts'
import { runCommand } from '../support/command.ts'
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts'
import { saying } from '../support/refusals.ts'
import { remoteSettings, testDeps } from '../support/remote.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const STORE: Hex = `0x${'5a'.repeat(20)}`
const SLOTS = 120
const BLOCKS = 30

let node: ServedNode
let proxy: FaultProxy
let tip: Hex

beforeAll(async () => {
  node = await servedNode()
  for (let slot = 0; slot < SLOTS; slot++) {
    await node.call(
      'hardhat_setStorageAt',
      STORE,
      `0x${slot.toString(16)}`,
      toFixedHex(BigInt(slot * 7 + 1), 32),
    )
  }
  await node.call('hardhat_mine', `0x${BLOCKS.toString(16)}`)
  tip = (await node.call('eth_getBlockByNumber', 'latest', false)).hash
  proxy = await faultProxy(node.url)
})
afterAll(async () => {
  await proxy.close()
  await node.close()
})

const listed = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${STORE}:${from + index}`).join('\n')

const OFFLINE =
  'Run once without --fork-offline, fetch it ahead with tandem fork warm, or import a cache that has it.'

/** How many of the slots the cache has; each with the value that was stored. */
async function cached(cacheDir: string): Promise<number> {
  const chain = await openRemoteChain(remoteSettings([proxy.url], { cacheDir, isOffline: true }), testDeps())
  const state = chain.stateAt(chain.point)
  let count = 0
  for (let slot = 0n; slot < SLOTS; slot++) {
    const found = await state
      .fetch([{ kind: 'cell', address: STORE, slot }])
      .catch((error: Error) => error.message)
    if (typeof found === 'string') {
      const what = `slot 0x${slot.toString(16)} of ${STORE} at block ${chain.point.number} (${tip})`
      expect(found).toBe(`Offline, and the cache does not have ${what}. ${OFFLINE}`)
    } else {
      expect(state.cell(STORE, slot)).toBe(slot * 7n + 1n)
      count++
    }
  }
  await chain.close()
  return count
}

describe('an item', () => {
  it.each([
    [
      '0xABCDEFabcdefabcdefabcdefabcdefabcdefabcd',
      { kind: 'account', address: `0x${'abcdef'.repeat(6)}abcd` },
    ],
    [`${STORE}:10`, { kind: 'cell', address: STORE, slot: 10n }],
    [`${STORE}:0x10`, { kind: 'cell', address: STORE, slot: 16n }],
    ['123', { kind: 'block', number: 123 }],
    [`0x${'AB'.repeat(32)}`, { kind: 'transaction', hash: `0x${'ab'.repeat(32)}` }],
  ])('%s is read', (text, wanted) => {
    expect(wantedOf(text)).toEqual(wanted)
  })

  it('of another form is refused', () => {
    expect(() => wantedOf('0x12')).toThrow(
      saying('"0x12" is neither an address, address:slot, the hash of a transaction, nor a height.'),
    )
  })
})

describe('tandem fork', () => {
  it('fetches from two processes into one cache, which can be copied to another machine', async () => {
    const [cacheDir, other] = [temporaryFolder(), temporaryFolder()]
    const list = join(other, 'list.txt')
    writeFileSync(list, `# half of them\n${listed(60, SLOTS)}\n0 1\n`)
    const common = ['--fork', `${proxy.url}@${tip}`, '--fork-cache-dir', cacheDir]
    const outcomes = await Promise.all([
      runCommand(['fork', 'warm', ...common, ...listed(0, 60).split('\n')]),
      runCommand(['fork', 'warm', ...common, '--list', list]),
    ])
    for (const { code, stdout, stderr } of outcomes) {
      expect(stderr).toBe('')
      expect(code).toBe(0)
      expect(stdout).toContain(`(${tip}) of chain 33 is cached`)
    }
    expect(await cached(cacheDir)).toBe(SLOTS)

    const file = join(other, 'fork.gz')
    const exported = await runCommand(['fork', 'export', file], { TANDEM_FORK_CACHE_DIR: cacheDir })
    expect(exported).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^Exported \\d+ answers about 1 block to ${file}\\.\n$`)),
    })
    const XDG_CACHE_HOME = join(other, 'xdg')
    const imported = await runCommand(['fork', 'import', file], { XDG_CACHE_HOME })
    expect(imported).toMatchObject({ code: 0, stderr: '' })
    expect(await cached(join(XDG_CACHE_HOME, 'tandem', 'fork'))).toBe(SLOTS)
    const lines = await runCommand(['fork', 'list'], { XDG_CACHE_HOME })
    expect(lines.stdout).toMatch(new RegExp(`^33 {2}\\d+ {2}${tip} {2}\\d+ bytes\n$`))
    await runCommand(['fork', 'clear'], { XDG_CACHE_HOME })
    expect(readdirSync(join(XDG_CACHE_HOME, 'tandem', 'fork', '33'))).toEqual([])
  })

  it('fetches the state that a start without network reads, with the accounts of a mnemonic', async () => {
    const cacheDir = temporaryFolder()
    const words = [
      '--mnemonic',
      'test test test test test test test test test test test junk',
      '--accounts',
      '3',
    ]
    const fork = ['--fork', `${proxy.url}@${tip}`, '--fork-cache-dir', cacheDir]
    const common = ['start', ...fork, '--fork-offline', '--port', '0']
    const none = await runCommand(['fork', 'warm', ...fork, '--no-wallet'])
    expect(none).toMatchObject({ code: 0, stdout: expect.stringContaining('with 0 local accounts') })
    expect(await runCommand(common)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(
          `^tandem: Offline, and the cache does not have (account 0x[0-9a-f]{40}, ){2}account 0x[0-9a-f]{40} and 7 more at block 30 \\(${tip}\\)\\. ${OFFLINE}\n$`,
        ),
      ),
    })
    for (const flags of [[], words]) {
      expect(await runCommand(['fork', 'warm', ...fork, ...flags])).toMatchObject({ code: 0, stderr: '' })
      const env = { ...process.env, NO_COLOR: '1' }
      const started = spawn(process.execPath, [MAIN, ...common, ...flags], { stdio: 'pipe', env })
      let output = ''
      for (const stream of [started.stdout, started.stderr])
        stream.on('data', (chunk) => {
          output += chunk
          if (/^Ready /m.test(output)) started.kill('SIGTERM')
        })
      const [code] = await once(started, 'exit')
      expect([code, output]).toEqual([0, expect.stringMatching(/^Accounts /m)])
    }
  })

  it('leaves a correct cache when it is killed while it writes, and continues later', async () => {
    const cacheDir = temporaryFolder()
    const heights = Array.from({ length: BLOCKS }, (_, height) => height)
    const args = [
      'fork',
      'warm',
      '--fork',
      `${proxy.url}@${tip}`,
      '--fork-cache-dir',
      cacheDir,
      ...heights.map(String),
    ]
    /** How many of the blocks the cache has, each as the node has it. */
    const blocksIn = async () => {
      const chain = await openRemoteChain(
        remoteSettings([proxy.url], { cacheDir, isOffline: true }),
        testDeps(),
      )
      let count = 0
      for (const number of heights) {
        const found = await chain.blockByNumber(number).catch((error: Error) => error.message)
        if (typeof found === 'string') {
          expect(found).toMatch(
            new RegExp(`^Offline, and the cache does not have block (\\d+|0x[0-9a-f]{64})\\. ${OFFLINE}$`),
          )
          continue
        }
        expect(found?.hash).toBe((await node.node.engine.queries.block({ number }))?.executed.hash)
        count++
      }
      await chain.close()
      return count
    }
    const before = proxy.bodies.length
    const child = spawn(process.execPath, [MAIN, ...args])
    const ended = new Promise((resolve) => child.on('close', (_, signal) => resolve(signal)))
    while (proxy.bodies.length < before + 25) await proxy.nextRequest()
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
    const left = await blocksIn()
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(BLOCKS)
    expect(await runCommand(args)).toMatchObject({ code: 0, stderr: '' })
    expect(await blocksIn()).toBe(BLOCKS)
  })

  it.each([
    [['fork'], 2, 'tandem: Name a command: tandem fork warm, list, export, import, import-state or clear.\n'],
    [['fork', 'warm'], 2, 'tandem: Name the node to fetch from: --fork <url>.\n'],
    [
      ['fork', 'warm', '--fork', 'nonsense'],
      2,
      'tandem: --fork expects URLs such as https://node.example or ws://127.0.0.1:4445@latest, of http, https, ws or wss.\n',
    ],
    [
      ['fork', 'warm', '--fork', 'http://127.0.0.1:1@12', '--fork-block', '13'],
      2,
      'tandem: Options "fork" and "forkBlock" name different blocks: a fork continues from one of them.\n',
    ],
    [
      ['fork', 'warm', '--fork', 'http://127.0.0.1:59', '--fork-retries', '0'],
      1,
      /^tandem: The upstream http:\/\/127\.0\.0\.1:59 cannot be used: ECONNREFUSED, connect ECONNREFUSED 127\.0\.0\.1:59 \(attempt 1\)\. Check the URL, or add a second --fork <url>\.\n$/,
    ],
    [
      ['fork', 'import', '/dev/null'],
      1,
      /^tandem: The file \/dev\/null is not a fork cache of this program \(unexpected end of file\)\. Nothing was imported\.\n$/,
    ],
  ])('%j ends with exit code %i and a message', async (args, code, sentence) => {
    const XDG_CACHE_HOME = temporaryFolder()
    const outcome = await runCommand(args, { XDG_CACHE_HOME })
    expect(outcome.code).toBe(code)
    expect(outcome.stderr).toEqual(typeof sentence === 'string' ? sentence : expect.stringMatching(sentence))
  })
})
