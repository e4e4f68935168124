/** The record of an opcode is the one place that says how it is treated. */
import { describe, expect, it, vi } from 'vitest'
import type { Operation } from '../../src/evm/opcodes/operation.ts'
import { OPERATIONS, opcodeTable } from '../../src/evm/opcodes/table.ts'
import { CHAIN_RULES } from '../../src/evm/rules.ts'
import { createVm } from '../../src/evm/vm.ts'
import { CONTRACT, run, stepping, world } from '../support/execution.ts'

const INTERPRETED = createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY })

/** Runs the opcode once, with 17 ones on the stack, and for a jump its destination. */
function program(code: number): Uint8Array {
  const ones = Array.from({ length: 16 }, () => [0x60, 1]).flat()
  return Uint8Array.from([...ones, 0x60, 35, code, 0x5b, 0x00])
}

/** How often the record's own `run` is called. */
async function runsOf(row: Operation, vm: typeof INTERPRETED): Promise<number> {
  const spy = vi.spyOn(row as { run: Operation['run'] }, 'run')
  try {
    await run(world({ [CONTRACT]: { code: program(row.code) } }), {}, { vm })
    return spy.mock.calls.length
  } finally {
    spy.mockRestore()
  }
}

describe('the record of an opcode', () => {
  it.each(OPERATIONS.map((row) => [row.name, row] as const))(
    '%s: states whether the loop has a case for it',
    async (_, row) => {
      expect(await runsOf(row, stepping(INTERPRETED))).toBeGreaterThan(0)
      expect((await runsOf(row, INTERPRETED)) === 0).toBe(row.loopCase === row.code)
    },
  )

  it('does not share its shape with another record of the same opcode', () => {
    for (const row of OPERATIONS) {
      const dearer = opcodeTable([{ ...row, fee: row.fee + 1 }])[row.code]
      expect(dearer).toMatchObject({ name: row.name, fee: row.fee + 1, run: row.run })
      expect(dearer?.loopCase).not.toBe(row.code)
      expect(dearer?.compiled.flow).toBe('interpret')
    }
  })

  it('exists once for each opcode', () => {
    expect(new Set(OPERATIONS.map(({ code }) => code)).size).toBe(OPERATIONS.length)
    expect(OPERATIONS.every((row) => CHAIN_RULES.opcodes[row.code] === row)).toBe(true)
  })
})
