/** Compiling is work like any other: bounded at a time, by code and in what is kept, and counted by the clock of the run. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { analyse, passingCode } from '../../../src/evm/code-analysis.ts'
import { HotCode } from '../../../src/evm/compiled/hot-code.ts'
import { CHAIN_RULES } from '../../../src/evm/rules.ts'
import { RunClock } from '../../../src/evm/scheduler.ts'
import { createVm } from '../../../src/evm/vm.ts'
import { CONTRACT, run, world } from '../../support/execution.ts'
import { worstCodes } from '../../support/worst-code.ts'

/** The largest module: regions of 32 KiB and one more of 64 KiB, with their routines. */
const MODULE_BYTES = 2 ** 15 + 2 ** 16 + 2 ** 13
/** Modules of one code, and of all that are kept. */
const CODE_BYTES = 2 ** 19
const CACHE_BYTES = 2 ** 22

const { opcodes } = CHAIN_RULES

/** The modules that are compiled and the looks at the clock, in their order: bytes, or `look`. */
const events: (number | 'look')[] = []

/** Notes what is compiled. */
class NotingHotCode extends HotCode {
  override compile(...parts: Parameters<HotCode['compile']>): ReturnType<HotCode['compile']> {
    const [analysis] = parts
    const before = analysis.compiledBytes
    const code = super.compile(...parts)
    if (analysis.compiledBytes > before) events.push(analysis.compiledBytes - before)
    return code
  }
}

const { mustPause } = RunClock.prototype
beforeEach(() => {
  events.length = 0
  RunClock.prototype.mustPause = function () {
    events.push('look')
    return mustPause.call(this)
  }
})
afterEach(() => {
  RunClock.prototype.mustPause = mustPause
})

const WORST = worstCodes(24)
const MANY_WORDS = WORST['many words and many exits'] ?? []
const COMPILED = Object.entries(WORST).filter(([name]) => !/line of (?!additions)/.test(name))

describe('the worst code', () => {
  it.each(COMPILED)('%s', async (_name, code) => {
    const vm = createVm({ chainId: 33, hotAfter: 6, hotCode: new NotingHotCode() })
    const { status } = await run(world({ [CONTRACT]: { code } }), { gas: 40_000_000n }, { vm })
    expect(status).toBe('succeeded')
    const modules = events.filter((event) => event !== 'look')
    expect(modules.length).toBeGreaterThan(0)
    for (const bytes of modules) expect(bytes).toBeLessThan(MODULE_BYTES)
    expect(modules.reduce((total, bytes) => total + bytes)).toBeLessThan(CODE_BYTES + MODULE_BYTES)
    // One that takes a good part of a slice is not followed by another before the clock is looked at.
    for (const [i, event] of events.entries())
      if (event !== 'look' && event > 2 ** 14) expect(events[i + 1] ?? 'look').toBe('look')
  })
})

describe('the cache of compiled code', () => {
  const clock = new RunClock(undefined)
  /** Code of a module of some 90 KiB, another for each number. */
  const long = (n: number) => analyse(Uint8Array.from([0x61, n >> 8, n & 255, ...MANY_WORDS]), true)

  it('is not evicted by codes of single simulations, which are kept separately and bounded', () => {
    const hotCode = new HotCode()
    const contract = long(0)
    contract.counts[0] = 100
    expect(hotCode.compile(contract, opcodes, 0, 100, clock)).toBeDefined()
    const { bytes } = hotCode
    const passing = Array.from({ length: 60 }, (_, n) => analyse(passingCode(long(n).code.slice()), true))
    for (const analysis of passing) {
      analysis.counts[0] = 100
      expect(hotCode.compile(analysis, opcodes, 0, 100, clock)).toBeDefined()
    }
    expect(hotCode.bytes).toBe(bytes)
    expect(hotCode.find(contract, opcodes)).toBeDefined()
    expect(passing.filter((analysis) => hotCode.find(analysis, opcodes) !== undefined).length).toBeLessThan(
      30,
    )
    expect(hotCode.find(passing[59] as (typeof passing)[number], opcodes)).toBeDefined()
  })

  it('is bounded, and evicted code is cold again', () => {
    const hotCode = new HotCode()
    const codes = Array.from({ length: 60 }, (_, n) => long(n))
    for (const analysis of codes) {
      analysis.counts[0] = 100
      expect(hotCode.compile(analysis, opcodes, 0, 100, clock)).toBeDefined()
      expect(hotCode.bytes).toBeLessThan(CACHE_BYTES + 2 * MODULE_BYTES)
    }
    expect(hotCode.bytes).toBeGreaterThan(CACHE_BYTES / 2)
    const [first, last] = [codes[0], codes.at(-1)]
    if (first === undefined || last === undefined) throw new Error('no codes')
    expect(hotCode.find(first, opcodes)).toBeUndefined()
    expect(first.counts[0]).toBe(0)
    expect(hotCode.find(last, opcodes)).toBeDefined()
    expect(last.counts[0]).toBe(100)
  })

  it('belongs to one VM', () => {
    const analysis = long(1)
    expect(new HotCode().compile(analysis, opcodes, 0, 0, clock)).toBeDefined()
    expect(new HotCode().find(analysis, opcodes)).toBeUndefined()
  })

  it('is separate for each opcode table', () => {
    const hotCode = new HotCode()
    const analysis = long(1)
    const other = { ...opcodes }
    const compiled = [opcodes, other].map((table) => hotCode.compile(analysis, table, 0, 0, clock))
    expect(compiled[0]).not.toBe(compiled[1])
    expect([opcodes, other].map((table) => hotCode.find(analysis, table))).toEqual(compiled)
  })

  it('is limited for each code to a maximum that all VMs share', () => {
    const analysis = long(1)
    let pc = 0
    while (analysis.compiledBytes < CODE_BYTES) {
      expect(new HotCode().compile(analysis, opcodes, pc, 0, clock)).toBeDefined()
      pc++
    }
    expect(new HotCode().compile(analysis, opcodes, pc, 0, clock)).toBeUndefined()
    expect(analysis.counts[pc]).toBeLessThan(0)
  })

  it('excludes code that is longer than an exit can address', () => {
    const code = new Uint8Array(2 ** 24).fill(0x5b)
    expect(new HotCode().compile(analyse(code, true), opcodes, 2 ** 24 - 1, 0, clock)).toBeUndefined()
  })

  it('excludes linear memories that have grown large', () => {
    const hotCode = new HotCode()
    const allocator = hotCode.takeAllocator()
    hotCode.keepAllocator(allocator)
    expect(hotCode.takeAllocator()).toBe(allocator)
    allocator.linear.grow(2 ** 23)
    hotCode.keepAllocator(allocator)
    expect(hotCode.takeAllocator()).not.toBe(allocator)
  })
})
