import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keyFilesIn } from '../../src/store/key-files.ts'
import { saying } from '../support/refusals.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const modeOf = (path: string): number => statSync(path).mode & 0o777

describe('key files', () => {
  it('do not exist before the first write, nor does their folder', async () => {
    const folder = join(temporaryFolder(), 'keystore')
    expect(await keyFilesIn(folder).read()).toEqual([])
    expect(existsSync(folder)).toBe(false)
  })

  it('are read by name, and readable by their owner only', async () => {
    const folder = join(temporaryFolder(), 'deep', 'keystore')
    const files = keyFilesIn(folder)
    await files.write({ name: 'b', text: 'two' })
    await files.write({ name: 'a', text: 'one' })
    expect(modeOf(folder)).toBe(0o700)
    expect(modeOf(join(folder, 'a'))).toBe(0o600)
    expect(readdirSync(folder).sort()).toEqual(['a', 'b'])
    await files.write({ name: 'b', text: 'second' })
    expect(await keyFilesIn(folder).read()).toEqual([
      { name: 'a', text: 'one' },
      { name: 'b', text: 'second' },
    ])
  })

  it('skip folders, hidden files and temporary files, and the next write removes the temporary files', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'old'))
    writeFileSync(join(folder, '.hidden'), '')
    writeFileSync(join(folder, '.a.0123456789ab.draft'), '{"half')
    const files = keyFilesIn(folder)
    expect(await files.read()).toEqual([])
    await files.write({ name: 'b', text: 'two' })
    expect(readdirSync(folder).sort()).toEqual(['.hidden', 'b', 'old'])
  })

  it('keep the old file when the new one cannot be written', async () => {
    const folder = temporaryFolder()
    const files = keyFilesIn(folder)
    // 255 bytes are the longest name of a file; the draft's is longer.
    const name = 'a'.repeat(255)
    writeFileSync(join(folder, name), 'one')
    await expect(files.write({ name, text: 'two' })).rejects.toThrow()
    expect(readFileSync(join(folder, name), 'utf8')).toBe('one')
  })

  it('that cannot be read stop the start with a message', async () => {
    const folder = join(temporaryFolder(), 'keystore')
    writeFileSync(folder, 'no folder')
    const reading = keyFilesIn(folder).read()
    await expect(reading).rejects.toMatchObject({ kind: 'database' })
    await expect(reading).rejects.toThrow(
      saying(`The key files in ${folder} cannot be read: ENOTDIR: not a directory, scandir '${folder}'`),
    )
  })

  it.skipIf(process.platform !== 'linux')('are refused when their folder cannot be created', async () => {
    const writing = keyFilesIn('/proc/tandem/keystore').write({ name: 'a', text: 'one' })
    await expect(writing).rejects.toThrow(saying("ENOENT: no such file or directory, mkdir '/proc/tandem'"))
  })
})
