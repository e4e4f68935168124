/**
 * Struct logs in the shapes of Anvil 1.7 and Hardhat 2.29, as recorded from both: the default of `debug_trace*` under
 * their dialects.
 */
import { z } from 'zod'
import type { Hex } from '../../../encoding/hex.ts'
import { toHex } from '../../../encoding/hex.ts'
import type { Step } from '../../../evm/tracing/step.ts'
import { StructLogger } from '../../../evm/tracing/struct-logger.ts'
import { asciiJson, rawJson } from '../../raw-json.ts'
import { DataText, HashText, QuantityText, wholeNumber } from '../scalars.ts'
import { absentAs, OFF } from './options.ts'
import { quotedWord, SlotsObject, type StepFormat, StepText, type StepTexts, WordText } from './step-text.ts'
import { ETHEREUM_NAMES } from './struct-logger.ts'
import { tracer } from './tracer-record.ts'

const count = z.int().nonnegative()
const INVALID = 0xfe

function nameOf({ opcode, name = opcode.toString(16).padStart(2, '0') }: Step): string {
  return opcode === INVALID ? 'INVALID' : (ETHEREUM_NAMES[name] ?? name)
}

/** Quoted words in JSON that this node wrote, so that `0x` can be inserted. */
const prefixed = (words: string): string => words.replaceAll(/"(?=[0-9a-f]{64}")/g, '"0x')

const AnvilLogs = z.lazy(() =>
  z
    .strictObject({
      failed: z.boolean(),
      gas: count,
      returnValue: DataText,
      structLogs: z.array(
        z.strictObject({
          pc: count,
          op: z.string(),
          gas: count,
          gasCost: count,
          depth: z.int().positive(),
          error: z.string().optional(),
          stack: z.array(QuantityText).optional(),
          returnData: DataText.optional(),
          memory: z.array(HashText).optional(),
          storage: z.record(HashText, HashText).optional(),
          refund: count,
        }),
      ),
    })
    .meta({ id: 'AnvilStructLogs', description: 'Steps with --dialect anvil, where no tracer is named' }),
)

function anvilEntry(step: Step, { memory, stack, storage, returnData }: StepTexts): string {
  const { frame, pc, gas, cost, refund, failure } = step
  let text = `{"pc":${pc},"op":"${nameOf(step)}","gas":${gas},"gasCost":${cost},"depth":${frame.depth + 1}`
  if (failure !== undefined) text += `,"error":${asciiJson(failure)}`
  if (stack !== undefined) text += `,"stack":[${stack}]`
  if (returnData !== undefined) text += `,"returnData":"0x${returnData}"`
  if (memory !== undefined) text += `,"memory":[${prefixed(memory)}]`
  if (storage !== undefined && storage !== '') text += `,"storage":{${prefixed(storage)}}`
  return `${text},"refund":${refund}}`
}

/** Anvil's struct logs: memory and return data on request only. */
export const anvilLogger = tracer({
  name: 'anvilLogger',
  summary: "steps in Anvil's shape",
  options: {
    disableStack: OFF,
    disableMemory: OFF,
    disableStorage: OFF,
    enableMemory: OFF,
    enableReturnData: OFF,
    limit: absentAs(wholeNumber('Steps to return at most; 0 is no limit', Number.MAX_SAFE_INTEGER), 0),
  },
  result: AnvilLogs,
  start(options, { budget }) {
    const format: StepFormat = {
      memory: options.enableMemory && !options.disableMemory,
      stack: !options.disableStack,
      storage: !options.disableStorage,
      returnData: options.enableReturnData,
      word: (value) => `"0x${value.toString(16)}"`,
      entry: anvilEntry,
    }
    const steps = new StepText(format, budget)
    const logger = new StructLogger(steps, options.limit)
    return {
      tracer: logger,
      result() {
        const { gasUsed, succeeded, output } = logger.end
        const head = `{"failed":${!succeeded},"gas":${gasUsed},"returnValue":"${toHex(output)}","structLogs":[`
        return rawJson(head, steps.entries(), ']}')
      },
    }
  },
})

const HardhatLogs = z.lazy(() =>
  z
    .strictObject({
      failed: z.boolean(),
      gas: count,
      returnValue: z.union([DataText, z.literal('')]),
      structLogs: z.array(
        z.strictObject({
          depth: z.int().positive(),
          gas: count,
          gasCost: count,
          op: z.string(),
          pc: count,
          memory: z.array(WordText).optional(),
          stack: z.array(WordText).optional(),
          storage: SlotsObject.optional(),
        }),
      ),
    })
    .meta({ id: 'HardhatStructLogs', description: 'Steps with --dialect hardhat, where no tracer is named' }),
)

/** Each step lists all slots that its contract has used so far; the recorder lists them only at opcodes that use one. */
function hardhatEntries(): StepFormat['entry'] {
  const known = new Map<Hex, string>()
  return (step, { memory, stack, storage }) => {
    const { frame, pc, gas, cost } = step
    if (storage !== undefined && storage !== '') known.set(frame.address, storage)
    let text = `{"depth":${frame.depth + 1},"gas":${gas},"gasCost":${cost},"op":"${nameOf(step)}","pc":${pc}`
    if (memory !== undefined) text += `,"memory":[${memory}]`
    if (stack !== undefined) text += `,"stack":[${stack}]`
    if (storage !== undefined) text += `,"storage":{${known.get(frame.address) ?? ''}}`
    return `${text}}`
  }
}

/** Hardhat's struct logs: everything unless disabled. */
export const hardhatLogger = tracer({
  name: 'hardhatLogger',
  summary: "steps in Hardhat's shape",
  options: { disableStack: OFF, disableMemory: OFF, disableStorage: OFF },
  result: HardhatLogs,
  start(options, { budget }) {
    const format: StepFormat = {
      memory: !options.disableMemory,
      stack: !options.disableStack,
      storage: !options.disableStorage,
      returnData: false,
      word: quotedWord,
      entry: hardhatEntries(),
    }
    const steps = new StepText(format, budget)
    const logger = new StructLogger(steps, 0)
    return {
      tracer: logger,
      result() {
        const { gasUsed, succeeded, output } = logger.end
        const returned = output.length === 0 ? '' : toHex(output)
        const head = `{"failed":${!succeeded},"gas":${gasUsed},"returnValue":"${returned}","structLogs":[`
        return rawJson(head, steps.entries(), ']}')
      },
    }
  },
})
