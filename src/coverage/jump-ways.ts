/** Which way a JUMPI goes: the compiler decides whether code jumps to the first way of a branch or behind it. */
import { JUMPDEST, opcodeAt, PUSH0, pushedWord, sizeOf } from '../evm/code-analysis.ts'
import type { CodeMap } from '../source-level/code-map.ts'
import type { SourceRange } from '../source-level/source-file.ts'
import type { Branch } from './coverable-file.ts'

/** Instructions behind a jump that are looked at. */
const MOST_LOOKED_AT = 64
const OP = { stop: 0x00, jump: 0x56, return: 0xf3, revert: 0xfd, invalid: 0xfe, selfdestruct: 0xff } as const
const ENDS: ReadonlySet<number> = new Set(Object.values(OP))
const FAILS: ReadonlySet<number> = new Set([OP.revert, OP.invalid])

/** The destination of the JUMPI at a pc, if it is pushed right before it. */
function destinationOf(code: Uint8Array, pc: number): number | undefined {
  for (let size = 1; size <= 4; size++) {
    if (code[pc - size - 1] === PUSH0 + size) return Number(pushedWord(code, pc - size - 1, size))
  }
  return undefined
}

/** The instructions from a pc on that run one after another. */
function* straight(code: Uint8Array, from: number): Generator<number> {
  let pc = from
  for (let count = 0; count < MOST_LOOKED_AT && pc < code.length; count++) {
    const opcode = opcodeAt(code, pc)
    if (count > 0 && opcode === JUMPDEST) return
    yield pc
    if (ENDS.has(opcode)) return
    pc += sizeOf(opcode)
  }
}

/** Does code from a pc on fail before it goes elsewhere? */
function fails(code: Uint8Array, from: number): boolean {
  for (const pc of straight(code, from)) if (FAILS.has(opcodeAt(code, pc))) return true
  return false
}

/** Is the second range inside the first one? Files are the same by their path. */
function contains(outer: SourceRange, inner: SourceRange): boolean {
  return outer.file.path === inner.file.path && outer.start <= inner.start && inner.end <= outer.end
}

/** In which of two ranges does code from a pc on begin? */
function wayAt(map: CodeMap, code: Uint8Array, from: number, { range, ways }: Branch): 0 | 1 | undefined {
  for (const pc of straight(code, from)) {
    const found = map.at(pc)?.range
    if (found === undefined) continue
    if (contains(ways[0], found)) return 0
    if (ways[1] !== undefined && contains(ways[1], found)) return 1
    // Code behind the branch: the way that has none of its own.
    if (!contains(range, found)) return ways[1] === undefined ? 1 : undefined
  }
  return undefined
}

/** Does the JUMPI of a branch at a pc jump to the first of its ways? `undefined` where the code behind it does not say. */
export function jumpsToFirst(
  map: CodeMap,
  code: Uint8Array,
  pc: number,
  branch: Branch,
): boolean | undefined {
  const destination = destinationOf(code, pc)
  if (branch.kind === 'require') {
    if (fails(code, pc + 1)) return true
    return destination === undefined || !fails(code, destination)
  }
  const behind = wayAt(map, code, pc + 1, branch)
  if (behind !== undefined) return behind === 1
  const jumped = destination === undefined ? undefined : wayAt(map, code, destination, branch)
  return jumped === undefined ? undefined : jumped === 0
}

/** What solc does elsewhere: it jumps over the body of an `if`, and to the first value of a `? :`. */
export function usuallyJumpsToFirst({ kind }: Branch): boolean {
  return kind === 'cond-expr'
}
