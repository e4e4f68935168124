/** What is read for a block of a long chain, most of whose blocks are not in memory. */
import { afterEach, expect, it, vi } from 'vitest'
import { createNode } from '../../../src/index.ts'
import { Table } from '../../../src/store/table.ts'
import { ask } from '../../support/state-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Records the ids of the entries that are read, of all tables. */
function readEntries(): unknown[] {
  const ids: unknown[] = []
  for (const name of ['get', 'bytes'] as const) {
    const read = Table.prototype[name]
    vi.spyOn(Table.prototype, name).mockImplementation(function (this: Table<string, unknown>, id) {
      ids.push(id)
      return read.call(this, id)
    })
  }
  return ids
}

it('reads each part of a block once, and for the state after it not the block', async () => {
  const dataDir = temporaryFolder()
  const first = await createNode({ dataDir, mining: 'manual' })
  await ask(first, 'hardhat_mine', '0x5')
  const [account] = (await ask(first, 'eth_accounts')) as string[]
  const expected = await ask(first, 'eth_getBalance', account, '0x3')
  const block = (await ask(first, 'eth_getBlockByNumber', '0x3', false)) as { hash: string }
  await first.close()
  const node = await createNode({ dataDir, mining: 'manual' })
  try {
    const ids = readEntries()
    expect(await ask(node, 'eth_getBalance', account, '0x3')).toBe(expected)
    expect(ids.filter((id) => id === block.hash)).toHaveLength(1)
    ids.length = 0
    expect(await ask(node, 'eth_getBlockByNumber', '0x3', false)).toEqual(block)
    // Header, body and receipts.
    expect(ids.filter((id) => id === block.hash)).toHaveLength(3)
  } finally {
    await node.close()
  }
})
