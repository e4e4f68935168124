/**
 * Answers as the reference node recorded them (fixtures/reference-node/rpc), except for what docs/differences.md lists:
 * a difference that is not listed fails, and so does a row that no longer holds.
 */
import { describe, expect, it } from 'vitest'
import { createNode } from '../../src/index.ts'
import {
  answersOf,
  differencesOf,
  isTraced,
  listedDifferences,
  methodOf,
  nodeWithReferenceBlocks,
  readTranscript,
  replay,
  rowOf,
  TRANSCRIPTS,
  type Transcript,
} from '../support/reference-answers.ts'

const rows = listedDifferences()
const found = rows.map(() => ({ methods: new Set<string>(), differences: new Set<string>(), answers: 0 }))

describe('answers', () => {
  it.each(Object.keys(TRANSCRIPTS) as Transcript[])('to the transcript %s', async (name) => {
    const exchanges = readTranscript(name).filter((exchange) => !isTraced(exchange))
    const node = await nodeWithReferenceBlocks(createNode, name)
    const answers = await replay(exchanges, answersOf(node))
    await node.close()
    const unlisted: unknown[] = []
    for (const [index, exchange] of exchanges.entries()) {
      const method = methodOf(exchange)
      const differing = new Set<number>()
      for (const difference of differencesOf(exchange[1], answers[index])) {
        const row = rowOf(rows, method, difference)
        if (row === undefined) {
          unlisted.push({ request: exchange[0], difference, theirs: exchange[1], ours: answers[index] })
          continue
        }
        const at = rows.indexOf(row)
        found[at]?.methods.add(method)
        found[at]?.differences.add(difference)
        differing.add(at)
      }
      for (const at of differing) (found[at] as { answers: number }).answers++
    }
    expect(unlisted).toEqual([])
  })

  it('differ exactly as the rows of the list state', () => {
    const asFound = found.map(({ methods, differences, answers }, at) => ({
      methods: rows[at]?.methods.filter((method) => methods.has(method)),
      differences: rows[at]?.differences.filter((difference) => differences.has(difference)),
      answers,
    }))
    expect(asFound).toEqual(
      rows.map(({ methods, differences, answers }) => ({ methods, differences, answers })),
    )
  })
})
