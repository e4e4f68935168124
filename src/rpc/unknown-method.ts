/** The refusal of a method that does not exist, or that a caller may not know of. */
import { editDistance } from '../encoding/edit-distance.ts'
import { NodeError } from '../errors.ts'
import type { Preset } from '../options/presets.ts'
import { absenceOf, METHOD_NOT_FOUND } from './absent-methods.ts'

/** A longer name is no misspelt one. */
const LONGEST_NAME = 64
/** Characters that differ in a misspelt name, at most; and at most this part of the name. */
const MOST_DIFFERENT = 3
const PART_DIFFERENT = 1 / 4

/** The name without its namespace. */
const ownPart = (name: string): string => name.slice(name.indexOf('_') + 1).toLowerCase()

/** The name that a caller most likely meant: one that is nearly the same, or the same in another namespace. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined
  const most = Math.min(MOST_DIFFERENT, Math.floor(name.length * PART_DIFFERENT))
  let [nearest, least]: [string | undefined, number] = [undefined, most + 1]
  for (const candidate of names) {
    if (Math.abs(candidate.length - name.length) >= least) continue
    const found = editDistance(name, candidate)
    if (found < least) [nearest, least] = [candidate, found]
  }
  return nearest ?? names.find((candidate) => ownPart(candidate) === ownPart(name))
}

/**
 * The refusal of `name` to a caller for whom the methods of these names are open. The reference node's message names
 * nothing, so it stays, and the data names the nearest method where there is one; under a preset the message names both.
 */
export function unknownMethod(name: string, open: () => readonly string[], preset: Preset): NodeError {
  const message = absenceOf(name)
  if (message !== METHOD_NOT_FOUND || name === '' || name.length > LONGEST_NAME) {
    return new NodeError('method-not-found', message)
  }
  const nearest = nearestName(name, open())
  const data = nearest === undefined ? undefined : { method: name, nearest }
  if (preset === 'rsk') return new NodeError('method-not-found', message, data)
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`
  return new NodeError('method-not-found', `${message}: ${name}${meant}`, data)
}
