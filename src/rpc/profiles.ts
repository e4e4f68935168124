/** What each profile opens, and whether the entries of `--methods` fit it. */
import { NodeError } from '../errors.ts'
import type { AnyMethod } from './method.ts'
import { namesOf, namespaceOf } from './method-names.ts'
import { bareName } from './permissions.ts'
import type { RpcOptions } from './rpc-options.ts'

/** The methods that a profile opens by itself, by their own names; `undefined` is all. */
export function methodsOfProfile(
  profile: RpcOptions['profile'],
  methods: readonly AnyMethod[],
): ReadonlySet<string> | undefined {
  if (profile !== 'hosted') return undefined
  return new Set(methods.filter(({ hosted }) => hosted).map(({ name }) => name))
}

/** Is this the name of a method, or of a namespace, among these? */
export function isMethodOrNamespace(name: string, methods: readonly AnyMethod[]): boolean {
  return methods.flatMap(namesOf).some((known) => known === name || namespaceOf(known) === name)
}

/**
 * Holds the entries of `--methods` to the methods that there are. Throws `invalid-options` for a name that nothing has,
 * for one both opened and closed, and for a method that the profile does not open unless it is added.
 */
export function checkMethodEntries(
  entries: readonly string[],
  profile: RpcOptions['profile'],
  methods: readonly AnyMethod[],
): void {
  const refused = (reason: string) => new NodeError('invalid-options', `Option "methods" ${reason}.`)
  const inProfile = methodsOfProfile(profile, methods)
  for (const entry of entries) {
    const name = bareName(entry)
    if (!isMethodOrNamespace(name, methods)) {
      throw refused(`names "${name}", and there is no such method or namespace`)
    }
    if (entry !== `-${name}` && entries.includes(`-${name}`)) throw refused(`both opens and closes "${name}"`)
    const method = methods.find((one) => namesOf(one).includes(name))
    if (entry === name && method !== undefined && inProfile?.has(method.name) === false) {
      throw refused(`names ${name}, which the profile ${profile} does not open; +${name} adds it`)
    }
  }
}
