/** The check of LevelDB's tables: what memory it takes. That it finds damage: `damaged-files.test.ts`. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { diskFiles, type Files } from '../../src/store/files.ts'
import { checkClosedTables, openLevel } from '../../src/store/level-files.ts'
import { checkTables, createChecksum } from '../../src/store/table-blocks.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('reads a table of many megabytes into the same memory', async () => {
  const dataDir = temporaryFolder()
  mkdirSync(join(dataDir, 'db'))
  const open = async () =>
    (await openLevel(dataDir, { createIfMissing: true, tables: await checkClosedTables(dataDir) })).level
  const filled = await open()
  const entries = Array.from({ length: 80 }, (_, n) => ({
    type: 'put' as const,
    key: Uint8Array.of(n),
    value: new Uint8Array(50_000).fill(n),
  }))
  await filled.batch(entries, { sync: false })
  await filled.close()
  // LevelDB makes a table of its log when it is opened.
  await (await open()).close()

  const folder = join(dataDir, 'db')
  const tables = readdirSync(folder).filter((name) => name.endsWith('.ldb'))
  const checksum = await createChecksum()
  if (checksum === undefined) throw new Error('there is no checksum')
  const read: { buffer: ArrayBufferLike; bytes: number }[] = []
  const files: Files = {
    ...diskFiles,
    openForReading(path) {
      const file = diskFiles.openForReading(path)
      return {
        size: file.size,
        read(into, position) {
          const bytes = file.read(into, position)
          read.push({ buffer: into.buffer, bytes })
          return bytes
        },
        close: () => file.close(),
      }
    },
  }
  expect([...checkTables(folder, tables, checksum, files)].flat()).toEqual([])
  const large = read.filter(({ bytes }) => bytes > 500_000)
  expect(large.length).toBeGreaterThanOrEqual(4)
  expect(new Set(large.map(({ buffer }) => buffer)).size).toBe(tables.length)
})
