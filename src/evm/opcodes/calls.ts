/**
 * Calls, creations, destruction: 0xf0 to 0xf2, 0xf4, 0xf5, 0xfa, 0xff (docs/internals/protocol.md#62-gas-schedule,
 * docs/internals/protocol.md#63-calls-and-creations).
 */
import { EMPTY_ACCOUNT, withBalance } from '../../chain/account.ts'
import type { RuleName } from '../../chain/consensus-rules.ts'
import { MAX_INITCODE_SIZE } from '../../chain/intrinsic-gas.ts'
import type { Hex } from '../../encoding/hex.ts'
import { ENDING } from '../compiled/form.ts'
import { FAILURE, fail } from '../failure.ts'
import type { ChildRequest, Frame } from '../frame.ts'
import { GAS, REFUND } from '../gas-schedule.ts'
import { MAX_LONG, wordToAddress } from '../word.ts'
import { words } from './memory.ts'
import { type Operation, operation } from './operation.ts'

/** Frames below the transaction's own one. */
export const MAX_CALL_DEPTH = 400

/** An account is new when it does not exist, whatever value it receives (unlike EIP-161). */
function isNew(frame: Frame, address: Hex): boolean {
  return frame.session.journal.state.account(address) === undefined
}

/**
 * Pays `cost` and the gas of the callee, which is returned: at most all that is left (no EIP-150 reserve). The caller
 * pays the stipend as well, so too little gas for it is a failure.
 */
function childGas(frame: Frame, cost: number, requested: bigint, value: bigint): number {
  const wanted = requested > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(requested)
  const stipend = value === 0n ? 0 : GAS.callStipend
  if (frame.gas >= cost && frame.gas - cost < stipend) frame.failForGas(stipend)
  frame.charge(cost)
  return Math.min(wanted + stipend, frame.gas)
}

/**
 * How much of its input a call reads, which is how far memory grows for it: nothing when the call is too deep, or when
 * it is refused to a precompiled contract for want of balance, and no more than a precompiled contract's maximum input
 * (RSKIP-516). Of an ordinary contract the balance is looked at later.
 */
function inputRead(frame: Frame, target: Hex, value: bigint, length: bigint, maxDepth: number): bigint {
  if (frame.depth >= maxDepth) return 0n
  const { precompiles, journal } = frame.session
  const precompile = precompiles.get(target)
  if (precompile === undefined) return length
  if (value !== 0n && (journal.state.account(frame.address)?.balance ?? 0n) < value) return 0n
  const most = precompile.maxInputFromContract
  return most !== undefined && length > BigInt(most) ? BigInt(most) : length
}

/** Opens memory that is paid; the offset as a number (0 when the length is 0). */
function open(frame: Frame, offset: bigint, length: bigint): number {
  if (length === 0n) return 0
  frame.grow(Number(offset + length))
  return Number(offset)
}

/** How calls were made at earlier heights (docs/internals/protocol.md#75-activation). */
interface CallTraits {
  /** Before RSKIP-103, STATICCALL takes a value from the stack and transfers it. */
  readonly staticTakesValue?: boolean
  /** Before RSKIP-150, a call with value fails when gas and stipend together exceed 63 bits. */
  readonly gasOverflows?: boolean
  /** Frames below the transaction's own one. */
  readonly maxDepth?: number
  readonly since?: RuleName
}

/** An opcode that calls. */
export function caller(
  code: number,
  name: string,
  kind: Exclude<ChildRequest['kind'], 'create' | 'create2'>,
  { staticTakesValue = false, gasOverflows = false, maxDepth = MAX_CALL_DEPTH, since }: CallTraits = {},
): Operation {
  const takesValue = kind === 'call' || kind === 'callcode' || (kind === 'staticcall' && staticTakesValue)
  const run = (frame: Frame) => {
    const requested = frame.pop()
    const target = wordToAddress(frame.pop())
    const value = takesValue ? frame.pop() : 0n
    const inputAt = frame.pop()
    const inputLength = frame.pop()
    const outputAt = frame.pop()
    const outputLength = frame.pop()
    if (kind === 'call' && value !== 0n) frame.forbidStatic()
    const creates = kind === 'call' && isNew(frame, target)
    // The gas is that of the whole input, but memory grows by what is read, so the rest is charged again later.
    const memory = Math.max(
      frame.expansionCost(inputAt, inputLength),
      frame.expansionCost(outputAt, outputLength),
    )
    const cost = memory + (value === 0n ? 0 : GAS.callValue) + (creates ? GAS.newAccount : 0)
    const gas = childGas(frame, cost, requested, value)
    if (gasOverflows && value !== 0n && requested > MAX_LONG - BigInt(GAS.callStipend)) frame.failForGas(gas)
    if (kind === 'call' && value !== 0n) frame.session.journal.valueCallSeen = true
    const readLength = inputRead(frame, target, value, inputLength, maxDepth)
    const inputOffset = open(frame, inputAt, readLength)
    const outputOffset = open(frame, outputAt, outputLength)
    const input = frame.read(inputOffset, Number(readLength))
    frame.request({ kind, target, value, input, gas, outputOffset, outputLength: Number(outputLength) })
  }
  const pops = takesValue ? 7 : 6
  return operation(code, name, GAS.call, pops, 1, run, {
    since,
    requests: kind,
    hasDynamicGas: true,
    memory: { offset: pops - 2, length: pops - 1, access: 'write' },
    compiled: { flow: 'call', routine: 'call' },
  })
}

/** An opcode that creates a contract; init code has no maximum and no price of its own before RSKIP-438. */
export function creator(
  code: number,
  name: string,
  kind: 'create' | 'create2',
  { isLimited = true, since }: { readonly isLimited?: boolean; readonly since?: RuleName } = {},
): Operation {
  const run = (frame: Frame) => {
    frame.forbidStatic()
    const value = frame.pop()
    const from = frame.pop()
    const length = frame.pop()
    const salt = kind === 'create2' ? frame.pop() : undefined
    const hashing = salt === undefined ? 0 : GAS.keccak256Word
    const perWord = hashing + (isLimited ? GAS.initcodeWord : 0)
    const offset = frame.expand(from, length, perWord * words(length))
    if (isLimited && length > MAX_INITCODE_SIZE) fail(FAILURE.INITCODE_SIZE_VIOLATION)
    frame.request({ kind, value, initcode: frame.read(offset, Number(length)), gas: frame.gas, salt })
  }
  return operation(code, name, GAS.create, kind === 'create2' ? 4 : 3, 1, run, {
    since,
    requests: kind,
    hasDynamicGas: true,
    compiled: { flow: 'create', routine: 'run' },
  })
}

/** The balance moves at once; to the contract itself it is burnt. The account goes at the end of the transaction. */
function destroy(frame: Frame): void {
  frame.forbidStatic()
  const { journal } = frame.session
  const { state } = journal
  const beneficiary = wordToAddress(frame.pop())
  const own = state.account(frame.address) ?? EMPTY_ACCOUNT
  frame.charge(isNew(frame, beneficiary) ? GAS.newAccount : 0)
  if (!journal.destroyed.includes(frame.address)) {
    journal.destroyed.push(frame.address)
    journal.refund += REFUND.selfDestruct
  }
  journal.involve(frame.address, beneficiary)
  frame.session.tracer?.selfDestruct?.(frame.address, beneficiary, own.balance)
  // Without a balance nothing is transferred or recorded, and an absent beneficiary stays absent.
  if (own.balance !== 0n) {
    journal.recorded++
    const receiver = state.account(beneficiary) ?? EMPTY_ACCOUNT
    state.putAccount(beneficiary, withBalance(receiver, receiver.balance + own.balance))
  }
  state.putAccount(frame.address, withBalance(own, 0n))
  frame.stop(frame.output)
}

export const CALLS: readonly Operation[] = [
  creator(0xf0, 'CREATE', 'create'),
  caller(0xf1, 'CALL', 'call'),
  caller(0xf2, 'CALLCODE', 'callcode'),
  caller(0xf4, 'DELEGATECALL', 'delegatecall'),
  creator(0xf5, 'CREATE2', 'create2', { since: 'rskip125' }),
  caller(0xfa, 'STATICCALL', 'staticcall', { since: 'rskip91' }),
  operation(0xff, 'SUICIDE', GAS.selfDestruct, 1, 0, destroy, { compiled: ENDING, hasDynamicGas: true }),
]
