/** A rule that replaces the row of an opcode holds in every loop and in compiled code, whatever the opcode. */
import { describe, expect, it } from 'vitest'
import { operation } from '../../../src/evm/opcodes/operation.ts'
import { OPERATIONS, opcodeTable } from '../../../src/evm/opcodes/table.ts'
import { CHAIN_RULES } from '../../../src/evm/rules.ts'
import { createVm } from '../../../src/evm/vm.ts'
import { CONTRACT, run, stepping, world } from '../../support/execution.ts'

/** What the replacing row leaves in place of its operands. */
const LEFT = 0x7700n

/** A VM by rules with another row for an opcode, which costs 11 more, and how often that row has run. */
function replacedVm(code: number, hotAfter: number) {
  const present = OPERATIONS.find((row) => row.code === code)
  if (present === undefined) throw new Error(`no opcode ${code}`)
  const { name, fee, pops, pushes } = present
  let runs = 0
  const row = operation(code, name, fee + 11, pops, pushes, (frame) => {
    runs++
    for (let i = 0; i < pops; i++) frame.pop()
    for (let i = 0; i < pushes; i++) frame.push(LEFT + BigInt(i))
  })
  const opcodes = opcodeTable([...OPERATIONS, row])
  const vm = createVm({ chainId: 33, hotAfter, rulesAt: () => ({ ...CHAIN_RULES, opcodes }) })
  return { vm, runs: () => runs }
}

/** Pushes words and runs the opcode, six times, with the top of the stack into memory after each, and returns it. */
function program(code: number): Uint8Array {
  const words = Array.from({ length: 17 }, (_, i) => [0x61, 0, 3 * i]).flat()
  const round = [...words, code, 0x5b, 0x80, 0x60, 64, 0x52, 0x50]
  const rounds = Array.from({ length: 6 }, () => round).flat()
  return Uint8Array.from([...rounds, 0x60, 96, 0x5f, 0xf3])
}

describe('a row that replaces another', () => {
  it.each(OPERATIONS.map(({ code, name }) => [name, code] as const))('%s', async (_name, code) => {
    const seen = []
    for (const [hotAfter, isTraced] of [
      [Number.POSITIVE_INFINITY, true],
      [Number.POSITIVE_INFINITY, false],
      [0, false],
    ] as const) {
      const { vm, runs } = replacedVm(code, hotAfter)
      const state = world({ [CONTRACT]: { code: program(code), balance: 5n } })
      const { status, failure, gasUsed, output, logs } = await run(
        state,
        {},
        { vm: isTraced ? stepping(vm) : vm },
      )
      seen.push({ runs: runs(), status, failure, gasUsed, output, logs, storage: state.changes().storage })
    }
    // The traced loop runs all opcodes from the table.
    const [table, ...others] = seen
    expect(table?.runs).toBeGreaterThan(0)
    for (const other of others) expect(other).toEqual(table)
  })
})
