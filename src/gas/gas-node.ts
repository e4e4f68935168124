/** A tree of functions that called each other, with the gas of each. */
import type { GasFrame } from './model.ts'

/** Functions in each other; the gas of deeper ones is that of the last. */
const MOST_DEEP = 512

/** A function that others called, with the gas of each of its lines. */
export class GasNode {
  readonly frame: GasFrame
  readonly #depth: number
  readonly children = new Map<string, GasNode>()
  /** Gas by line, those of another file with its name in front. */
  readonly lines = new Map<string, { readonly frame: GasFrame; gas: number }>()
  /** Gas without a line. */
  self = 0
  calls = 0

  constructor(frame: GasFrame, depth = 0) {
    this.frame = frame
    this.#depth = depth
  }

  /** The node of a function that this one calls; this one where the tree is too deep for another. */
  child(frame: GasFrame): GasNode {
    if (this.#depth >= MOST_DEEP) return this
    const key = `${frame.name} ${frame.file ?? ''}:${frame.line ?? ''}`
    let known = this.children.get(key)
    if (known === undefined) {
      known = new GasNode(frame, this.#depth + 1)
      this.children.set(key, known)
    }
    return known
  }

  /** Adds gas of an instruction. */
  spend(gas: number, line: GasFrame | undefined): void {
    if (line === undefined) this.self += gas
    else {
      const known = this.lines.get(line.name)
      if (known === undefined) this.lines.set(line.name, { frame: line, gas })
      else known.gas += gas
    }
  }
}
