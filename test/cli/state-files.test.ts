/** tandem dump and load, --state and --init: real files, real directories, and processes that are killed. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, type FSWatcher, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fillDumpCommand } from '../../src/cli/dump.ts'
import { fillImportCommand } from '../../src/cli/import.ts'
import { fillLoadCommand } from '../../src/cli/load.ts'
import { createNode } from '../../src/index.ts'
import { runCommand, startCommand } from '../support/command.ts'
import { runFilled } from '../support/commands.ts'
import { rpc } from '../support/json-rpc.ts'
import { referenceBlocks, referenceHead, rlpFile } from '../support/reference-files.ts'
import { servedNode } from '../support/served-node.ts'
import { ask, pictureOf } from '../support/state-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const X = `0x${'1a'.repeat(20)}`
const dump = (...args: string[]) => runFilled(fillDumpCommand, args)
const load = (...args: string[]) => runFilled(fillLoadCommand, args)

async function picture(dataDir: string): Promise<object> {
  const node = await createNode({ dataDir, mining: 'manual' })
  const found = await pictureOf(node)
  await node.close()
  return found
}

/** A folder with the reference node's chain in a data directory. */
async function referenceDirectory(): Promise<{ folder: string; dataDir: string }> {
  const folder = temporaryFolder()
  const dataDir = join(folder, 'data')
  const file = rlpFile(folder, referenceBlocks('rpc-chain'))
  expect((await runFilled(fillImportCommand, [file, '--data-dir', dataDir])).error).toBeUndefined()
  return { folder, dataDir }
}

describe('tandem dump and load', () => {
  it("keep the reference node's chain, from directory to directory, plain and compressed", async () => {
    const { folder, dataDir } = await referenceDirectory()
    const expected = await picture(dataDir)
    const { hash, stateRoot } = referenceHead('rpc-chain')
    for (const name of ['chain.json', 'chain.json.gz']) {
      const [file, other] = [join(folder, name), join(folder, `to-${name}`)]
      expect((await dump(file, '--history', '--data-dir', dataDir)).error).toBeUndefined()
      for (let i = 0; i < 2; i++) {
        const { error, output } = await load(file, '--data-dir', other)
        expect([error, output]).toEqual([undefined, expect.stringContaining(hash)])
      }
      expect(await picture(other)).toEqual(expected)
      expect(expected).toMatchObject({ root: stateRoot })
    }
    const zipped = gunzipSync(readFileSync(join(folder, 'chain.json.gz')))
    expect(zipped.equals(readFileSync(join(folder, 'chain.json')))).toBe(true)
  })

  it('take the state alone, with its height, into a new chain', async () => {
    const { folder, dataDir } = await referenceDirectory()
    const [file, other] = [join(folder, 'state.json'), join(folder, 'other')]
    expect((await dump(file, '--data-dir', dataDir)).output).toBe(
      `Dumped the state after the head to ${file}.`,
    )
    const { number, stateRoot } = referenceHead('rpc-chain')
    expect((await load(file, '--data-dir', other)).output).toContain(`The head is block ${number} (`)
    const node = await createNode({ dataDir: other, mining: 'manual' })
    onTestFinished(() => node.close())
    expect(node.engine.queries.head().block.header).toMatchObject({ number, stateRoot })
  })

  it('read and write a running node', async () => {
    const folder = temporaryFolder()
    const [first, second] = [await servedNode(), await servedNode({ genesisTime: 5 })]
    onTestFinished(async () => {
      await first.close()
      await second.close()
    })
    const [from] = await first.call('eth_accounts')
    await first.call('eth_sendTransaction', { from, to: X, value: '0x1' })
    const file = join(folder, 'chain.json')
    expect((await dump(file, '--history', '--url', first.url)).error).toBeUndefined()
    expect((await load(file, '--url', second.url)).output).toMatch(/The head is block 1 /)
    expect(await pictureOf(second.node)).toEqual(await pictureOf(first.node))
  })

  it('open a directory with a loaded genesis under any settings', async () => {
    const folder = temporaryFolder()
    const node = await createNode({ genesisTime: 99, accounts: 3 })
    await ask(node, 'evm_mine')
    const [file, dataDir] = [join(folder, 'chain.json'), join(folder, 'data')]
    writeFileSync(file, gunzipSync(Buffer.from((await ask(node, 'anvil_dumpState', true)).slice(2), 'hex')))
    const expected = await pictureOf(node)
    await node.close()
    expect((await load(file, '--data-dir', dataDir)).error).toBeUndefined()
    expect(await picture(dataDir)).toEqual(expected)
    const again = await createNode({ dataDir })
    await ask(again, 'evm_reset')
    expect(await ask(again, 'eth_blockNumber')).toBe('0x0')
    await again.close()
  })

  it.each<[string, string, (file: string) => string]>([
    ['missing.json', '', (file) => `The file ${file} cannot be read: there is no such file.`],
    [
      'text.json',
      'hello',
      (file) => `${file}: The state is not JSON: it was cut off, or it is not a state file.`,
    ],
    [
      'other.json',
      '{"a":1}',
      (file) =>
        `${file}: No state was found: expected a state file of tandem, a dump of Anvil, accounts by address, or a genesis file with "alloc".`,
    ],
    [
      'version.json',
      '{"format":"tandem-state","version":9}',
      (file) => `${file}: The state file has version 9, and this node reads version 1.`,
    ],
    [
      'short.json.gz',
      '\x1f\x8b\x08',
      (file) => `${file}: The state cannot be decompressed: it was cut off, or it is too large.`,
    ],
  ])('refuse %s, and leave the directory unchanged', async (name, content, message) => {
    const folder = temporaryFolder()
    const [file, dataDir] = [join(folder, name), join(folder, 'data')]
    if (content !== '') writeFileSync(file, content, 'latin1')
    await (await createNode({ dataDir })).close()
    const before = await picture(dataDir)
    const { error } = await load(file, '--data-dir', dataDir)
    expect(error).toMatchObject({ kind: 'invalid-options', message: message(file) })
    expect(await picture(dataDir)).toEqual(before)
  })

  it('write no state file when there is a data directory', async () => {
    const { output } = await runCommand(['start', '--state', 'a.json', '--data-dir', 'b']).then(
      ({ code, stderr }) => ({ output: `${code} ${stderr}` }),
    )
    expect(output).toBe(
      '2 tandem: Settings "state" and "dataDir" contradict each other: a state file is for a chain in memory.\n',
    )
  })

  it('refuse a directory together with a node, and a missing folder', async () => {
    const folder = temporaryFolder()
    const both = ['--data-dir', folder, '--url', 'http://127.0.0.1:1']
    expect((await dump(join(folder, 'a'), ...both)).error?.message).toBe(
      'The chain is in --data-dir or at --url, not in both.',
    )
    expect((await load(join(folder, 'a'), ...both)).error?.message).toBe(
      'The chain is in --data-dir or at --url, not in both.',
    )
    const { dataDir } = await referenceDirectory()
    const missing = join(folder, 'missing', 'a.json')
    expect((await dump(missing, '--data-dir', dataDir)).error?.message).toMatch(
      new RegExp(`^${missing} cannot be written: ENOENT: no such file or directory, open '\\S+\\.draft'\\.$`),
    )
  })
})

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** Runs a command and kills it when so many entries of a folder have changed; whether it was killed in time. */
async function killAfter(changes: number, folder: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [MAIN, ...args])
  let seen = 0
  const watcher: FSWatcher = watch(folder, { recursive: true }, () => {
    if (++seen >= changes) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'close')
  watcher.close()
  return signal === 'SIGKILL'
}

describe('a killed process', () => {
  it('leaves no partial file of a dump', async () => {
    const { folder, dataDir } = await referenceDirectory()
    const target = temporaryFolder()
    const file = join(target, 'chain.json')
    const args = ['dump', file, '--history', '--data-dir', dataDir]
    // The first change is the draft that the file is written to.
    expect(await killAfter(1, target, args)).toBe(true)
    expect(readdirSync(target).filter((name) => !name.startsWith('.'))).toEqual([])
    writeFileSync(file, 'old')
    expect(await killAfter(1, target, args)).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect((await dump(file, '--history', '--data-dir', dataDir)).error).toBeUndefined()
    expect((await load(file, '--data-dir', join(folder, 'other'))).error).toBeUndefined()
  })

  it('leaves the chain from before or after a load', async () => {
    const { folder, dataDir } = await referenceDirectory()
    const file = join(folder, 'chain.json')
    await dump(file, '--history', '--data-dir', dataDir)
    const loaded = await picture(dataDir)
    const target = temporaryFolder()
    const fresh = await createNode({ mining: 'manual' })
    const before = await pictureOf(fresh)
    await fresh.close()
    for (const changes of [1, 6, 10]) {
      const other = join(target, String(changes))
      await killAfter(changes, target, ['load', file, '--data-dir', other])
      expect([before, loaded]).toContainEqual(await picture(other))
      expect((await load(file, '--data-dir', other)).error).toBeUndefined()
      expect(await picture(other)).toEqual(loaded)
    }
  })
})

describe('tandem start', () => {
  it('--state keeps a chain from run to run', async () => {
    const file = join(temporaryFolder(), 'chain.json')
    const first = await startCommand(['--state', file, '--genesis-time', 'now'])
    const [from] = [...(await rpc(first.url, 'eth_accounts'))]
    const hash = await rpc(first.url, 'eth_sendTransaction', [{ from, to: X, value: '0x1' }])
    const head = await rpc(first.url, 'eth_getBlockByNumber', ['latest', true])
    expect(await first.end('SIGTERM')).toBe(0)
    expect(existsSync(file)).toBe(true)
    const second = await startCommand(['--state', file, '--genesis-time', 'now'])
    expect(await rpc(second.url, 'eth_getBlockByNumber', ['latest', true])).toEqual(head)
    expect(await rpc(second.url, 'eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
    expect(await second.end('SIGINT')).toBe(0)
  })

  it('--init reads genesis files of geth and of the reference node', async () => {
    const folder = temporaryFolder()
    const geth = join(folder, 'geth.json')
    const alloc = { [X]: { balance: '0x10', code: '0x6001', storage: { '0x1': '0x2a' } } }
    const header = { config: { chainId: 1234 }, timestamp: '0x64', gasLimit: '0x989680' }
    writeFileSync(geth, JSON.stringify({ ...header, alloc }))
    const first = await startCommand(['--memory', '--init', geth])
    expect(Number(await rpc(first.url, 'eth_chainId'))).toBe(1234)
    expect(await rpc(first.url, 'eth_getCode', [X, 'latest'])).toBe('0x6001')
    expect(await rpc(first.url, 'eth_getBlockByNumber', ['earliest', false])).toMatchObject({
      timestamp: '0x64',
      gasLimit: '0x989680',
    })
    await first.end('SIGTERM')
    // The same file as the network's own, with one more second: another genesis with the same accounts.
    const own = JSON.parse(readFileSync(new URL('../../genesis/regtest.json', import.meta.url), 'utf8'))
    const reference = join(folder, 'reference.json')
    writeFileSync(reference, JSON.stringify({ ...own, timestamp: '0x01' }))
    const [second, plain] = [
      await startCommand(['--memory', '--init', reference]),
      await startCommand(['--memory']),
    ]
    const [changed, known] = [
      await rpc(second.url, 'eth_getBlockByNumber', ['earliest', false]),
      await rpc(plain.url, 'eth_getBlockByNumber', ['earliest', false]),
    ]
    const others = { timestamp: '', hash: '', hashForMergedMining: '' }
    expect({ ...Object(changed), ...others }).toEqual({ ...Object(known), ...others })
    expect(changed).toMatchObject({ timestamp: '0x1' })
    await second.end('SIGTERM')
    await plain.end('SIGTERM')
  })
})
