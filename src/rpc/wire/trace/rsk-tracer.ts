/** Struct logs in the reference node's shape: `rskTracer`, its default (docs/internals/rpc-reference.md#69-struct-logs). */
import { z } from 'zod'
import { type Hex, toHex } from '../../../encoding/hex.ts'
import type { SlotWords } from '../../../evm/tracing/known-slots.ts'
import { type ProgramTrace, RskTracer } from '../../../evm/tracing/rsk-tracer.ts'
import type { Step } from '../../../evm/tracing/step.ts'
import type { FrameStart } from '../../../evm/tracing/tracer.ts'
import { asciiJson, type RawJson, rawJson } from '../../raw-json.ts'
import { toRpcSender } from '../transaction.ts'
import { transactionException } from './java-exception.ts'
import { OFF } from './options.ts'
import { quotedWord, SlotsObject, StepText, type StepTexts, WordText } from './step-text.ts'
import { tracer } from './tracer-record.ts'

const count = z.int().nonnegative()
const bareHex = z.string().regex(/^([0-9a-f]{2})*$/)

const ProgramObject = z.lazy(() =>
  z
    .strictObject({
      contractAddress: z.string().regex(/^([0-9a-f]{40})?$/),
      initStorage: SlotsObject,
      structLogs: z.array(
        z.strictObject({
          op: z.string().nullable(),
          depth: count,
          pc: count,
          gas: count,
          gasCost: count,
          memory: z.array(WordText).optional(),
          stack: z.array(WordText).optional(),
          storage: SlotsObject.optional(),
        }),
      ),
      result: bareHex,
      error: z.string(),
      reverted: z.boolean(),
      storageSize: count,
      currentStorage: SlotsObject,
    })
    .meta({ id: 'RskStructLogs', description: "Steps in the reference node's shape (rskTracer)" }),
)

const Invoke = z.lazy(() =>
  z.strictObject({
    ownerAddress: WordText,
    callerAddress: WordText,
    gas: count,
    callValue: WordText,
    msgData: z.base64(),
  }),
)

/** The result of a payment by REMASC, in the reference node's own form. */
const PAID = {
  hReturn: '',
  exception: null,
  revert: false,
  codeChanges: null,
  deleteAccounts: null,
  internalTransactions: null,
  logInfoList: null,
  gasUsed: 0,
  futureRefund: 0,
  deductedRefund: 0,
  callCreateList: null,
  maxGasUsed: 0,
  movedRemainingGasToChild: false,
  callWithValuePerformed: false,
  gasUsedBeforeRefunds: 0,
} as const

const PaymentObject = z.lazy(() =>
  z.strictObject({
    traceType: z.literal('CALL'),
    callType: z.literal('CALL'),
    creationData: z.null(),
    creationMethod: z.null(),
    invokeData: Invoke,
    programResult: z.strictObject(
      Object.fromEntries(Object.entries(PAID).map(([name, value]) => [name, z.literal(value)])),
    ),
    codeAddress: z.null(),
    subtraces: z.tuple([]),
  }),
)

const TransferObject = z.lazy(() =>
  z
    .strictObject({
      programInvoke: z.null(),
      transferInvoke: Invoke,
      subtraces: z.array(PaymentObject),
      result: z.null(),
      error: z.null(),
      reverted: z.literal(false),
    })
    .meta({ id: 'RskTransfer', description: 'A transaction without code (rskTracer)' }),
)

type Transfer = z.infer<typeof TransferObject>

/** The `rskTracer`. */
export const rskTracer = tracer({
  name: 'rskTracer',
  summary: "steps in the reference node's shape, the default",
  options: { disableStack: OFF, disableMemory: OFF, disableStorage: OFF },
  result: z.lazy(() => z.union([ProgramObject, TransferObject])),
  isBareInBlocks: true,
  start(options, { budget }) {
    const steps = new StepText(
      {
        memory: !options.disableMemory,
        stack: !options.disableStack,
        storage: !options.disableStorage,
        returnData: false,
        word: quotedWord,
        entry,
      },
      budget,
    )
    const recorder = new RskTracer(steps, !options.disableStorage)
    return {
      tracer: recorder,
      result({ transactionHash }) {
        const { trace } = recorder
        return 'transfer' in trace
          ? toTransfer(trace.transfer, trace.calls)
          : toProgram(trace, steps.entries(), transactionHash)
      },
    }
  },
})

function entry({ name, frame, pc, gas, cost }: Step, { memory, stack, storage }: StepTexts): string {
  const op = name === undefined ? 'null' : `"${name}"`
  let text = `{"op":${op},"depth":${frame.depth},"pc":${pc},"gas":${gas},"gasCost":${cost}`
  if (memory !== undefined) text += `,"memory":[${memory}]`
  if (stack !== undefined) text += `,"stack":[${stack}]`
  if (storage !== undefined) text += `,"storage":{${storage}}`
  return `${text}}`
}

const bare = (hex: Hex): string => hex.slice(2)
const word = (value: bigint): string => value.toString(16).padStart(64, '0')
const addressWord = (address: Hex): string => bare(toRpcSender(address)).padStart(64, '0')
const slotsObject = (slots: SlotWords): Readonly<Record<string, string>> =>
  Object.fromEntries([...slots].map(([slot, value]) => [word(slot), word(value)]))

function toProgram(trace: ProgramTrace, steps: RawJson, transactionHash: Hex): RawJson {
  const { contract, initialStorage, finalStorage, storageSize, output, gasLimit, failure } = trace
  const head = {
    contractAddress: contract === undefined ? '' : bare(contract),
    initStorage: slotsObject(initialStorage),
  }
  const tail = {
    result: bare(toHex(output)),
    error: failure?.cause === undefined ? '' : transactionException(failure.cause, gasLimit, transactionHash),
    reverted: failure?.kind === 'reverted',
    storageSize,
    currentStorage: slotsObject(finalStorage),
  }
  return rawJson(`${asciiJson(head).slice(0, -1)},"structLogs":[`, steps, `],${asciiJson(tail).slice(1)}`)
}

function toInvoke({ from, to, value, gas, input, depth }: FrameStart): z.infer<typeof Invoke> {
  return {
    ownerAddress: to === undefined ? word(0n) : addressWord(to),
    callerAddress: addressWord(from),
    gas: depth === 0 ? 0 : Number(gas),
    callValue: word(value),
    msgData: Buffer.from(input).toString('base64'),
  }
}

function toTransfer(transfer: FrameStart, calls: readonly FrameStart[]): Transfer {
  return {
    programInvoke: null,
    transferInvoke: toInvoke(transfer),
    subtraces: calls.map((call) => ({
      traceType: 'CALL',
      callType: 'CALL',
      creationData: null,
      creationMethod: null,
      invokeData: toInvoke(call),
      programResult: PAID,
      codeAddress: null,
      subtraces: [],
    })),
    result: null,
    error: null,
    reverted: false,
  }
}
