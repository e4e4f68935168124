/** The opcodes of heights at which not every rule is in force (docs/internals/protocol.md#75-activation). */

import { EMPTY_CODE_HASH } from '../../chain/account.ts'
import type { IsActive } from '../../chain/activations.ts'
import { FAILURE, fail } from '../failure.ts'
import type { Frame } from '../frame.ts'
import { GAS } from '../gas-schedule.ts'
import { wordToAddress } from '../word.ts'
import { caller, creator } from './calls.ts'
import { type Operation, operation, STATE_TICKS } from './operation.ts'
import { OPERATIONS } from './table.ts'

/** Takes the number of a word in the stack off it; the deepest fails. */
function popDepth(frame: Frame, more: number): number {
  const depth = frame.pop()
  if (depth >= BigInt(frame.sp)) fail(FAILURE.STACK_UNDERFLOW)
  const n = Number(depth) + more
  if (n > frame.sp) fail(FAILURE.STACK_UNDERFLOW)
  // The reference node steps twice, so that the byte behind the opcode is passed over.
  frame.pc++
  return n
}

/** Opcodes that RSKIP-191 removes. */
const RETIRED: readonly Operation[] = [
  operation(0xa8, 'DUPN', GAS.veryLow, 2, 2, (frame) => {
    const n = popDepth(frame, 1)
    frame.push(frame.stack[frame.sp - n] as bigint)
  }),
  operation(0xa9, 'SWAPN', GAS.veryLow, 3, 2, (frame) => {
    const n = popDepth(frame, 2)
    const { stack, sp } = frame
    const top = stack[sp - 1] as bigint
    stack[sp - 1] = stack[sp - n] as bigint
    stack[sp - n] = top
  }),
  operation(0xaa, 'TXINDEX', GAS.base, 0, 1, (frame) => frame.push(BigInt(frame.session.transactionIndex))),
]

/** The code of a precompiled contract counts as long as it is: RSKIP-90 makes it the longest. */
const EXTCODESIZE = operation(0x3b, 'EXTCODESIZE', GAS.externalCode, 1, 1, (frame) => {
  frame.spend(STATE_TICKS)
  frame.push(BigInt(frame.session.journal.codeOf(wordToAddress(frame.pop())).length))
})

/** 0 for a contract without code, which RSKIP-169 corrects. */
const EXTCODEHASH = operation(0x3f, 'EXTCODEHASH', GAS.externalCodeHash, 1, 1, (frame) => {
  frame.spend(STATE_TICKS)
  const address = wordToAddress(frame.pop())
  const { precompiles, journal } = frame.session
  if (precompiles.has(address)) {
    frame.push(BigInt(EMPTY_CODE_HASH))
    return
  }
  const account = journal.state.account(address)
  const isBare = account === undefined || (account.isContract && account.codeHash === EMPTY_CODE_HASH)
  frame.push(isBare ? 0n : BigInt(account.codeHash))
})

function replacements(isActive: IsActive): Operation[] {
  const replaced: Operation[] = []
  if (!isActive('rskip191')) replaced.push(...RETIRED)
  if (!isActive('rskip90')) replaced.push(EXTCODESIZE)
  if (isActive('rskip140') && !isActive('rskip169')) replaced.push(EXTCODEHASH)
  if (!isActive('rskip150')) {
    const early = { gasOverflows: true, maxDepth: 1024 }
    replaced.push(
      caller(0xf1, 'CALL', 'call', early),
      caller(0xf2, 'CALLCODE', 'callcode', early),
      caller(0xf4, 'DELEGATECALL', 'delegatecall', early),
    )
    if (isActive('rskip91')) {
      const staticTakesValue = !isActive('rskip103')
      replaced.push(caller(0xfa, 'STATICCALL', 'staticcall', { ...early, staticTakesValue }))
    }
  }
  if (!isActive('rskip438')) {
    replaced.push(creator(0xf0, 'CREATE', 'create', { isLimited: false }))
    if (isActive('rskip125')) replaced.push(creator(0xf5, 'CREATE2', 'create2', { isLimited: false }))
  }
  return replaced
}

/** The opcodes while these rules are in force. */
export function opcodesAt(isActive: IsActive): readonly Operation[] {
  const present = OPERATIONS.filter(({ since }) => since === undefined || isActive(since))
  return [...present, ...replacements(isActive)]
}
