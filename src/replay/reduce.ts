/** The shortest part of a recording that still shows a difference: delta debugging (Zeller and Hildebrandt, 2002). */
import type { Header } from '../recording/lines.ts'
import { differencesOf } from './differences.ts'
import type { NumberedLine } from './recorded-file.ts'
import { Renaming } from './renaming.ts'
import { type Difference, replayLines } from './run.ts'
import type { Target } from './target.ts'

/**
 * A part of a list that `fails` still, and from which no item can be left out: ddmin. `fails` is asked for parts in the
 * order of the list, never for the empty one.
 */
export async function ddmin<T>(
  items: readonly T[],
  fails: (part: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let rest = items
  let parts = 2
  while (rest.length >= 2) {
    const size = Math.ceil(rest.length / parts)
    const smaller = await smallerPart(rest, size, fails)
    if (smaller !== undefined) {
      rest = smaller
      parts = Math.max(parts - 1, 2)
    } else if (parts < rest.length) parts = Math.min(parts * 2, rest.length)
    else break
  }
  return rest
}

/** The list without one of its chunks, where that fails too. */
async function smallerPart<T>(
  items: readonly T[],
  size: number,
  fails: (part: readonly T[]) => Promise<boolean>,
): Promise<readonly T[] | undefined> {
  for (let from = 0; from < items.length; from += size) {
    const without = [...items.slice(0, from), ...items.slice(from + size)]
    if (without.length > 0 && (await fails(without))) return without
  }
  return undefined
}

/** A recording that shows a difference. */
export interface Failing {
  readonly header: Header
  readonly lines: readonly NumberedLine[]
  readonly difference: Difference
}

/** A reduced recording. */
export interface Reduced {
  /** The last of them has the recorded value that differs; the others have the replies of the replay. */
  readonly lines: readonly NumberedLine[]
  /** How many parts were tried. */
  readonly tries: number
}

/** Lines that belong together: what begins work, and what ends it. */
interface Unit {
  readonly first: NumberedLine
  readonly reply: unknown
  readonly isReplied: boolean
}

/**
 * Reduces a recording. A part shows the difference where the reply to its request has, at the same member, the value that
 * the replay of the whole recording had. Every part is repeated on a target of its own.
 */
export async function reduceRecording(
  { lines, difference }: Failing,
  makeTarget: () => Promise<Target>,
): Promise<Reduced> {
  const units = unitsOf(lines)
  const failing = units.find((unit) => coversLine(unit, difference, lines))
  const fixed = units.filter(({ first }) => 'state' in first.value)
  // Events decide nothing but which one of a caller comes next.
  const caller = failing !== undefined && 'event' in failing.first.value ? failing.first.value.to : undefined
  const before = units.filter(
    (unit) =>
      unit !== failing &&
      !fixed.includes(unit) &&
      unit.first.number < difference.line &&
      (!('event' in unit.first.value) || unit.first.value.to === caller),
  )
  let tries = 0
  const partOf = (part: readonly Unit[]) => [...fixed, ...part, ...(failing === undefined ? [] : [failing])]
  const fails = async (part: readonly Unit[]) => {
    tries++
    return showsDifference(partOf(part), difference, await makeTarget())
  }
  const isAlone = failing !== undefined && (await fails([]))
  let rest = isAlone ? [] : await ddmin(before, fails)
  if (rest.length === 1 && failing !== undefined && (await fails([]))) rest = []
  const shown = partOf(rest)
  return { lines: await withReplies(shown, difference, await makeTarget()), tries }
}

/** Requests with their replies; events and ended connections stand by themselves. */
function unitsOf(lines: readonly NumberedLine[]): Unit[] {
  const replies = new Map<number, unknown>()
  for (const { value } of lines) if ('n' in value && 'reply' in value) replies.set(value.n, value.reply)
  return lines
    .filter(({ value }) => 'request' in value || 'text' in value || !('reply' in value) || 'tick' in value)
    .map((first) => {
      const { value } = first
      const isReplied = 'n' in value && replies.has(value.n)
      return { first, isReplied, reply: isReplied && 'n' in value ? replies.get(value.n) : undefined }
    })
}

function coversLine(
  { first }: Unit,
  { line, requestLine }: Difference,
  lines: readonly NumberedLine[],
): boolean {
  if (first.number === requestLine || first.number === line) return true
  const value = lines.find(({ number }) => number === line)?.value
  return value !== undefined && 'n' in value && 'n' in first.value && value.n === first.value.n
}

/** The lines of units, each of which ends what it begins. */
function foldedLines(units: readonly Unit[], replyOf: (unit: Unit) => unknown): NumberedLine[] {
  return units.map((unit, i) => {
    const { value } = unit.first
    const number = i + 2
    if (!unit.isReplied || !('time' in value)) return { number, value }
    const { reply: _reply, ...begun } = value
    if ('head' in begun) {
      const { head: _head, ...request } = begun
      return { number, value: { ...request, reply: replyOf(unit) } }
    }
    return { number, value: { ...begun, reply: replyOf(unit) } }
  })
}

/** Does the last line differ at the member, with the value that the whole replay had? */
async function showsDifference(
  units: readonly Unit[],
  difference: Difference,
  target: Target,
): Promise<boolean> {
  try {
    const lines = foldedLines(units, ({ reply }) => reply)
    const { differences } = await replayLines(lines, target, { renamesHashes: true, isOtherRelease: true })
    const last = lines.at(-1)?.number
    const rules = { renaming: new Renaming({ renamesHashes: true }), free: new Set<string>() }
    return differences.some(
      ({ line, path, replayed }) =>
        line === last &&
        path === difference.path &&
        differencesOf(difference.replayed, replayed, rules).next().done === true,
    )
  } finally {
    await target.close()
  }
}

/** The lines with the replies that the target gives to this part, but for the last, which keeps the recorded value. */
async function withReplies(
  units: readonly Unit[],
  { path, recorded }: Difference,
  target: Target,
): Promise<NumberedLine[]> {
  try {
    const replies = new Map<number, unknown>()
    const asked = foldedLines(units, ({ reply }) => reply)
    await replayLines(asked, target, {
      renamesHashes: true,
      isOtherRelease: true,
      onReply: (line, reply) => replies.set(line, reply),
    })
    return asked.map(({ number, value }, i) => {
      if (!replies.has(number)) return { number, value }
      const reply = replies.get(number)
      const isLast = i === asked.length - 1
      return { number, value: { ...value, reply: isLast ? withMember(reply, path, recorded) : reply } }
    })
  } finally {
    await target.close()
  }
}

/** A copy of a value in which the member at a path has another value. */
export function withMember(value: unknown, path: string, member: unknown): unknown {
  const keys = [...path.matchAll(/([^.[\]]+)/g)].map(([key]) => key)
  const set = (at: unknown, depth: number): unknown => {
    const key = keys[depth]
    if (key === undefined) return member
    if (Array.isArray(at)) return at.map((item, i) => (String(i) === key ? set(item, depth + 1) : item))
    const object = typeof at === 'object' && at !== null ? Object.fromEntries(Object.entries(at)) : {}
    object[key] = set(object[key], depth + 1)
    return object
  }
  return set(value, 0)
}
