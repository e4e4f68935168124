/** Kills a process with -9 while it writes batches larger than a file of the log, and while files begin and go. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/store/level.ts'
import { bytesValue, heightKey, Table } from '../../src/store/table.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const REGTEST = { chain: 'regtest', chainId: 33 } as const
const built = (file: string): string => fileURLToPath(new URL(`../../dist/store/${file}.js`, import.meta.url))
/** Entries of a batch, a kilobyte each; every fifth batch is longer than a file of the log. */
const sizeOf = (batch: number): number => (batch % 5 === 4 ? 6_000 : 700)

/** Each batch puts its number into all its entries; the number of one that is acknowledged is printed. */
const WRITER = `
const [level, tables, dataDir, fsync, from] = process.argv.slice(1)
const { openStore } = await import(level)
const { Table, heightKey, bytesValue } = await import(tables)
const store = await openStore({ chain: 'regtest', chainId: 33, dataDir, fsync: fsync === 'true' })
const table = new Table(store, 20, heightKey, bytesValue)
for (let batch = Number(from); ; batch++) {
  const size = batch % 5 === 4 ? 6000 : 700
  const value = new Uint8Array(1024).fill(batch)
  await store.batch(Array.from({ length: size }, (_, key) => table.put(key, value)))
  process.stdout.write(batch + '\\n')
}
`

/** Writes from a batch on, and is killed a moment after one was acknowledged: the last that was. */
function writeAndKill(dataDir: string, fsync: boolean, from: number, batches: number): Promise<number> {
  const args = [built('level'), built('table'), dataDir, String(fsync), String(from)]
  const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, ...args])
  let [printed, errors] = ['', '']
  child.stderr.on('data', (chunk) => (errors += chunk))
  child.stdout.on('data', (chunk) => {
    printed += chunk
    if (printed.split('\n').length > batches) child.kill('SIGKILL')
  })
  return new Promise((resolve, reject) => {
    child.on('close', () => {
      if (errors === '') resolve(Number(printed.trimEnd().split('\n').at(-1)))
      else reject(new Error(errors))
    })
  })
}

describe('a process killed with -9 while its log rotates', () => {
  it.each([false, true])(
    'has each batch completely or not at all, and every acknowledged batch (fsync %s)',
    async (fsync) => {
      const dataDir = join(temporaryFolder(), 'data')
      let from = 0
      for (const batches of [4, 9]) {
        const acknowledged = await writeAndKill(dataDir, fsync, from, batches)
        expect(acknowledged).toBeGreaterThanOrEqual(from + batches - 1)
        const store = await openStore({ ...REGTEST, dataDir })
        const table = new Table(store, 20, heightKey, bytesValue)
        // It may have one that was not acknowledged yet.
        const last = table.get(0)?.[0] as number
        expect([acknowledged, acknowledged + 1]).toContain(last)
        for (let key = 0; key < sizeOf(last); key++) {
          if (table.get(key)?.[1023] !== last) throw new Error(`entry ${key} is not of batch ${last}`)
        }
        await store.close()
        from = last + 1
      }
    },
    60_000,
  )
})
