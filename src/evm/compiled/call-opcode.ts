/** Calls that compiled code makes, from operands in linear memory: most are without value, and their numbers are small. */
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { CallRequest, Frame } from '../frame.ts'
import type { FrameData } from '../memory-range.ts'
import { MAX_CALL_DEPTH } from '../opcodes/calls.ts'
import type { Operation } from '../opcodes/operation.ts'
import type { LinearArea } from './linear-area.ts'
import type { LinearMemory } from './linear-memory.ts'

/** The word at a place in linear memory, or the largest safe integer where that is less. */
function gasAt({ halves }: LinearMemory, at: number): number {
  const word = at >> 2
  let above = 0
  for (let i = 2; i < 8; i++) above |= halves[word + i] ?? 0
  const low = (halves[word] ?? 0) + (halves[word + 1] ?? 0) * 2 ** 32
  return above === 0 ? Math.min(low, Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER
}

/** Makes calls of frames that run in compiled code. */
export interface CallRunner {
  /** 1 when the callee has succeeded, 0 when it has failed, -1 when it has to wait, or its call has, and so the frame. */
  call(frame: Frame, call: PlainCall): number
}

/**
 * A plain call that compiled code is about to make: without value, to a contract that there is. A linear memory has one, which
 * is read anew by the calls of the callee.
 */
export class PlainCall {
  kind: CallRequest['kind'] = 'call'
  target: Hex = '0x'
  code: Uint8Array = EMPTY
  input: FrameData = EMPTY
  gas = 0
  outputOffset = 0
  outputLength = 0

  /**
   * Reads the call whose operands end at `end`, and pays its memory. False, and nothing is changed, where the table's
   * opcode is to do it: calls with value, to precompiled contracts or accounts without code, too deep, with large
   * numbers, or that cannot be paid.
   */
  read(linear: LinearMemory, end: number, { requests: kind }: Operation, area: LinearArea): boolean {
    const { frame } = area
    if (kind === undefined || kind === 'create' || kind === 'create2') return false
    let at = end - 96
    if (kind === 'call' || kind === 'callcode') {
      if (linear.small(at) !== 0) return false
      at -= 32
    }
    const inputAt = linear.small(at)
    const inputLength = linear.small(at - 32)
    const outputAt = linear.small(at - 64)
    const outputLength = linear.small(at - 96)
    if (inputAt < 0 || inputLength < 0 || outputAt < 0 || outputLength < 0) return false
    if (!this.#finds(area.owner.addresses.addressAt(linear, end - 64), area)) return false
    const inputEnd = inputLength === 0 ? 0 : inputAt + inputLength
    const outputEnd = outputLength === 0 ? 0 : outputAt + outputLength
    const last = Math.max(inputEnd, outputEnd)
    const cost = frame.costTo(last)
    if (cost > frame.gas) return false
    frame.gas -= cost
    frame.grow(last)
    this.kind = kind
    this.input = area.callData(inputAt, inputLength)
    this.gas = Math.min(gasAt(linear, end - 32), frame.gas)
    this.outputOffset = outputLength === 0 ? 0 : outputAt
    this.outputLength = outputLength
    return true
  }

  /** Takes the call that a frame has requested by the table's opcode; false when it is not plain. */
  take(area: LinearArea): boolean {
    const { frame } = area
    const { child } = frame
    if (child === undefined || 'initcode' in child || child.value !== 0n) return false
    if (!this.#finds(child.target, area)) return false
    frame.child = undefined
    frame.status = 'running'
    this.kind = child.kind
    this.input = child.input
    this.gas = child.gas
    this.outputOffset = child.outputOffset
    this.outputLength = child.outputLength
    return true
  }

  /** Finds the code to call; no rules allow less depth than the present ones. */
  #finds(target: Hex, area: LinearArea): boolean {
    const { depth, session } = area.frame
    if (depth >= MAX_CALL_DEPTH) return false
    const { journal, precompiles } = session
    const { accountVersion } = journal.state
    if (target !== area.target || accountVersion !== area.targetVersion) {
      if (precompiles.has(target)) return false
      const code = journal.codeToRun(target)
      if (code.length === 0) return false
      area.target = target
      area.targetCode = code
      area.targetVersion = accountVersion
    }
    this.target = target
    this.code = area.targetCode
    return true
  }

  /** As a frame requests it. */
  request(): CallRequest {
    const { kind, target, input, gas, outputOffset, outputLength } = this
    return { kind, target, value: 0n, input, gas, outputOffset, outputLength }
  }
}
