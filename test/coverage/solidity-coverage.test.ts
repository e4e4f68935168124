/** Executed lines: those of solidity-coverage, which instruments the sources (fixtures/coverage/README.md). */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { lineCounts } from '../../src/coverage/summary.ts'
import { createNode } from '../../src/node/node.ts'

interface Recorded {
  readonly buildInfo: object
  readonly transactions: readonly object[]
  /** Hits by path and line. */
  readonly lines: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** Hits of both ways of the branch of a line, by path; null for several branches in a line. */
  readonly branches: Readonly<Record<string, Readonly<Record<string, readonly [number, number] | null>>>>
  /** Lines by path that only one of the two counts, and which. */
  readonly differences: Readonly<Record<string, Readonly<Record<string, string>>>>
}

function recorded(name: string): Recorded {
  const file = new URL(`../../fixtures/coverage/${name}.json.br`, import.meta.url)
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString())
}

it('are the same in Uniswap v2, apart from lines that only one of the two counts', async () => {
  const { buildInfo, transactions, lines, branches, differences } = recorded('uniswap-v2')
  const node = await createNode({ preset: 'hardhat', now: () => 1_700_000_000, blockGasLimit: 100_000_000 })
  await node.addSources(buildInfo)
  await node.request({ method: 'evm_startCoverage', params: [['transactions']] })
  for (const transaction of transactions) {
    // Most of those that fail do so on purpose.
    await node.request({ method: 'eth_sendTransaction', params: [transaction] }).catch(() => {})
  }
  const { files, notes } = await node.coverage()
  await node.close()
  expect(notes).toEqual([])
  let [executed, compared] = [0, 0]
  for (const [path, hits] of Object.entries(lines)) {
    const coverage = files[path]
    if (coverage === undefined) throw new Error(`${path} has no coverage`)
    const own = lineCounts(coverage).filter(([line]) => differences[path]?.[line] === undefined)
    const theirs = Object.entries(hits).filter(([line]) => differences[path]?.[line] === undefined)
    const run = (counts: readonly (readonly [number, number])[]) =>
      counts.flatMap(([line, count]) => (count > 0 ? [line] : []))
    expect(run(own)).toEqual(run(theirs.map(([line, count]) => [Number(line), count])))
    executed += run(own).length
    for (const [line, ways] of Object.entries(branches[path] ?? {})) {
      const here = Object.entries(coverage.branchMap).filter(([, branch]) => branch.line === Number(line))
      const [key] = here[0] ?? []
      if (ways === null || here.length !== 1 || key === undefined) continue
      expect([path, line, coverage.b[key]?.map((count) => count > 0)]).toEqual([
        path,
        line,
        ways.map((count) => count > 0),
      ])
      compared++
    }
  }
  expect(executed).toBeGreaterThan(100)
  expect(compared).toBeGreaterThan(20)
  expect(Object.values(differences).flatMap((one) => Object.values(one))).toHaveLength(4)
}, 60_000)
