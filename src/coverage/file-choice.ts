/** Which sources belong to a project. */

/** Where the sources of packages are: in node_modules, by the names of packages, and as Hardhat 3 and Foundry name them. */
const LIBRARY = /(^|\/)node_modules\/|^(@|npm\/|hardhat\/|forge-std\/|lib\/)/

/** Is it a source of a package? */
export function isLibraryPath(path: string): boolean {
  return LIBRARY.test(path)
}

/** Does a path match a pattern, in which `*` stands for any characters? */
export function matchesPattern(path: string, pattern: string): boolean {
  const parts = pattern.split('*')
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return path === pattern
  if (!path.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = path.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return path.length - last.length >= at && path.endsWith(last)
}
