/** Reads traces of a remote node (geth's `callTracer` and `prestateTracer`) into call frames and state diffs. */
import { z } from 'zod'
import { EMPTY } from '../encoding/bytes.ts'
import { fromHex, lowerCaseHex } from '../encoding/hex.ts'
import type { CallFrame, FrameFailure, FrameKind } from '../evm/tracing/call-frame.ts'

const HexText = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .transform((text) => lowerCaseHex(text))
const QuantityOfText = HexText.transform((text) => BigInt(text === '0x' ? 0 : text))
const Bytes = HexText.transform((text) => fromHex(text.length % 2 === 0 ? text : `0x0${text.slice(2)}`))
const KINDS = {
  CALL: 'call',
  CALLCODE: 'callcode',
  DELEGATECALL: 'delegatecall',
  STATICCALL: 'staticcall',
  CREATE: 'create',
  CREATE2: 'create2',
  SELFDESTRUCT: 'selfdestruct',
  // RSKj's name for it.
  NONE: 'selfdestruct',
} as const satisfies Record<string, FrameKind>

const WireLog = z.object({
  address: HexText,
  topics: z.array(HexText).default([]),
  data: Bytes.default(EMPTY),
  position: z.union([QuantityOfText, z.int().transform(BigInt)]).optional(),
})

const WireFrame = z.object({
  type: z.enum(Object.keys(KINDS) as [keyof typeof KINDS, ...(keyof typeof KINDS)[]]),
  from: HexText,
  to: HexText.optional(),
  value: QuantityOfText.optional(),
  gas: QuantityOfText.default(0n),
  gasUsed: QuantityOfText.default(0n),
  input: Bytes.default(EMPTY),
  output: Bytes.optional(),
  error: z.string().optional(),
  revertReason: z.string().optional(),
  logs: z.array(WireLog).default([]),
  get calls() {
    return z.array(WireFrame).default([])
  },
})
type WireFrame = z.output<typeof WireFrame>

/** Prefixes of the Java node's messages, and this node's text for each. */
const FAILURES: readonly (readonly [RegExp, string])[] = [
  [/^(Not enough gas for|Gas value overflow)/, 'out of gas'],
  [/^Invalid operation code/, 'invalid opcode'],
  [/^Operation with pc isn't 'JUMPDEST'/, 'invalid JUMP'],
  [/^Expected stack size/, 'stack underflow'],
  [/^Expected: overflow/, 'stack overflow'],
  [/^Attempt to call a state modifying opcode/, 'static state change'],
]

/** The reason of a failure in words: without the class, which only the outermost frame has, and the transaction. */
function inWords(error: string): string {
  const message = error.replace(/^(class )?[\w.]+\.[\w$]+: /, '').replace(/, tx(: |\[)0x[0-9a-f]*\]?$/, '')
  return FAILURES.find(([beginning]) => beginning.test(message))?.[1] ?? message
}

function failureOf({ error, revertReason }: WireFrame): FrameFailure | undefined {
  if (error === undefined) return undefined
  const isRevert = /revert/i.test(error)
  return {
    kind: isRevert ? 'reverted' : 'failed',
    reason: isRevert && revertReason !== undefined ? `revert ${revertReason}` : inWords(error),
  }
}

function toCallFrame(wire: WireFrame, depth: number): CallFrame {
  const failure = failureOf(wire)
  return {
    kind: KINDS[wire.type],
    depth,
    from: wire.from,
    to: wire.to,
    value: wire.value ?? 0n,
    gas: wire.gas,
    gasUsed: wire.gasUsed,
    input: wire.input,
    output: wire.output ?? EMPTY,
    ...(failure && { failure }),
    isPrecompile: false,
    ranCode: true,
    logs: wire.logs.map(({ position, ...log }, index) => ({
      log,
      position: position === undefined ? wire.calls.length : Number(position),
      index,
    })),
    calls: wire.calls.map((call) => toCallFrame(call, depth + 1)),
  }
}

/** A call tree from the wire. */
export const WireCallTree: z.ZodType<CallFrame> = WireFrame.transform((frame) => toCallFrame(frame, 0))

const WireAccount = z.object({
  balance: QuantityOfText.optional(),
  nonce: z.union([z.int().transform(BigInt), QuantityOfText]).optional(),
  code: Bytes.optional(),
  storage: z.record(HexText, QuantityOfText).default({}),
})
/** The changed parts of an account at one moment. */
export type AccountState = z.output<typeof WireAccount>

/** Accounts before and after, from the wire; only what changed. */
export const WireStateDiff = z.object({
  pre: z.record(HexText, WireAccount),
  post: z.record(HexText, WireAccount),
})
/** Accounts before and after by address. */
export type StateDiff = z.output<typeof WireStateDiff>
