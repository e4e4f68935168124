/** Coverage in istanbul's format (https://github.com/istanbuljs/istanbuljs, `coverage-final.json`), and its union over runs. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { SourceFile } from '../source-level/source-file.ts'
import type { FileCounts } from './file-counts.ts'
import type { CoverageMap, CoveredRange, FileCoverage } from './model.ts'

const Place = z.strictObject({ line: z.int(), column: z.int() })
const Range = z.strictObject({ start: Place, end: Place })
const Counts = z.record(z.string(), z.number())

/** The coverage of a file as a file or a reply has it. */
const FileCoverageObject = z.strictObject({
  path: z.string(),
  hash: z.string(),
  statementMap: z.record(z.string(), Range),
  fnMap: z.record(z.string(), z.strictObject({ name: z.string(), decl: Range, loc: Range, line: z.int() })),
  branchMap: z.record(
    z.string(),
    z.strictObject({ type: z.string(), loc: Range, locations: z.array(Range), line: z.int() }),
  ),
  s: Counts,
  f: Counts,
  b: z.record(z.string(), z.array(z.number())),
}) satisfies z.ZodType<FileCoverage>

/** The coverage of files by path, as a file or a reply has it. */
export const CoverageMapObject = z.record(z.string(), FileCoverageObject)

function rangeIn(
  file: SourceFile,
  { start, end }: { readonly start: number; readonly end: number },
): CoveredRange {
  const place = (offset: number) => {
    const { line, column } = file.positionOf(offset)
    return { line, column: column - 1 }
  }
  return { start: place(start), end: place(end) }
}

/** The coverage of a file by its counts. */
export function fileCoverage(counts: FileCounts): FileCoverage {
  const { file, statements, functions, branches } = counts.coverable
  const range = (bytes: { readonly start: number; readonly end: number }) => rangeIn(file, bytes)
  const found: FileCoverage = {
    path: file.path,
    hash: createHash('sha256')
      .update(file.textOf({ start: 0, end: Number.MAX_SAFE_INTEGER }))
      .digest('hex'),
    statementMap: {},
    fnMap: {},
    branchMap: {},
    s: {},
    f: {},
    b: {},
  }
  const { existing } = counts
  // The keys are places in the syntax tree, so that they are the same in each run.
  for (const at of existing.statements) {
    const statement = statements[at]
    if (statement === undefined) continue
    found.statementMap[at] = range(statement.range)
    found.s[at] = counts.statements[at] ?? 0
  }
  for (const [at, { name, range: whole, body }] of functions.entries()) {
    const loc = range(whole)
    found.fnMap[at] = {
      name,
      decl: range({ start: whole.start, end: body.start }),
      loc,
      line: loc.start.line,
    }
    found.f[at] = counts.functions[at] ?? 0
  }
  for (const at of existing.branches) {
    const branch = branches[at]
    if (branch === undefined) continue
    const loc = range(branch.range)
    const locations = branch.ways.map((way) => (way === undefined ? loc : range(way)))
    found.branchMap[at] = { type: branch.kind, loc, locations, line: loc.start.line }
    found.b[at] = [...(counts.branches[at] ?? [0, 0])]
  }
  return found
}

function addCounts(to: Record<string, number>, from: Readonly<Record<string, number>>): void {
  for (const [key, count] of Object.entries(from)) to[key] = (to[key] ?? 0) + count
}

function addFile(to: FileCoverage, from: FileCoverage): void {
  Object.assign(to.statementMap, from.statementMap)
  Object.assign(to.fnMap, from.fnMap)
  Object.assign(to.branchMap, from.branchMap)
  addCounts(to.s, from.s)
  addCounts(to.f, from.f)
  for (const [key, ways] of Object.entries(from.b)) {
    to.b[key] = ways.map((count, at) => count + (to.b[key]?.[at] ?? 0))
  }
}

/** Coverage of several runs. */
export interface MergedCoverage {
  readonly files: CoverageMap
  /** Paths whose source was not the same in all runs: the coverage is that of the last one. */
  readonly changed: readonly string[]
}

/** Adds the coverage of runs. */
export function mergeCoverage(maps: readonly CoverageMap[]): MergedCoverage {
  const files = new Map<string, FileCoverage>()
  const changed = new Set<string>()
  for (const map of maps) {
    for (const [path, coverage] of Object.entries(map)) {
      const known = files.get(path)
      if (known?.hash === coverage.hash) addFile(known, coverage)
      else {
        if (known !== undefined) changed.add(path)
        files.set(path, structuredClone(coverage))
      }
    }
  }
  return { files: Object.fromEntries(files), changed: [...changed] }
}
