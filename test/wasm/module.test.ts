import { describe, expect, it } from 'vitest'
import { FunctionBody, I32, I64, OP } from '../../src/wasm/function-body.ts'
import { ModuleWriter } from '../../src/wasm/module.ts'
import { compileModule, createMemory, instantiate } from '../../src/wasm/web-assembly.ts'

/** The functions of a module whose memory begins with these bytes. */
function load(module: ModuleWriter, bytes: readonly number[] = [], host: Record<string, unknown> = {}) {
  const memory = createMemory(1)
  new Uint8Array(memory.buffer).set(bytes)
  const functions = instantiate(compileModule(module.encode()), { memory, ...host })
  return { functions: functions as Record<string, (...parameters: never[]) => unknown>, memory }
}

describe('a module', () => {
  it.each([0n, 63n, 64n, -1n, -64n, -65n, 127n, 128n, 2n ** 62n, 2n ** 63n - 1n, -(2n ** 63n)])(
    'holds the constant %d',
    (value) => {
      const module = new ModuleWriter()
      const body = new FunctionBody(0)
      body.i64(value)
      module.add('constant', { parameters: [], results: [I64] }, body)
      expect(load(module).functions.constant?.()).toBe(value)
    },
  )

  it('calls imported functions and its own functions by their indexes', () => {
    const module = new ModuleWriter()
    const given = module.import('given', { parameters: [I32], results: [I32] })
    const double = new FunctionBody(1)
    double.get(0)
    double.get(0)
    double.op(OP.i32_add)
    const own = module.add('double', { parameters: [I32], results: [I32] }, double)
    const both = new FunctionBody(1)
    both.get(0)
    both.call(given)
    both.call(own)
    module.add('both', { parameters: [I32], results: [I32] }, both)
    const { functions } = load(module, [], { given: (value: number) => value + 100 })
    expect(functions.both?.(7 as never)).toBe(214)
  })

  it('reverses 16 bytes when it loads and stores them', () => {
    const bytes = Array.from({ length: 16 }, (_, i) => i + 1)
    const module = new ModuleWriter()
    const low = new FunctionBody(0)
    low.i32(0)
    low.loadReversed(0)
    low.extract(0)
    module.add('low', { parameters: [], results: [I64] }, low)
    const put = new FunctionBody(0)
    put.i32(0)
    put.i64(0x0102030405060708n)
    put.splat()
    put.i64(0x1112131415161718n)
    put.replace(1)
    put.storeReversed(32)
    module.add('put', { parameters: [], results: [] }, put)
    const { functions, memory } = load(module, bytes)
    expect(functions.low?.()).toBe(0x090a0b0c0d0e0f10n)
    functions.put?.()
    const written = Buffer.from(memory.buffer, 32, 16).toString('hex')
    expect(written).toBe('11121314151617180102030405060708')
  })
})
