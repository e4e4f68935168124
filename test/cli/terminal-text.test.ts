import { expect, it } from 'vitest'
import { columnLines } from '../../src/cli/terminal-text.ts'

it('keeps columns apart, however long a cell is', () => {
  const long = 'x'.repeat(60)
  const rows = [
    ['a', 'b', 'S.'],
    [long, '', 'T.'],
  ]
  expect(columnLines(rows, [42, 44])).toEqual([`${'a'.padEnd(42)}  b  S.`, `${long}     T.`])
})
