/** Gas as tables for the terminal. */
import pc from 'picocolors'
import type { GasDifference } from '../gas/gas-difference.ts'
import type { GasReport, GasStats } from '../gas/model.ts'
import { plain } from './terminal-text.ts'

type Cell = string | number

/** Lines of a table: texts to the left, numbers to the right. */
function table(title: string, head: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  if (rows.length === 0) return []
  const texts = [head, ...rows.map((row) => row.map(String))]
  const widths = head.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly Cell[], from: readonly Cell[]) =>
    row
      .map((cell, column) =>
        typeof (from[column] ?? cell) === 'number'
          ? String(cell).padStart(widths[column] ?? 0)
          : plain(String(cell)).padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  const first = rows[0] ?? []
  return ['', pc.bold(title), pc.dim(line(head, first)), ...rows.map((row) => line(row, row))]
}

const average = ({ total, calls }: GasStats): number => Math.round(total / calls)

const statsOf = (row: GasStats): readonly Cell[] => [row.min, row.max, average(row), row.calls]

const byText = (a: GasStats, b: GasStats): number =>
  `${a.contract} ${a.function}` < `${b.contract} ${b.function}` ? -1 : 1

const share = (part: number, whole: number): string =>
  whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`

/** Gas of contracts and of groups of opcodes, the most first. */
function sums(
  rows: readonly { readonly gas: number }[],
  nameOf: (index: number) => string,
): [string, number][] {
  const found = new Map<string, number>()
  for (const [index, { gas }] of rows.entries()) {
    found.set(nameOf(index), (found.get(nameOf(index)) ?? 0) + gas)
  }
  return [...found].sort(([, a], [, b]) => b - a)
}

/** The tables of a report; of functions and lines the `most` that spent most. */
export function gasTables(report: GasReport, most: number): string[] {
  const { deployments, methods, functions, lines, opcodes, gasUsed, refunds, transactions } = report
  const shares = (rows: readonly [string, number][]) =>
    rows.map(([name, gas]): Cell[] => [name, gas, share(gas, gasUsed)])
  const bySelf = functions.toSorted((a, b) => b.self - a.self).slice(0, most)
  const byGas = lines.toSorted((a, b) => b.gas - a.gas).slice(0, most)
  const stats = ['min', 'max', 'avg', 'calls']
  return [
    `${transactions} ${transactions === 1 ? 'transaction' : 'transactions'}, ${gasUsed} gas, after refunds of ${refunds}`,
    ...table(
      'Methods',
      ['contract', 'method', ...stats],
      methods.toSorted(byText).map((row) => [row.contract, row.function ?? '', ...statsOf(row)]),
    ),
    ...table(
      'Deployments',
      ['contract', ...stats],
      deployments.toSorted(byText).map((row) => [row.contract, ...statsOf(row)]),
    ),
    ...table(
      'Contracts',
      ['contract', 'gas', 'share'],
      shares(sums(opcodes, (i) => opcodes[i]?.contract ?? '')),
    ),
    ...table('Opcodes', ['group', 'gas', 'share'], shares(sums(opcodes, (i) => opcodes[i]?.group ?? ''))),
    ...table(
      'Functions',
      ['function', 'self', 'total', 'calls'],
      bySelf.map((row) => [`${row.contract}.${row.function}`, row.self, row.total, row.calls]),
    ),
    ...table(
      'Lines',
      ['line', 'gas', 'share'],
      byGas.map(({ file, line, gas }) => [`${file}:${line}`, gas, share(gas, gasUsed)]),
    ),
  ]
}

const changeOf = ({ percent, before }: GasDifference): string => {
  if (percent === undefined) return before === undefined ? 'new' : 'gone'
  const text = `${percent > 0 ? '+' : ''}${percent.toFixed(2)} %`
  return percent > 0 ? pc.red(text) : percent < 0 ? pc.green(text) : 'same'
}

/** The differences that there are, in a table. */
export function gasDifferenceTable(differences: readonly GasDifference[]): string[] {
  const changed = differences.filter(({ percent }) => percent !== 0)
  if (changed.length === 0) return ['The average gas of all deployments and methods is the same.']
  return table(
    'Average gas',
    ['of', 'before', 'after', 'change'],
    changed.map((row) => [
      row.function === undefined ? `${row.contract} (deployment)` : `${row.contract}.${row.function}`,
      row.before ?? '-',
      row.after ?? '-',
      changeOf(row),
    ]),
  ).slice(1)
}
