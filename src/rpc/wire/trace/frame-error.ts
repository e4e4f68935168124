/**
 * Error texts of failed frames: those of the reference node (docs/internals/rpc-reference.md#68-flat-trace), or plain ones,
 * which are those of Anvil 1.7.1, and of geth for opcodes that do not exist.
 */
import type { Hex } from '../../../encoding/hex.ts'
import type { CallFrame, FailureCause, FrameFailure } from '../../../evm/tracing/call-frame.ts'
import type { Dialect } from '../../dialects.ts'
import { frameException, javaException, transactionException } from './java-exception.ts'

/** The reference node's texts, or plain ones. */
export type ErrorTexts = 'reference' | 'plain'

/** The texts of a dialect. */
export function errorTextsOf(dialect: Dialect): ErrorTexts {
  return dialect === 'rsk' ? 'reference' : 'plain'
}

/** One failure as a frame of `callTracer` names it, and as a row of `trace_*`. */
interface PlainText {
  readonly frame: string
  readonly row: string
}

const OUT_OF_GAS: PlainText = { frame: 'out of gas', row: 'Out of gas' }
const same = (text: string): PlainText => ({ frame: text, row: text })

const PLAIN: Readonly<Record<Exclude<FailureCause['kind'], 'invalid-opcode' | 'other'>, PlainText>> = {
  'out-of-gas': OUT_OF_GAS,
  'precompile-out-of-gas': OUT_OF_GAS,
  'deposit-out-of-gas': OUT_OF_GAS,
  'return-data-bounds': same('OutOfOffset'),
  'invalid-jump': { frame: 'invalid jump destination', row: 'Bad jump destination' },
  'stack-underflow': same('StackUnderflow'),
  'stack-overflow': { frame: 'stack limit reached 1024 (1023)', row: 'Out of stack' },
  'static-violation': same('StateChangeDuringStaticCall'),
  'initcode-size': same('CreateInitCodeSizeLimit'),
  'code-prefix': same('CreateContractStartingWithEF'),
}

const INVALID_OPCODE = 0xfe

function plainText({ reason, cause }: FrameFailure): PlainText {
  if (cause === undefined) {
    return reason === 'insufficient balance for transfer'
      ? { frame: reason, row: 'Insufficient balance for transfer' }
      : same(reason)
  }
  if (cause.kind === 'other') return same(reason)
  if (cause.kind !== 'invalid-opcode') return PLAIN[cause.kind]
  const { opcode } = cause
  const name = opcode === INVALID_OPCODE ? 'INVALID' : `opcode 0x${opcode.toString(16)} not defined`
  return { frame: `invalid opcode: ${name}`, row: 'Bad instruction' }
}

/** The text in a frame of `callTracer`; the reference node's names the transaction. */
export function frameErrorText(
  failure: FrameFailure,
  { depth, gas }: Pick<CallFrame, 'depth' | 'gas'>,
  transactionHash: Hex,
  texts: ErrorTexts,
): string {
  const { kind, reason, cause } = failure
  if (kind === 'reverted') return 'execution reverted'
  if (texts === 'plain') return plainText(failure).frame
  if (cause === undefined) return reason
  return depth === 0
    ? transactionException(cause, gas, transactionHash)
    : javaException(cause, gas, transactionHash).message
}

/** The text in a row of `trace_*`. */
export function rowErrorText(
  failure: FrameFailure,
  { depth, gas }: Pick<CallFrame, 'depth' | 'gas'>,
  transactionHash: Hex,
  texts: ErrorTexts,
): string {
  const { kind, reason, cause } = failure
  if (kind === 'reverted') return 'Reverted'
  if (texts === 'plain') return plainText(failure).row
  if (cause === undefined) return reason
  return (depth === 0 ? transactionException : frameException)(cause, gas, transactionHash)
}
