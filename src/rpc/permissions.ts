/**
 * Which methods are open: to all callers of a node by `--methods` (docs/internals/rpc-reference.md#82-modules), and to
 * the holder of a key.
 */
import { guardsOf, type MethodNames, namesOf, namespaceOf } from './method-names.ts'

/** Is this method open? */
export type Permission = (method: MethodNames) => boolean

/** The page of metrics, as the lists of keys name it; guarded, as every namespace without a row. */
export const METRICS_PAGE = 'metrics'

/** The APIs of explorers and verifiers, as the lists of keys name them; guarded, since they run compilers. */
export const EXPLORER_API = 'explorer'

/** The bare name of an entry of a list of permissions. */
export const bareName = (entry: string): string => entry.replace(/^[-+]/, '')

/**
 * Reads a list of namespaces and method names to open, with a minus to close, or with a plus to open beyond what a
 * profile opens. Naming any to open closes the rest; a method's own name counts more than its namespace. The empty list
 * opens everything that the profile does. Aliases count as names, so closing one closes the method, whatever it is called.
 */
export function createPermissions(
  names: readonly string[],
  profile: ReadonlySet<string> | undefined = undefined,
): Permission {
  const marked = (mark: string) => new Set(names.filter((name) => name.startsWith(mark)).map(bareName))
  const [closed, added] = [marked('-'), marked('+')]
  const opened = new Set(names.filter((name) => name === bareName(name)))
  return (method) => {
    const called = namesOf(method)
    if (called.some((name) => closed.has(name))) return false
    if (called.some((name) => added.has(name))) return true
    const inProfile = profile === undefined || profile.has(method.name)
    if (inProfile && called.some((name) => opened.has(name))) return true
    const namespaces = called.map(namespaceOf)
    if (namespaces.some((namespace) => closed.has(namespace))) return false
    if (namespaces.some((namespace) => added.has(namespace))) return true
    return inProfile && (opened.size === 0 || namespaces.some((namespace) => opened.has(namespace)))
  }
}

/**
 * Reads the list of a key: the same, but guarded namespaces and methods open only when they, or the methods in them, are
 * named, and what every key opens need not be named.
 */
export function createKeyPermissions(names: readonly string[]): Permission {
  const permits = createPermissions(names)
  const isClosed = (name: string) => names.includes(`-${name}`)
  const opened = new Set(names.filter((name) => name === bareName(name)))
  return (method) => {
    const isOffered = method.isForEveryKey === true
    if (isOffered && ![...namesOf(method), ...namesOf(method).map(namespaceOf)].some(isClosed)) return true
    if (!permits(method)) return false
    const guards = guardsOf(method)
    return guards.length === 0 || guards.some((name) => opened.has(name))
  }
}
