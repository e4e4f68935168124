/** Kills a real import with -9 in the middle of its work, and imports the rest. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { fillImportCommand } from '../../src/cli/import.ts'
import { fillVerifyCommand } from '../../src/cli/verify.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { fromHex } from '../../src/encoding/hex.ts'
import { openStoreForReading } from '../../src/store/level.ts'
import { PREFIX } from '../../src/store/tables.ts'
import { runFilled } from '../support/commands.ts'
import { referenceBlocks, referenceHead, rlpFile } from '../support/reference-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** Bytes in the write-ahead log of a data directory. */
function loggedBytes(dataDir: string): number {
  const folder = join(dataDir, 'journal')
  if (!existsSync(folder)) return 0
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

/** Every entry of a database but the number of its last checkpoint, which each opening raises. */
async function contents(dataDir: string): Promise<Map<string, string>> {
  const { store } = await openStoreForReading(dataDir)
  const entries = new Map<string, string>()
  for await (const [key, value] of store.entries(Uint8Array.of(0), Uint8Array.of(PREFIX.checkpoint))) {
    entries.set(Buffer.from(key).toString('hex'), Buffer.from(value).toString('hex'))
  }
  await store.close()
  return entries
}

describe('an import that is killed', () => {
  it('leaves an intact chain, and the next import reaches the reference node’s head', async () => {
    const folder = temporaryFolder()
    const dataDir = join(folder, 'data')
    const blocks = referenceBlocks('bridge')
    const child = spawn(process.execPath, [MAIN, 'import', '-', '--data-dir', dataDir], {
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    const ended = once(child, 'exit')
    child.stdin.on('error', () => {})
    // The input does not end: the import cannot either.
    child.stdin.write(concat(...blocks.slice(0, -1).map(fromHex)))
    while (child.exitCode === null && loggedBytes(dataDir) < 100_000) await wait(1)
    expect(child.exitCode).toBeNull()
    child.kill('SIGKILL')
    await ended

    const killed = await runFilled(fillVerifyCommand, ['--data-dir', dataDir])
    expect(killed).toEqual({
      output: expect.stringMatching(/^No fault: regtest, blocks 0 to \d+/),
      error: undefined,
    })
    const { error, output } = await runFilled(fillImportCommand, [
      rlpFile(folder, blocks),
      '--data-dir',
      dataDir,
    ])
    expect(error).toBeUndefined()
    const [, imported, known] = /Imported (\d+) blocks? \((\d+) were/.exec(output) ?? []
    expect(Number(known)).toBeGreaterThan(0)
    expect(Number(imported) + Number(known)).toBe(blocks.length)
    expect(output).toContain(referenceHead('bridge').hash)

    const before = await contents(dataDir)
    await runFilled(fillImportCommand, [rlpFile(folder, blocks), '--data-dir', dataDir])
    expect(await contents(dataDir)).toEqual(before)
    expect((await runFilled(fillVerifyCommand, ['--data-dir', dataDir])).error).toBeUndefined()
    expect(await contents(dataDir)).toEqual(before)
  })
})
