import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isDraft, lockFile, lockPath, OWNER_ONLY, replaceFile } from '../../src/store/atomic-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('replaceFile', () => {
  it('creates a file, and replaces text and mode of one that exists', async () => {
    const path = join(temporaryFolder(), 'a')
    writeFileSync(path, 'a longer text')
    chmodSync(path, 0o644)
    await replaceFile(path, 'short', OWNER_ONLY)
    expect(readFileSync(path, 'utf8')).toBe('short')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('leaves no temporary file when it fails', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'taken'))
    await expect(replaceFile(join(folder, 'taken'), 'text', OWNER_ONLY)).rejects.toThrow()
    expect(readdirSync(folder)).toEqual(['taken'])
  })

  it('writes complete texts when calls overlap', async () => {
    const path = join(temporaryFolder(), 'a')
    const texts = Array.from({ length: 20 }, (_, i) => `${i}`.repeat(10_000))
    await Promise.all(texts.map((text) => replaceFile(path, text, OWNER_ONLY)))
    expect(texts).toContain(readFileSync(path, 'utf8'))
    expect(readdirSync(join(path, '..'))).toEqual(['a'])
  })

  it('keeps the old text, and leaves no temporary file, when the new one ends early', async () => {
    const path = join(temporaryFolder(), 'a')
    async function* ending(fails: boolean) {
      yield new TextEncoder().encode('first ')
      yield new TextEncoder().encode('second')
      if (fails) throw new Error('no more')
    }
    await replaceFile(path, ending(false), 0o600)
    await expect(replaceFile(path, ending(true), 0o600)).rejects.toThrow('no more')
    expect(readFileSync(path, 'utf8')).toBe('first second')
    expect(readdirSync(join(path, '..'))).toEqual(['a'])
  })

  it.each([
    ['.a.0123456789ab.draft', true],
    ['.hidden', false],
    ['a.draft', false],
  ])('%s: a temporary file is %s', (name, expected) => {
    expect(isDraft(name)).toBe(expected)
  })
})

describe('lockFile', () => {
  it('admits one holder at a time, and the next after its release', async () => {
    const path = join(temporaryFolder(), 'a')
    const release = await lockFile(path, 0)
    expect(readFileSync(lockPath(path), 'utf8')).toBe(String(process.pid))
    expect(await lockFile(path, 0)).toBeUndefined()
    const waiting = lockFile(path, 10_000)
    release?.()
    const second = await waiting
    expect(second).toBeDefined()
    second?.()
    expect(readdirSync(join(path, '..'))).toEqual([])
  })

  it('throws when the folder does not exist', async () => {
    await expect(lockFile(join(temporaryFolder(), 'none', 'a'), 0)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
