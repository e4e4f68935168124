/** Counts the paths that are taken through compiled code, so that tests can tell which they have not covered. */
import type { FunctionBody } from '../../wasm/function-body.ts'
import type { ModuleWriter } from '../../wasm/module.ts'
import { HOST_SIGNATURES } from './protocol.ts'

/** Writes into a body that the path of this name is taken; nothing where paths are not counted. */
export type Mark = (body: FunctionBody, path: string) => void

/** How often each way was taken; those that are only written count 0. */
export class PathCounter {
  readonly #ways: { readonly path: string; count: number }[] = []
  readonly #ids = new Map<string, number>()

  /** The number of a way. */
  idOf(path: string): number {
    let id = this.#ids.get(path)
    if (id === undefined) {
      id = this.#ways.push({ path, count: 0 }) - 1
      this.#ids.set(path, id)
    }
    return id
  }

  /** The way of this number is taken. */
  take(id: number): void {
    const way = this.#ways[id]
    if (way !== undefined) way.count++
  }

  /** How often each way was taken, by name. */
  counts(): ReadonlyMap<string, number> {
    return new Map(this.#ways.map(({ path, count }) => [path, count]))
  }
}

/** What marks ways in the functions of a module; before any other function is added to it. */
export function marksIn(module: ModuleWriter, paths: PathCounter | undefined): Mark {
  if (paths === undefined) return () => {}
  const take = module.import('path', HOST_SIGNATURES.path)
  return (body, path) => {
    body.i32(paths.idOf(path))
    body.call(take)
  }
}
