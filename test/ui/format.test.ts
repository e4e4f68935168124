/** Failures of frames as the page of a transaction words them, from what `callTracer` answers. */
import { afterEach, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'
import { frameFailureText } from '../../src/ui/format.ts'

const COW = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

let node: Node
afterEach(() => node?.close())

it.each([
  ['a loop without an end', '0x5b600056', 'out of gas'],
  ['the code of a contract that cannot be paid', '0x6160006000f3', 'out of gas'],
  ['an invalid opcode', '0xfe', 'Invalid operation code: opcode[fe]'],
  ['a jump to nowhere', '0x600356', "Operation with pc isn't 'JUMPDEST': PC[3]"],
  ['too small a stack', '0x50', 'Expected stack size 1 but actual 0'],
])('%s is shown without Java class and hash', async (_, data, text) => {
  node = await createNode({ minedReverts: 'hash' })
  const request = (method: string, ...params: unknown[]) => node.request({ method, params })
  const hash = await request('eth_sendTransaction', { from: COW, data, gas: '0x11170' })
  const trace = await request('debug_traceTransaction', hash, { tracer: 'callTracer' })
  expect(frameFailureText((trace as { error: string }).error)).toBe(text)
})
