/**
 * Which functions can run inside of which: one that another one calls is named in its text, or in that of a function that it
 * calls. Optimised code may belong to equal code of another function, which this tells apart.
 */
import type { FunctionModel, SourceFile } from './source-file.ts'

/** A name, with what stands before a dot in front of it. */
const NAME = /(?:([\w$]+|[)\]])\s*\.\s*)?([A-Za-z_$][\w$]*)/g
/** `super`, and what may be the name of a base or library: before a dot, they call functions of the same code. */
const OWN = /^(super|[A-Z_$].*)$/

/** A name that has another one elsewhere: of `import {f as g}`, and of an operator in `using {f as +} for T`. */
const RENAMED = /(?<![\w$])([A-Za-z_$][\w$]*)\s+as\s/g

interface NamedFunctions {
  readonly byName: ReadonlyMap<string, readonly FunctionModel[]>
  /** Those that others may call by another name. */
  readonly renamed: readonly FunctionModel[]
}

/** The functions of a compilation by what they name. */
export class Reachability {
  readonly #files: Iterable<SourceFile>
  #names: NamedFunctions | undefined
  readonly #reached = new Map<FunctionModel, ReadonlySet<FunctionModel>>()

  constructor(files: Iterable<SourceFile>) {
    this.#files = files
  }

  /** Can the second function, or modifier, run as a part of the first one? */
  reaches(from: FunctionModel, to: FunctionModel): boolean {
    let reached = this.#reached.get(from)
    if (reached === undefined) {
      reached = this.#reachedFrom(from)
      this.#reached.set(from, reached)
    }
    return reached.has(to)
  }

  #reachedFrom(from: FunctionModel): ReadonlySet<FunctionModel> {
    const reached = new Set([from, ...this.#named().renamed])
    // A set is walked in the order of additions, those of the walk included.
    for (const { range } of reached) {
      for (const [, owner, name = ''] of range.file.textOf(range).matchAll(NAME)) {
        // A function that others can call is called in another contract then.
        const isForeign = owner !== undefined && !OWN.test(owner)
        for (const named of this.#named().byName.get(name) ?? []) {
          if (!isForeign || !named.isExternal) reached.add(named)
        }
      }
    }
    return reached
  }

  #named(): NamedFunctions {
    if (this.#names !== undefined) return this.#names
    const byName = new Map<string, FunctionModel[]>()
    const renamed = new Set<string>()
    for (const { functions, content } of this.#files) {
      for (const [, name = ''] of content.matchAll(RENAMED)) renamed.add(name)
      for (const one of functions) {
        const known = byName.get(one.name)
        if (known === undefined) byName.set(one.name, [one])
        else known.push(one)
      }
    }
    this.#names = { byName, renamed: [...renamed].flatMap((name) => byName.get(name) ?? []) }
    return this.#names
  }
}
