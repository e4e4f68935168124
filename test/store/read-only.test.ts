/** A database open for reading: what the log has counts, nothing on the disk changes. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore, openStoreForReading, type Store } from '../../src/store/level.ts'
import { bytesValue, heightKey, Table } from '../../src/store/table.ts'
import { saying } from '../support/refusals.ts'
import { inDirectory } from './store-cases.ts'

const REGTEST = { chain: 'regtest', chainId: 33 } as const
const tableOf = (store: Store) => new Table(store, 3, heightKey, bytesValue)

async function heights(store: Store): Promise<number[]> {
  const found: number[] = []
  for await (const [height, value] of tableOf(store).range()) {
    expect(value).toEqual(Uint8Array.of(height))
    found.push(height)
  }
  return found
}

describe('openStoreForReading', () => {
  it('reads batches that are only in the log of a killed process, and leaves them in the log', () =>
    inDirectory(async (parent) => {
      const [dataDir, copy] = [join(parent, 'data'), join(parent, 'copy')]
      const first = await openStore({ ...REGTEST, dataDir })
      const table = tableOf(first)
      await first.batch([1, 3, 5].map((height) => table.put(height, Uint8Array.of(height))))
      await first.close()
      const second = await openStore({ ...REGTEST, dataDir })
      await second.batch([table.put(2, Uint8Array.of(2)), table.put(9, Uint8Array.of(9)), table.del(3)])
      await second.batch([table.del(9), table.put(7, Uint8Array.of(7))])
      // What a process that is killed now leaves behind.
      cpSync(dataDir, copy, { recursive: true })
      await second.close()
      for (const directory of [copy, copy, dataDir]) {
        const { identity, store } = await openStoreForReading(directory)
        expect(identity).toEqual(REGTEST)
        expect(await heights(store)).toEqual([1, 2, 5, 7])
        expect([3, 5, 7, 9].map((height) => tableOf(store).get(height)?.[0])).toEqual([
          undefined,
          5,
          7,
          undefined,
        ])
        await expect(store.batch([])).rejects.toThrow(saying('this database is open for reading only'))
        await store.close()
      }
    }))

  it('refuses a directory without a database, and one in use', () =>
    inDirectory(async (parent) => {
      const dataDir = join(parent, 'data')
      const refused = (message: string) => ({ kind: 'database', message })
      await expect(openStoreForReading(dataDir)).rejects.toMatchObject(
        refused(`There is no database in ${dataDir}. Name its directory with --data-dir.`),
      )
      const store = await openStore({ ...REGTEST, dataDir })
      await expect(openStoreForReading(dataDir)).rejects.toMatchObject(
        refused(
          `The data directory ${dataDir} is in use by another running node. Stop that one, or choose another directory.`,
        ),
      )
      await store.close()
    }))
})
