/** The import graph of a folder of source files, and its cycles. */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** For each file the files that it imports, by path. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

/** All import specifiers of a file: type imports, re-exports and dynamic imports included. */
export function importSpecifiers(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  return [...text.matchAll(/(?<![\w'-])(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    (match) => match[1] as string,
  )
}

/** The relative imports between these files; paths are relative to `root`. */
export function importGraph(root: string, files: readonly string[]): ImportGraph {
  const resolve = (file: string) =>
    importSpecifiers(join(root, file))
      .filter((path) => path.startsWith('.'))
      .map((path) => normalize(join(dirname(file), path)))
  return new Map(files.map((file) => [file, resolve(file)]))
}

/** The strongly connected components of more than one file (Tarjan's algorithm), each sorted. */
export function importCycles(graph: ImportGraph): string[][] {
  const index = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const cycles: string[][] = []

  function visit(file: string): number {
    const own = index.size
    index.set(file, own)
    let low = own
    stack.push(file)
    onStack.add(file)
    for (const target of graph.get(file) ?? []) {
      if (!graph.has(target)) continue
      if (!index.has(target)) low = Math.min(low, visit(target))
      else if (onStack.has(target)) low = Math.min(low, index.get(target) as number)
    }
    if (low === own) {
      const component = stack.splice(stack.indexOf(file))
      for (const member of component) onStack.delete(member)
      if (component.length > 1) cycles.push(component.sort())
    }
    return low
  }

  for (const file of graph.keys()) if (!index.has(file)) visit(file)
  return cycles
}
