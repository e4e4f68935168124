/** The functions that called each other inside one message, by the jumps that the source map marks. */
import type { CodeMap } from '../source-level/code-map.ts'
import type { FunctionModel, SourceRange } from '../source-level/source-file.ts'
import { calledFunction } from '../source-level/stack/called-messages.ts'
import type { GasNode } from './gas-node.ts'
import type { GasMessage } from './gas-recorder.ts'
import type { GasFrame } from './model.ts'

/** Follows the instructions of a message. */
export class MessageStack {
  readonly #code: CodeMap | undefined
  readonly #called: FunctionModel | undefined
  readonly #nodes: GasNode[]
  #jump: 'in' | 'out' | 'none' = 'none'
  /** Has the code of the called function begun? */
  #isInside = false

  constructor(node: GasNode, message: GasMessage, code: CodeMap | undefined) {
    this.#nodes = [node]
    this.#code = code
    this.#called = code && calledFunction(code, message)
  }

  /** The node of the function that runs. */
  get top(): GasNode {
    const top = this.#nodes.at(-1)
    if (top === undefined) throw new Error('a message has a node')
    return top
  }

  /** The node of the function that the next instruction belongs to. */
  enter(pc: number): GasNode {
    const instruction = this.#code?.at(pc)
    if (this.#jump === 'in') this.#push(instruction?.range)
    else if (this.#jump === 'out') this.#pop()
    this.#jump = instruction?.jump ?? 'none'
    return this.top
  }

  #push(range: SourceRange | undefined): void {
    const found = range?.file.functionAround(range)
    const isCalled =
      found !== undefined && found === this.#called && !this.#isInside && this.#nodes.length === 1
    if (isCalled || found === undefined || this.#code === undefined) {
      // The dispatcher jumps into the function that was called; code of the compiler belongs to who uses it.
      if (isCalled) this.#isInside = true
      this.#nodes.push(this.top)
      return
    }
    const node = this.top.child(frameOf(found, this.#code))
    node.calls++
    this.#nodes.push(node)
  }

  #pop(): void {
    if (this.#nodes.length > 1) this.#nodes.pop()
  }
}

function frameOf({ name, kind, range }: FunctionModel, code: CodeMap): GasFrame {
  const contract = kind === 'free function' ? '(free function)' : code.name
  const { line } = range.file.positionOf(range.start)
  return { name: `${contract}.${name}`, contract, file: range.file.path, line }
}
