/** Checks the sections of the indexes that apply to the canonical chain: each is built again from its blocks and compared. */
import { equal } from '../../encoding/bytes.ts'
import { markLogs, participantMarker } from '../index/chain-indexes.ts'
import { GrowingRows, type Mark, SECTION_BLOCKS } from '../index/section.ts'
import type { IndexedBlock } from '../index/section-index.ts'
import type { AuditedTables } from './audited-tables.ts'

/**
 * Checks both indexes. A section whose last block is not canonical does not apply, whatever it holds: the node builds it
 * again when it is needed.
 */
export async function checkIndexes(tables: AuditedTables): Promise<void> {
  const { headers, bodies, canonical, logSections, participantSections } = tables

  function blockAt(height: number): IndexedBlock | undefined {
    const hash = canonical.get(height)
    const header = hash === undefined ? undefined : headers.get(hash)?.header
    return hash === undefined || header === undefined ? undefined : { hash, header }
  }

  /** The rows that a section must have; `undefined` when a block of it cannot be read. */
  function rowsOf(
    section: number,
    contents: (block: IndexedBlock, mark: Mark) => void,
  ): Uint8Array | undefined {
    const rows = new GrowingRows()
    for (let position = 0; position < SECTION_BLOCKS; position++) {
      const block = blockAt(section * SECTION_BLOCKS + position)
      if (block === undefined) return undefined
      rows.add((mark) => contents(block, mark))
    }
    return rows.encode()
  }

  const indexes = [
    { table: logSections, contents: markLogs },
    {
      table: participantSections,
      contents: participantMarker((hash) => bodies.get(hash)?.transactions ?? []),
    },
  ]
  for (const { table, contents } of indexes) {
    for await (const [section, { last, rows }] of table.entries()) {
      if (canonical.get((section + 1) * SECTION_BLOCKS - 1) !== last) continue
      const expected = rowsOf(section, contents)
      if (expected === undefined || equal(expected, rows)) continue
      table.fault(section, 'the section of the index is not that of its blocks', {
        height: section * SECTION_BLOCKS,
      })
    }
  }
}
