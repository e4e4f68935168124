/**
 * What the methods of the debugger answer. The debug adapter reads answers by the same members; it loads this file, and not
 * what computes them.
 */
import { z } from 'zod'
import { AddressText, DataText, HashText } from './scalars.ts'

/** Members of a frame. */
export const debugFrameMembers = () => ({
  contract: z.string().optional(),
  function: z.string().optional(),
  file: z.string().optional(),
  line: z.int().optional(),
  column: z.int().optional(),
  endLine: z.int().optional(),
  endColumn: z.int().optional(),
  address: AddressText.optional(),
})

const DebugFrame = z.lazy(() =>
  z
    .strictObject(debugFrameMembers())
    .meta({ id: 'DebugFrame', description: 'An open frame; what is not known is absent' }),
)

/** Members of a place, but for its frames. */
export const debugPlaceMembers = () => ({
  session: DataText,
  step: z.int().describe('the number of the next instruction, from 0'),
  steps: z.int().describe('instructions of the whole execution'),
  reason: z.enum(['step', 'breakpoint', 'event', 'failure', 'start', 'end']),
  failure: z.string().describe('why the execution failed').optional(),
  gas: z.int().describe('gas left').optional(),
})

/** Where a session stands. */
export const DebugPlace = z.lazy(() =>
  z
    .strictObject({
      ...debugPlaceMembers(),
      stack: z.array(DebugFrame).describe('innermost first'),
    })
    .meta({ id: 'DebugPlace' }),
)

/** Members of a variable, or of a part of one. */
export const debugVariableMembers = () => ({
  name: z.string(),
  type: z.string(),
  value: z.string(),
  size: z.int().describe('how many parts it has'),
})

/** A variable, or a part of one. */
export const DebugVariable = z.lazy(() =>
  z.strictObject(debugVariableMembers()).meta({ id: 'DebugVariable' }),
)

/** Members of the machine's state in a frame. */
export const debugMachineMembers = () => ({
  pc: z.int(),
  opcode: z.string(),
  stack: z.array(HashText).describe('the top is the last'),
  memory: DataText,
  storage: z.record(HashText, HashText).describe('the slots that the execution touches'),
})

/** The machine's state in a frame. */
export const DebugMachine = z.lazy(() => z.strictObject(debugMachineMembers()))

/** Members of a source of an execution. */
export const debugSourceMembers = () => ({
  file: z.string(),
  content: z.string(),
  lines: z.array(z.int()).describe('lines at which statements begin'),
})

/** The sources of an execution. */
export const DebugSourceList = z.lazy(() => z.array(z.strictObject(debugSourceMembers())))
