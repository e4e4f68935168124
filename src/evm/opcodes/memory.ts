/** Memory, hashing and copying into memory: 0x20, 0x37, 0x39, 0x3e, 0x51 to 0x53, 0x59, 0x5e. */
import { toBigInt, writeWord } from '../../encoding/bytes.ts'
import { keccak256 } from '../../encoding/hash.ts'
import { CHECKED } from '../compiled/form.ts'
import { BYTE_STORED, MEMORY_LOADED, MEMORY_STORED, ofFrameNumber } from '../compiled/inline.ts'
import { MEMORY_SIZE_AT } from '../compiled/protocol.ts'
import { FAILURE, fail } from '../failure.ts'
import type { Frame } from '../frame.ts'
import { GAS } from '../gas-schedule.ts'
import { readWord } from '../word.ts'
import { type MemoryOperands, type Operation, operation } from './operation.ts'

/** Bytes that are copied, and that are hashed, in as much time as a jump may take. */
const COPIED_PER_TICK = 2048
const HASHED_PER_TICK = 512

/** Whole or started 32-byte words in a length that was found payable or is about to be refused. */
export function words(length: bigint): number {
  return Math.ceil(Number(length) / 32)
}

/** Counts the time of a hash of so many bytes. */
export function spendHash(frame: Frame, length: number): void {
  frame.spend(length / HASHED_PER_TICK)
}

function spendCopy(frame: Frame, length: bigint): void {
  frame.spend(Number(length) / COPIED_PER_TICK)
}

/** Copies from a byte string that zeros follow for ever; pays per word and for memory. */
export function copyToMemory(
  frame: Frame,
  source: Uint8Array,
  to: bigint,
  from: bigint,
  length: bigint,
): void {
  const offset = frame.expand(to, length, GAS.copyWord * words(length))
  if (length === 0n) return
  const end = offset + Number(length)
  const start = from > BigInt(source.length) ? source.length : Number(from)
  const part = source.subarray(start, start + Number(length))
  frame.memory.set(part, offset)
  frame.memory.fill(0, offset + part.length, end)
  spendCopy(frame, length)
}

function hash(frame: Frame): void {
  const from = frame.pop()
  const length = frame.pop()
  const offset = frame.expand(from, length, GAS.keccak256Word * words(length))
  const digest = keccak256(frame.memory.subarray(offset, offset + Number(length)))
  frame.push(toBigInt(digest))
  spendHash(frame, Number(length))
}

function copyReturned(frame: Frame): void {
  const to = frame.pop()
  const from = frame.pop()
  const length = frame.pop()
  if (from + length > frame.returned.length) {
    frame.expand(to, length, GAS.copyWord * words(length))
    frame.isOutOfBounds = true
    fail(FAILURE.OUT_OF_GAS)
  }
  copyToMemory(frame, frame.returned, to, from, length)
}

function copyWithin(frame: Frame): void {
  const to = frame.pop()
  const from = frame.pop()
  const length = frame.pop()
  frame.expand(to > from ? to : from, length, GAS.copyWord * words(length))
  if (length > 0n) frame.memory.copyWithin(Number(to), Number(from), Number(from + length))
  spendCopy(frame, length)
}

const COPY = {
  compiled: CHECKED,
  hasDynamicGas: true,
  memory: { offset: 0, length: 2, access: 'write' },
} as const

/** A copy of data that the frame came with. */
function copier(code: number, name: string, source: (frame: Frame) => Uint8Array): Operation {
  const run = (frame: Frame) => {
    const to = frame.pop()
    const from = frame.pop()
    copyToMemory(frame, source(frame), to, from, frame.pop())
  }
  return operation(code, name, GAS.veryLow, 3, 0, run, COPY)
}

function load(frame: Frame): void {
  const offset = frame.expand(frame.pop(), 32n)
  frame.push(readWord(frame.memoryView, offset))
}

function store(frame: Frame): void {
  const offset = frame.expand(frame.pop(), 32n)
  writeWord(frame.memoryView, offset, frame.pop())
}

function storeByte(frame: Frame): void {
  const offset = frame.expand(frame.pop(), 1n)
  frame.memory[offset] = Number(frame.pop() & 0xffn)
}

/** So many bytes from the offset on top of the stack. */
function atTop(bytes: number, access: MemoryOperands['access']): MemoryOperands {
  return { offset: 0, length: { bytes }, access }
}

export const MEMORY: readonly Operation[] = [
  operation(0x20, 'SHA3', GAS.keccak256, 2, 1, hash, {
    compiled: { flow: 'checked', routine: 'hash' },
    hasDynamicGas: true,
  }),
  copier(0x37, 'CALLDATACOPY', (frame) => frame.input),
  copier(0x39, 'CODECOPY', (frame) => frame.analysis.code),
  operation(0x3e, 'RETURNDATACOPY', GAS.veryLow, 3, 0, copyReturned, COPY),
  operation(0x51, 'MLOAD', GAS.veryLow, 1, 1, load, {
    compiled: MEMORY_LOADED,
    hasDynamicGas: true,
    memory: atTop(32, 'read'),
  }),
  operation(0x52, 'MSTORE', GAS.veryLow, 2, 0, store, {
    compiled: MEMORY_STORED,
    hasDynamicGas: true,
    memory: atTop(32, 'write'),
  }),
  operation(0x53, 'MSTORE8', GAS.veryLow, 2, 0, storeByte, {
    compiled: BYTE_STORED,
    hasDynamicGas: true,
    memory: atTop(1, 'write'),
  }),
  operation(0x59, 'MSIZE', GAS.base, 0, 1, (frame) => frame.push(BigInt(frame.memoryWords * 32)), {
    compiled: ofFrameNumber(MEMORY_SIZE_AT),
  }),
  operation(0x5e, 'MCOPY', GAS.veryLow, 3, 0, copyWithin, { ...COPY, since: 'rskip445' }),
]
