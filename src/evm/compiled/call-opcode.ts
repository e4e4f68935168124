/** Calls that compiled code makes, from operands in linear memory: most are without value, and their numbers are small. */
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { CallRequest, Frame } from '../frame.ts'
import { MemoryRange } from '../memory-range.ts'
import { CALLS, MAX_CALL_DEPTH } from '../opcodes/calls.ts'
import { wordToAddress } from '../word.ts'
import type { LinearMemory } from './linear-memory.ts'

/** What the opcodes of calls do at heights at which all rules are in force; `requestCall` does the same. */
export const PRESENT_CALLS: ReadonlyMap<number, (frame: Frame) => void> = new Map(
  CALLS.map(({ code, run }) => [code, run]),
)

const KINDS: readonly (CallRequest['kind'] | undefined)[] = Array.from({ length: 256 }, (_, opcode) => {
  if (opcode === 0xf1) return 'call'
  if (opcode === 0xf2) return 'callcode'
  if (opcode === 0xf4) return 'delegatecall'
  return opcode === 0xfa ? 'staticcall' : undefined
})

/** Addresses that were called last, by the low bits of their words, with these words, 5 x 32 bits each. */
const PLACES = 256
const called = new Uint32Array(PLACES * 5)
const addresses: (Hex | undefined)[] = new Array(PLACES).fill(undefined)

function addressAt(linear: LinearMemory, at: number): Hex {
  const { halves } = linear
  const word = at >> 2
  const place = (halves[word] as number) & (PLACES - 1)
  const known = addresses[place]
  const first = place * 5
  let isKnown = known !== undefined
  for (let i = 0; i < 5 && isKnown; i++) isKnown = called[first + i] === halves[word + i]
  if (isKnown) return known as Hex
  const address = wordToAddress(linear.read(at))
  addresses[place] = address
  for (let i = 0; i < 5; i++) called[first + i] = halves[word + i] as number
  return address
}

/** The word at an address, or the largest safe integer where that is less. */
function gasAt({ halves }: LinearMemory, at: number): number {
  const word = at >> 2
  let above = 0
  for (let i = 2; i < 8; i++) above |= halves[word + i] as number
  const low = (halves[word] as number) + (halves[word + 1] as number) * 2 ** 32
  return above === 0 ? Math.min(low, Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER
}

/**
 * Requests the call whose operands end at `end`. False, and nothing is changed, where the table's opcode is to do it:
 * calls with value, to precompiled contracts or absent accounts, too deep, with large numbers, or that cannot be paid.
 */
export function requestCall(linear: LinearMemory, end: number, opcode: number, frame: Frame): boolean {
  const kind = KINDS[opcode]
  if (kind === undefined || frame.depth >= MAX_CALL_DEPTH) return false
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
  const target = addressAt(linear, end - 64)
  const { precompiles, journal } = frame.session
  if (precompiles.has(target)) return false
  if (kind === 'call' && journal.state.account(target) === undefined) return false
  const inputEnd = inputLength === 0 ? 0 : inputAt + inputLength
  const outputEnd = outputLength === 0 ? 0 : outputAt + outputLength
  const last = Math.max(inputEnd, outputEnd)
  const cost = frame.costTo(last)
  if (cost > frame.gas) return false
  frame.gas -= cost
  frame.grow(last)
  const gas = Math.min(gasAt(linear, end - 32), frame.gas)
  const { region } = frame
  if (region === undefined) throw new Error('compiled code calls from outside a region')
  const input = inputLength === 0 ? EMPTY : new MemoryRange(region, inputAt, inputLength)
  const outputOffset = outputLength === 0 ? 0 : outputAt
  frame.request({ kind, target, value: 0n, input, gas, outputOffset, outputLength })
  return true
}
