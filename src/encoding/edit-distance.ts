/** How much two texts differ. */

/** Inserted, removed and replaced characters between two texts (Levenshtein), compared without regard to case. */
export function editDistance(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  let row = Array.from(b, (_, j) => j + 1)
  for (let i = 0; i < a.length; i++) {
    let [diagonal, left] = [i, i + 1]
    row = row.map((above, j) => {
      left = Math.min(diagonal + (a[i] === b[j] ? 0 : 1), above + 1, left + 1)
      diagonal = above
      return left
    })
  }
  return row.at(-1) ?? a.length
}
