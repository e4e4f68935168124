/** What each profile opens, and whether the entries of `--methods` fit it. */
import { NodeError } from '../errors.ts'
import type { AnyMethod } from './method.ts'
import { namesOf, namespaceOf } from './method-names.ts'
import { bareName } from './permissions.ts'
import type { RpcOptions } from './rpc-options.ts'

/** The methods that a profile and preset open by themselves, by their own names. */
export function methodsOpenIn(
  { profile, preset }: Pick<RpcOptions, 'profile' | 'preset'>,
  methods: readonly AnyMethod[],
): ReadonlySet<string> {
  const open = methods.filter(
    ({ hosted, presets }) => (profile !== 'hosted' || hosted) && presets?.includes(preset) !== false,
  )
  return new Set(open.map(({ name }) => name))
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
  options: Pick<RpcOptions, 'profile' | 'preset'>,
  methods: readonly AnyMethod[],
): void {
  const refused = (reason: string) => new NodeError('invalid-options', `Option "methods" ${reason}.`)
  const inProfile = methodsOpenIn(options, methods)
  for (const entry of entries) {
    const name = bareName(entry)
    if (!isMethodOrNamespace(name, methods)) {
      throw refused(`names "${name}", and there is no such method or namespace`)
    }
    if (entry !== `-${name}` && entries.includes(`-${name}`)) throw refused(`both opens and closes "${name}"`)
    const method = methods.find((one) => namesOf(one).includes(name))
    if (entry === name && method !== undefined && !inProfile.has(method.name)) {
      const { profile, preset } = options
      const whose = profile === 'hosted' && !method.hosted ? `profile ${profile}` : `preset ${preset}`
      throw refused(`names ${name}, which the ${whose} does not open; +${name} adds it`)
    }
  }
}
