/**
 * Calls, creations, destruction: 0xf0 to 0xf2, 0xf4, 0xf5, 0xfa, 0xff. The two rule sets differ here the most
 * (docs/protocol.md#62-gas-schedule, docs/protocol.md#63-calls-and-creations).
 */
import { type Account, EMPTY_ACCOUNT, EMPTY_CODE_HASH } from '../../chain/account.ts'
import type { Hex } from '../../encoding/hex.ts'
import { type ChildRequest, FAILURE, type Frame, fail } from '../frame.ts'
import { wordToAddress } from '../word.ts'
import { words } from './memory.ts'
import { type Operation, operation } from './operation.ts'

const VALUE_GAS = 9_000
const NEW_ACCOUNT_GAS = 25_000
const INITCODE_WORD_GAS = 2
const HASH_WORD_GAS = 6
const MAX_INITCODE = 49_152

/** Gas that comes with value. */
export const STIPEND = 2_300

/** EIP-150: what a child may get of what is left. Never on the chain. */
function allButOne64th(gas: number): number {
  return gas - Math.floor(gas / 64)
}

/** Does nothing stand there, by EIP-161? */
function isEmpty(account: Account | undefined): boolean {
  return (
    account === undefined ||
    (account.nonce === 0n && account.balance === 0n && account.codeHash === EMPTY_CODE_HASH)
  )
}

/** Is the account new to who sends it value? */
function costsCreation(frame: Frame, address: Hex, value: bigint): boolean {
  const account = frame.session.journal.state.account(address)
  return frame.session.rules.chainCalls ? account === undefined : value !== 0n && isEmpty(account)
}

/** What the child gets. On the chain the stipend is the caller's to pay, so too little left is a failure. */
function childGas(frame: Frame, requested: bigint, value: bigint): number {
  const wanted = requested > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(requested)
  const stipend = value === 0n ? 0 : STIPEND
  if (!frame.session.rules.chainCalls) {
    const gas = Math.min(wanted, allButOne64th(frame.gas)) + stipend
    frame.gas += stipend
    return gas
  }
  if (frame.gas < stipend) frame.failForGas(stipend)
  return Math.min(wanted + stipend, frame.gas)
}

/** How much of its input a call reads: a precompile with a greatest input length reads no more (RSKIP-516). */
function inputRead(frame: Frame, target: bigint, length: bigint): bigint {
  const most = frame.session.rules.precompiles.get(wordToAddress(target))?.maxInputFromContract
  return most !== undefined && length > BigInt(most) ? BigInt(most) : length
}

function caller(
  code: number,
  name: string,
  kind: Exclude<ChildRequest['kind'], 'create' | 'create2'>,
): Operation {
  const takesValue = kind === 'call' || kind === 'callcode'
  return operation(code, name, 700, takesValue ? 7 : 6, 1, (frame) => {
    const requested = frame.pop()
    const target = frame.pop()
    const value = takesValue ? frame.pop() : 0n
    const inputAt = frame.pop()
    const inputLength = frame.pop()
    const outputAt = frame.pop()
    const outputLength = frame.pop()
    if (kind === 'call' && value !== 0n) {
      frame.forbidStatic()
      frame.session.journal.valueCallSeen = true
    }
    const isNew = kind === 'call' && costsCreation(frame, wordToAddress(target), value)
    const surcharge = (value === 0n ? 0 : VALUE_GAS) + (isNew ? NEW_ACCOUNT_GAS : 0)
    frame.charge(surcharge)
    const readLength = inputRead(frame, target, inputLength)
    if (readLength !== inputLength) {
      // The gas is that of the whole input, but memory grows by what is read, so the rest is charged again later.
      const input = frame.expansionCost(inputAt, inputLength)
      frame.charge(Math.max(input, frame.expansionCost(outputAt, outputLength)))
      frame.grow(Number(inputAt + readLength))
      frame.grow(Number(outputAt + outputLength))
    }
    const inputOffset = frame.expand(inputAt, readLength)
    const outputOffset = frame.expand(outputAt, outputLength)
    const gas = childGas(frame, requested, value)
    const input = frame.read(inputOffset, Number(readLength))
    frame.request({ kind, target, value, input, gas, outputOffset, outputLength: Number(outputLength) })
  })
}

function creator(code: number, name: string, kind: 'create' | 'create2'): Operation {
  return operation(code, name, 32_000, kind === 'create2' ? 4 : 3, 1, (frame) => {
    frame.forbidStatic()
    const { rules } = frame.session
    const value = frame.pop()
    const from = frame.pop()
    const length = frame.pop()
    const salt = kind === 'create2' ? frame.pop() : undefined
    if (rules.metersInitcode) {
      if (length > MAX_INITCODE) fail(FAILURE.INITCODE_SIZE_VIOLATION)
      frame.charge(INITCODE_WORD_GAS * words(length))
    }
    if (salt !== undefined) frame.charge(HASH_WORD_GAS * words(length))
    const offset = frame.expand(from, length)
    const gas = rules.chainCalls ? frame.gas : allButOne64th(frame.gas)
    frame.request({ kind, value, initcode: frame.read(offset, Number(length)), gas, salt })
  })
}

/** The balance moves at once; to itself it is burnt. The account goes at the end of the transaction. */
function destroy(frame: Frame): void {
  frame.forbidStatic()
  const { journal } = frame.session
  const { state } = journal
  const beneficiary = wordToAddress(frame.pop())
  const own = state.account(frame.address) ?? EMPTY_ACCOUNT
  if (costsCreation(frame, beneficiary, own.balance)) frame.charge(NEW_ACCOUNT_GAS)
  if (!journal.destroyed.includes(frame.address)) journal.destroyed.push(frame.address)
  frame.session.tracer?.selfDestruct?.(frame.address, beneficiary, own.balance)
  // Without a balance nothing is transferred, and an absent beneficiary stays absent.
  if (own.balance !== 0n) {
    const heir = state.account(beneficiary) ?? EMPTY_ACCOUNT
    state.putAccount(beneficiary, { ...heir, balance: heir.balance + own.balance })
  }
  journal.touch(beneficiary)
  state.putAccount(frame.address, { ...own, balance: 0n })
  journal.touch(frame.address)
  frame.stop(frame.output)
}

export const CALLS: readonly Operation[] = [
  creator(0xf0, 'CREATE', 'create'),
  caller(0xf1, 'CALL', 'call'),
  caller(0xf2, 'CALLCODE', 'callcode'),
  caller(0xf4, 'DELEGATECALL', 'delegatecall'),
  creator(0xf5, 'CREATE2', 'create2'),
  caller(0xfa, 'STATICCALL', 'staticcall'),
  operation(0xff, 'SUICIDE', 5_000, 1, 0, destroy),
]
