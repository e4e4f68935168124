/**
 * A real process on a file system that is full for a while. It needs the right to mount one of its own; without it, the same
 * holds for the disk that test/store/write-behind.test.ts simulates.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RunningCommand, runCommand, startCommand } from '../support/command.ts'
import { rpc } from '../support/json-rpc.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A file system of 100 MB of its own; `undefined` where that is not allowed. */
function smallDisk(): string | undefined {
  const folder = temporaryFolder()
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=100m', 'none', folder])
  if (status !== 0) return undefined
  onTestFinished(() => void spawnSync('umount', ['-l', folder]))
  return folder
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
  /^The node cannot write to its disk \((ENOSPC: n|N)o space left on device\)\. Nothing was changed; changes are taken again as soon as the disk takes them\.$/

/** Sends transfers until one is refused: how many were mined, and the refusal. */
async function sendUntilRefused({ url }: RunningCommand, most: number): Promise<[number, string]> {
  const [from, to] = (await rpc(url, 'eth_accounts')) as unknown as [string, string]
  for (let sent = 0; sent < most; sent++) {
    const refusal = await rpc(url, 'eth_sendTransaction', [{ from, to, value: '0x1' }]).then(
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

describe('a node whose disk is full', () => {
  it.each([
    // The log is refused first, or LevelDB.
    [[], 0],
    [['--fsync'], 0],
    [[], 400 << 10],
  ] as const)(
    '%j, %d bytes left: refuses changes in a sentence, answers reads, and goes on by itself',
    async (flags, left) => {
      const disk = smallDisk()
      if (disk === undefined) return
      const dataDir = join(disk, 'data')
      const node = await startCommand(['--data-dir', dataDir, ...flags])
      expect(await sendUntilRefused(node, 10)).toEqual([10, 'none'])
      fill(join(disk, 'filler'), left)
      const [mined, refusal] = await sendUntilRefused(node, 1_000)
      expect(refusal).toMatch(FULL)
      const head = 10 + mined
      expect(await rpc(node.url, 'eth_blockNumber')).toBe(`0x${head.toString(16)}`)
      expect(await ready(node)).toEqual({
        code: 503,
        status: 'storage',
        head,
        reason: expect.stringMatching(FULL),
      })
      rmSync(join(disk, 'filler'))
      while ((await ready(node)).code === 503);
      expect(await sendUntilRefused(node, 5)).toEqual([5, 'none'])
      fill(join(disk, 'filler'), 0)
      const [last, again] = await sendUntilRefused(node, 1_000)
      expect(again).toMatch(FULL)
      // It states what is true, and the next process has all.
      expect(await node.end('SIGTERM')).toBe(1)
      expect(node.output()).toMatch(
        /tandem: The database could not be written to the end \(.*\)\. What was acknowledged and is not in it is in the write-ahead log; the next start takes it from there\.\n$/,
      )
      rmSync(join(disk, 'filler'))
      const { stdout } = await runCommand(['verify', '--data-dir', dataDir])
      expect(stdout).toContain(`No fault: regtest, blocks 0 to ${head + 5 + last},`)
    },
    60_000,
  )
})
