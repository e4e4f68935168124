/** Releases and the ranges of a manifest. */

/** `[major, minor, patch]`; what is missing counts as 0. */
function partsOf(release: string): readonly [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = release.split(/[.-]/).map(Number)
  return [major, minor, patch].map((part) => (Number.isNaN(part) ? 0 : part)) as [number, number, number]
}

function compare(one: string, other: string): number {
  const [left, right] = [partsOf(one), partsOf(other)]
  const at = left.findIndex((part, i) => part !== right[i])
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0)
}

/**
 * Is a release within a range of the forms that this package's manifest has: `>=20.19`, `^6.0.0`, and several joined by
 * `||`? The package `semver`, which reads all forms, is not installed with this one.
 */
export function releaseIsWithin(release: string, range: string): boolean {
  return range.split('||').some((part) => {
    const [, sign, least] = /^\s*(>=|\^)\s*(\d[\d.]*)\s*$/.exec(part) ?? []
    if (least === undefined) throw new Error(`Unknown form of a range: ${range}`)
    const isMajorSame = partsOf(release)[0] === partsOf(least)[0]
    return compare(release, least) >= 0 && (sign === '>=' || isMajorSame)
  })
}
