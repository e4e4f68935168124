/** Struct logs in geth's shape, with Ethereum's opcode names: `structLogger`. */
import { z } from 'zod'
import { toHex } from '../../../encoding/hex.ts'
import type { Step } from '../../../evm/tracing/step.ts'
import { StructLogger } from '../../../evm/tracing/struct-logger.ts'
import { asciiJson, rawJson } from '../../raw-json.ts'
import { DataText, QuantityText, wholeNumber } from '../scalars.ts'
import { absentAs, OFF } from './options.ts'
import { SlotsObject, StepText, type StepTexts, WordText } from './step-text.ts'
import { tracer } from './tracer-record.ts'

const count = z.int().nonnegative()

const StructLogs = z.lazy(() =>
  z
    .strictObject({
      gas: count,
      failed: z.boolean(),
      returnValue: DataText,
      structLogs: z.array(
        z.strictObject({
          pc: count,
          op: z.string(),
          gas: count,
          gasCost: count,
          depth: z.int().positive(),
          refund: count.optional(),
          error: z.string().optional(),
          stack: z.array(QuantityText).optional(),
          memory: z.array(WordText).optional(),
          storage: SlotsObject.optional(),
          returnData: DataText.optional(),
        }),
      ),
    })
    .meta({ id: 'StructLogs', description: "Steps in geth's shape (structLogger)" }),
)

/** Ethereum's names of opcodes that this chain names differently. */
export const ETHEREUM_NAMES: Readonly<Record<string, string>> = { SHA3: 'KECCAK256', SUICIDE: 'SELFDESTRUCT' }

function entry(step: Step, { memory, stack, storage, returnData }: StepTexts): string {
  const { opcode, name = opcode.toString(16).padStart(2, '0'), frame, pc, gas, cost, refund, failure } = step
  const op = ETHEREUM_NAMES[name] ?? name
  let text = `{"pc":${pc},"op":"${op}","gas":${gas},"gasCost":${cost},"depth":${frame.depth + 1}`
  if (refund > 0) text += `,"refund":${refund}`
  if (failure !== undefined) text += `,"error":${asciiJson(failure)}`
  if (stack !== undefined) text += `,"stack":[${stack}]`
  if (memory !== undefined) text += `,"memory":[${memory}]`
  if (storage !== undefined && storage !== '') text += `,"storage":{${storage}}`
  if (returnData !== undefined && returnData !== '') text += `,"returnData":"0x${returnData}"`
  return `${text}}`
}

/** The `structLogger`: memory and return data on request only, `limit` steps at most. */
export const structLogger = tracer({
  name: 'structLogger',
  summary: "steps in geth's shape",
  options: {
    disableStack: OFF,
    disableMemory: OFF,
    disableStorage: OFF,
    enableMemory: OFF,
    enableReturnData: OFF,
    limit: absentAs(wholeNumber('Steps to return at most; 0 is no limit', Number.MAX_SAFE_INTEGER), 0),
  },
  result: StructLogs,
  start(options, { budget }) {
    const steps = new StepText(
      {
        memory: options.enableMemory && !options.disableMemory,
        stack: !options.disableStack,
        storage: !options.disableStorage,
        returnData: options.enableReturnData,
        word: (value) => `"0x${value.toString(16)}"`,
        entry,
      },
      budget,
    )
    const logger = new StructLogger(steps, options.limit)
    return {
      tracer: logger,
      result() {
        const { gasUsed, succeeded, output } = logger.end
        const head = `{"gas":${gasUsed},"failed":${!succeeded},"returnValue":"${toHex(output)}","structLogs":[`
        return rawJson(head, steps.entries(), ']}')
      },
    }
  },
})
