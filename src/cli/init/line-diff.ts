/**
 * The difference of two short texts by lines, in the unified form. The package `diff` does more, and would be installed
 * for the few lines that `tandem init` adds to a configuration.
 */

/** Unchanged lines around a change. */
const CONTEXT = 2

interface DiffLine {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** Lengths of the longest common subsequences of the lines from `i` and from `j` on. */
function commonLengths(before: readonly string[], after: readonly string[]): number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0))
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    const row = lengths[i] as number[]
    for (let j = after.length - 1; j >= 0; j--) {
      row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  return lengths
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

function compare(before: readonly string[], after: readonly string[]): DiffLine[] {
  const lengths = commonLengths(before, after)
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]]
    if (old !== undefined && old === fresh) {
      lines.push({ sign: ' ', text: old })
      i++
      j++
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: '-', text: old })
      i++
    } else {
      lines.push({ sign: '+', text: fresh as string })
      j++
    }
  }
  return lines
}

/** The changed lines of two texts with their signs, and some around them; `…` stands for those between. */
export function lineDiff(before: string, after: string): string[] {
  const lines = compare(linesOf(before), linesOf(after))
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== ' ')
  return lines.flatMap(({ sign, text }, at) => {
    if (isNear(at)) return [`${sign} ${text}`.trimEnd()]
    return at > 0 && isNear(at - 1) && lines.slice(at).some(({ sign }) => sign !== ' ') ? ['  …'] : []
  })
}
