/**
 * A real process whose disk is full for a while: the operating system refuses to let its files grow (RLIMIT_FSIZE, which
 * needs no rights), or it is on a file system of its own, which needs the right to mount one.
 */
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RunningCommand, runCommand, startCommand } from '../support/command.ts'
import { limitFiles } from '../support/file-limit.ts'
import { rpc } from '../support/json-rpc.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { describeWith, PRLIMIT } from '../support/tools.ts'

const MEGABYTE = 1 << 20

const mount = (folder: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=100m', 'none', folder]).status === 0

/** May this process mount a file system? */
function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'full-disk-'))
  const mounted = mount(folder)
  if (mounted) spawnSync('umount', ['-l', folder])
  rmdirSync(folder)
  return mounted
}

/** A file system of 100 MB of its own. */
function smallDisk(): string {
  const folder = temporaryFolder()
  if (!mount(folder)) throw new Error(`no file system was mounted at ${folder}`)
  onTestFinished(() => void spawnSync('umount', ['-l', folder]))
  return folder
}

/** Bytes of the largest file below a folder whose name ends so. */
function largestFile(folder: string, extension: string): number {
  const names = readdirSync(folder).filter((name) => name.endsWith(extension))
  return Math.max(...names.map((name) => statSync(join(folder, name)).size))
}

/** Writes a file until the disk is full, then frees some bytes again. */
function fill(path: string, left: number): void {
  const file = openSync(path, 'w')
  const block = Buffer.alloc(1 << 12)
  try {
    for (;;) writeSync(file, block)
  } catch {
    ftruncateSync(file, Math.max(0, statSync(path).size - left))
  } finally {
    closeSync(file)
  }
}

const FULL =
  /^The node cannot write to its disk \((?:(?:ENOSPC: n|N)o space left on device|(?:EFBIG: f|F)ile too large|less than 48 MB are free to open the database again)\)\. Nothing was changed; changes are accepted again as soon as the disk can be written\.$/

/** Sends a transaction, which is mined at once. */
async function send({ url }: RunningCommand, data: string): Promise<void> {
  const [from, to] = (await rpc(url, 'eth_accounts')) as unknown as [string, string]
  await rpc(url, 'eth_sendTransaction', [{ from, to, value: '0x1', data, gas: '0x600000' }])
}

/** Sends transfers until one is refused: how many were mined, and the refusal. */
async function sendUntilRefused(node: RunningCommand, most: number): Promise<[number, string]> {
  for (let sent = 0; sent < most; sent++) {
    const refusal = await send(node, '0x').then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (refusal !== undefined) return [sent, refusal]
  }
  return [most, 'none']
}

async function ready({ url }: RunningCommand) {
  const response = await fetch(`${url}/readyz`)
  return { code: response.status, ...((await response.json()) as { head: number; reason?: string }) }
}

/** A node that refuses changes because its disk is full: it reports so, and answers reads from memory. */
async function expectFull(node: RunningCommand, head: number): Promise<void> {
  expect(await rpc(node.url, 'eth_blockNumber')).toBe(`0x${head.toString(16)}`)
  const reason = expect.stringMatching(FULL)
  expect(await ready(node)).toEqual({ code: 503, status: 'storage', head, reason })
}

async function untilReady(node: RunningCommand): Promise<void> {
  while ((await ready(node)).code === 503);
}

/** Ends a node whose disk is full: it states what is true. */
async function endFull(node: RunningCommand): Promise<void> {
  expect(await node.end('SIGTERM')).toBe(1)
  expect(node.output()).toMatch(
    /tandem: Not every change could be written to the database \(.*\)\. What was acknowledged and is not in it is in the write-ahead log; the next start takes it from there\.\n$/,
  )
}

/** The next process has all that was acknowledged. */
async function expectWhole(dataDir: string, head: number): Promise<void> {
  const { stdout } = await runCommand(['verify', '--data-dir', dataDir])
  expect(stdout).toContain(`No fault: regtest, blocks 0 to ${head},`)
}

describeWith(PRLIMIT, 'a node with a file size limit', () => {
  it.each([[[]], [['--fsync']]])(
    'refuses changes with a reason, answers reads, and resumes by itself (%j)',
    async (flags) => {
      const dataDir = join(temporaryFolder(), 'data')
      const node = await startCommand(['--data-dir', dataDir, ...flags])
      expect(await sendUntilRefused(node, 10)).toEqual([10, 'none'])
      limitFiles(node, 0)
      const [mined, refusal] = await sendUntilRefused(node, 1_000)
      expect([mined, refusal]).toEqual([0, expect.stringMatching(FULL)])
      await expectFull(node, 10)
      limitFiles(node, 'unlimited')
      await untilReady(node)
      expect(await sendUntilRefused(node, 5)).toEqual([5, 'none'])
      limitFiles(node, 0)
      expect(await sendUntilRefused(node, 1_000)).toEqual([0, expect.stringMatching(FULL)])
      await endFull(node)
      await expectWhole(dataDir, 15)
    },
    60_000,
  )

  it('resumes by itself when only LevelDB could not write', async () => {
    const dataDir = join(temporaryFolder(), 'data')
    const node = await startCommand(['--data-dir', dataDir])
    // The write-ahead log begins a new file after four megabytes, LevelDB's log does not.
    const data = `0x${'01'.repeat(60_000)}`
    const logs = join(dataDir, 'journal')
    let head = 0
    while (
      largestFile(join(dataDir, 'db'), '.log') < 5 * MEGABYTE ||
      largestFile(logs, '.wal') > 2 * MEGABYTE
    ) {
      await send(node, data)
      head++
    }
    limitFiles(node, 4.5 * MEGABYTE)
    const [mined, refusal] = await sendUntilRefused(node, 1_000)
    expect(refusal).toMatch(FULL)
    head += mined
    await expectFull(node, head)
    limitFiles(node, 'unlimited')
    await untilReady(node)
    expect(await sendUntilRefused(node, 5)).toEqual([5, 'none'])
    expect(await node.end('SIGTERM')).toBe(0)
    await expectWhole(dataDir, head + 5)
  }, 60_000)
})

const mounts = mayMount()
describe.skipIf(!mounts)(
  `a node whose disk is full${mounts ? '' : ' (skipped: no right to mount a file system)'}`,
  () => {
    it.each([
      // The log is refused first, or LevelDB.
      [['--fsync'], 0],
      [[], 400 << 10],
    ] as const)(
      '%j, %d bytes left: refuses changes with a reason, answers reads, and resumes by itself',
      async (flags, left) => {
        const disk = smallDisk()
        const dataDir = join(disk, 'data')
        const node = await startCommand(['--data-dir', dataDir, ...flags])
        expect(await sendUntilRefused(node, 10)).toEqual([10, 'none'])
        fill(join(disk, 'filler'), left)
        const [mined, refusal] = await sendUntilRefused(node, 1_000)
        expect(refusal).toMatch(FULL)
        await expectFull(node, 10 + mined)
        rmSync(join(disk, 'filler'))
        await untilReady(node)
        expect(await sendUntilRefused(node, 5)).toEqual([5, 'none'])
        fill(join(disk, 'filler'), 0)
        const [last, again] = await sendUntilRefused(node, 1_000)
        expect(again).toMatch(FULL)
        await endFull(node)
        rmSync(join(disk, 'filler'))
        await expectWhole(dataDir, 15 + mined + last)
      },
      60_000,
    )
  },
)
