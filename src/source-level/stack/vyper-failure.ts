/**
 * Failures in code by Vyper. Its checks jump to code that they share, which is in no function, and the compiler says what each
 * checks (`error_map` beside the map of Vyper 0.4).
 */
import type { SentMessage } from '../message-recorder.ts'
import type { FunctionModel } from '../source-file.ts'
import { lastSent, type MessageRun, OP, selectorOf } from './message-run.ts'
import { constructorPlace, contractPlace, type Place, type StackFrame, startOf } from './stack-frame.ts'
import { hasCode, hasDataOf } from './submessages.ts'

/** Most instructions between a check and the end: the code that checks share. */
const SHARED = 16

/** Sentences for the compiler's words, and those of them that say no more than the statement at the place. */
const WORDS: Readonly<Record<string, string | undefined>> = {
  'user assert': undefined,
  'user raise': undefined,
  'user revert with reason': undefined,
  safeadd: 'an overflow of an addition (safeadd)',
  safesub: 'an underflow of a subtraction (safesub)',
  safemul: 'an overflow of a multiplication (safemul)',
  safediv: 'a division by zero, or an overflow of one (safediv)',
  safemod: 'a modulo by zero (safemod)',
  safepow: 'an overflow of a power (safepow)',
  'assert unreachable': 'an assertion of what is unreachable',
  'raise unreachable': 'code that is declared as unreachable',
}

/** Checks of what a message did that was sent. */
const OF_MESSAGES = ['external call failed', 'send failed', 'create failed']

/** Checks of what was called: its data, its value, its selector. */
const OF_CALLS = ['bad calldatasize or callvalue', 'nonpayable check', 'calldatasize check']

/** What the compiler checks at the end of a run, in its own words: there, or at the jump to the code that checks share. */
function checkOf(run: MessageRun): string | undefined {
  const { code, message, length } = run
  const from = Math.max(lastSent(message)?.after ?? 0, length - SHARED)
  for (let index = length - 1; index >= from; index--) {
    const check = code.checkAt(message.pcs[index] ?? 0)
    if (check !== undefined || run.at(index)?.opcode === OP.JUMPI) return check
  }
  return undefined
}

/** Did the code fail because the message failed, of whose failure it has no data? */
export function isPassedOnByVyper(run: MessageRun, { message }: SentMessage): boolean {
  return run.code.isVyper && hasDataOf(run.message, message) && OF_MESSAGES.includes(checkOf(run) ?? '')
}

/** The function that was called; `undefined` where it is in no tree that is known. */
function calledIn({ isCreation, code: { contract }, message }: MessageRun): FunctionModel | undefined {
  if (isCreation) return contract?.constructor_
  return contract?.bySelector.get(selectorOf(message))
}

/** The constructor or function that was called; the contract where that is not known. */
export function calledPlace(run: MessageRun): Place | undefined {
  const called = calledIn(run)
  if (run.isCreation) return constructorPlace(run.code)
  return called === undefined ? contractPlace(run.code) : startOf(run.code, called)
}

/** A check of what was called. */
function ofCall(run: MessageRun): StackFrame {
  const { message } = run
  const called = calledIn(run)
  const place = calledPlace(run)
  if (message.value !== 0n && called?.isPayable === false) {
    return { kind: 'function-not-payable', place, value: message.value }
  }
  return { kind: 'invalid-arguments', place }
}

/** The frame of a failure in code by Vyper; without a place where that is in an internal function that is not known. */
export function vyperFailure(run: MessageRun): StackFrame {
  const { code, message, last } = run
  const check = checkOf(run)
  if (check !== undefined && OF_CALLS.includes(check)) return ofCall(run)
  const place = run.placeAt(-1, undefined)
  switch (check) {
    case 'fallback function':
      return { kind: 'unknown-function', place: contractPlace(code) }
    case 'returndatasize too small': {
      const sent = lastSent(message)
      const isMissing = sent !== undefined && !hasCode(sent.message)
      return { kind: isMissing ? 'account-without-code' : 'return-data-size', place }
    }
    case 'extcodesize is zero':
      return { kind: 'account-without-code', place }
    default: {
      const words = check !== undefined && Object.hasOwn(WORDS, check) ? WORDS[check] : check
      const isEmpty = message.output.length === 0
      return {
        kind: last?.opcode === OP.INVALID ? 'invalid-opcode' : 'revert',
        place,
        output: message.output,
        ...(words !== undefined && isEmpty && { check: words }),
      }
    }
  }
}
