/** Which methods a node opens at all: the `--methods` switch (rpc-methods 8.2). */
import { type AnyMethod, namesOf, namespaceOf } from './method.ts'

/**
 * Reads a list of namespaces and method names to open, or with a minus to close. Naming any to open closes the rest;
 * a method's own name counts more than its namespace. The empty list opens everything. Aliases count as names, so
 * closing one closes the method, whatever it is called.
 */
export function createPermissions(
  names: readonly string[],
): (method: Pick<AnyMethod, 'name' | 'aliases'>) => boolean {
  const closed = new Set(names.filter((name) => name.startsWith('-')).map((name) => name.slice(1)))
  const opened = new Set(names.filter((name) => !name.startsWith('-')))
  return (method) => {
    const called = namesOf(method)
    if (called.some((name) => closed.has(name))) return false
    if (called.some((name) => opened.has(name))) return true
    const namespaces = called.map(namespaceOf)
    if (namespaces.some((namespace) => closed.has(namespace))) return false
    return opened.size === 0 || namespaces.some((namespace) => opened.has(namespace))
  }
}
