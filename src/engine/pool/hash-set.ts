/** Sets of hashes that share their structure: snapshots hold the pool's without a copy. */
import type { Hex } from '../../encoding/hex.ts'

/** A hash, or 16 places by the next hexadecimal digit. */
type Place = Hex | Branch | undefined
type Branch = readonly Place[]

const DIGITS = 16
const NO_PLACES: Branch = new Array<undefined>(DIGITS).fill(undefined)

function digitOf(hash: Hex, depth: number): number {
  return Number.parseInt(hash.charAt(depth + 2), DIGITS)
}

function replaced(branch: Branch, at: number, place: Place): Branch {
  const places = branch.slice()
  places[at] = place
  return places
}

function added(place: Place, hash: Hex, depth: number): Place {
  if (place === undefined || place === hash) return hash
  const branch = typeof place === 'string' ? replaced(NO_PLACES, digitOf(place, depth), place) : place
  const at = digitOf(hash, depth)
  return replaced(branch, at, added(branch[at], hash, depth + 1))
}

/** A branch with a single hash becomes that hash, so that equal sets have equal shapes. */
function removed(place: Place, hash: Hex, depth: number): Place {
  if (place === undefined || typeof place === 'string') return place === hash ? undefined : place
  const at = digitOf(hash, depth)
  const branch = replaced(place, at, removed(place[at], hash, depth + 1))
  const left = branch.filter((each) => each !== undefined)
  if (left.length > 1) return branch
  return typeof left[0] === 'object' ? branch : left[0]
}

function has(place: Place, hash: Hex, depth: number): boolean {
  for (let at = place, level = depth; ; level++) {
    if (at === undefined || typeof at === 'string') return at === hash
    at = at[digitOf(hash, level)]
  }
}

/** The hashes at a place that another place at this depth lacks. */
function* lacking(place: Place, other: Place, depth: number): Generator<Hex, undefined> {
  if (place === undefined || place === other) return
  if (typeof place === 'string') {
    if (!has(other, place, depth)) yield place
    return
  }
  for (const [digit, below] of place.entries()) {
    const isLeaf = typeof other === 'string'
    const beside = isLeaf && digitOf(other, depth) === digit ? other : isLeaf ? undefined : other?.[digit]
    yield* lacking(below, beside, depth + 1)
  }
}

/** An immutable set of hashes. To add or to remove one takes steps by the logarithm of the size. */
export class HashSet {
  readonly #root: Place
  readonly size: number

  private constructor(root: Place, size: number) {
    this.#root = root
    this.size = size
  }

  static of(hashes: Iterable<Hex>): HashSet {
    let set = new HashSet(undefined, 0)
    for (const hash of hashes) set = set.with(hash)
    return set
  }

  has(hash: Hex): boolean {
    return has(this.#root, hash, 0)
  }

  with(hash: Hex): HashSet {
    return this.has(hash) ? this : new HashSet(added(this.#root, hash, 0), this.size + 1)
  }

  without(hash: Hex): HashSet {
    return this.has(hash) ? new HashSet(removed(this.#root, hash, 0), this.size - 1) : this
  }

  /** The hashes that another set lacks, in ascending order; goes through what differs only. */
  notIn(other: HashSet): Iterable<Hex> {
    return lacking(this.#root, other.#root, 0)
  }

  /** In ascending order. */
  [Symbol.iterator](): Iterator<Hex, undefined> {
    return lacking(this.#root, undefined, 0)
  }
}
