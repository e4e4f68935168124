/** Checks the sections of the indexes: each is built again from its blocks and compared. */
import { equal } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { SectionRecord } from '../../store/records.ts'
import { markLogs, markMiner, participantMarker } from '../index/chain-indexes.ts'
import { GrowingRows, type Mark, SECTION_BLOCKS } from '../index/section.ts'
import type { IndexedBlock } from '../index/section-index.ts'
import type { AuditedTable, AuditedTables } from './audited-tables.ts'

/**
 * Makes the checks of the indexes. A section of a branch that lost is compared with the blocks of that branch. A section
 * whose blocks were removed applies to nothing: the node builds it again when it is needed.
 */
export function createIndexChecks(tables: AuditedTables) {
  const { headers, bodies, logSections, participantSections, minerSections } = tables

  /** The blocks of a section, ascending; `undefined` when one of them cannot be read. */
  function blocksOf(section: number, last: Hex): IndexedBlock[] | undefined {
    const blocks: IndexedBlock[] = []
    let hash = last
    for (let position = SECTION_BLOCKS - 1; position >= 0; position--) {
      const header = headers.get(hash)?.header
      if (header?.number !== section * SECTION_BLOCKS + position) return undefined
      blocks.push({ hash, header })
      hash = header.parentHash
    }
    return blocks.reverse()
  }

  async function checkSections(
    table: AuditedTable<number, SectionRecord>,
    contents: (block: IndexedBlock, mark: Mark) => void,
  ): Promise<void> {
    for await (const [section, { last, rows }] of table.entries()) {
      const blocks = blocksOf(section, last)
      if (blocks === undefined) continue
      const expected = new GrowingRows()
      for (const block of blocks) expected.add((mark) => contents(block, mark))
      if (equal(expected.encode(), rows)) continue
      table.fault(section, 'the section of the index is not that of its blocks', {
        height: section * SECTION_BLOCKS,
      })
    }
  }

  return {
    checkLogSections: () => checkSections(logSections, markLogs),
    checkMinerSections: () => checkSections(minerSections, markMiner),
    checkParticipantSections: () =>
      checkSections(
        participantSections,
        participantMarker((hash) => bodies.get(hash)?.transactions ?? []),
      ),
  }
}
