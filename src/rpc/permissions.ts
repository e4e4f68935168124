/** Which methods a node opens at all: the `--methods` switch (rpc-methods 8.2). */
import { namespaceOf } from './method.ts'

/**
 * Reads a list of namespaces and method names to open, or with a minus to close. Naming any to open closes the rest;
 * a method's own name counts more than its namespace. The empty list opens everything.
 */
export function createPermissions(names: readonly string[]): (method: string) => boolean {
  const closed = new Set(names.filter((name) => name.startsWith('-')).map((name) => name.slice(1)))
  const opened = new Set(names.filter((name) => !name.startsWith('-')))
  return (method) => {
    if (closed.has(method)) return false
    if (opened.has(method)) return true
    const namespace = namespaceOf(method)
    if (closed.has(namespace)) return false
    return opened.size === 0 || opened.has(namespace)
  }
}
