/**
 * Ethereum's Petersburg rules for our interpreter: the chain's opcodes without the younger ones, and Ethereum's calls,
 * creations and destruction (EIP-150, EIP-161). Ethereum's official state tests run by them.
 */
import { type Account, EMPTY_ACCOUNT, EMPTY_CODE_HASH, withBalance } from '../../src/chain/account.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import { LEGACY_ONLY } from '../../src/chain/transaction-types.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import type { ChildRequest, Frame } from '../../src/evm/frame.ts'
import { GAS, REFUND } from '../../src/evm/gas-schedule.ts'
import type { Journal } from '../../src/evm/journal.ts'
import { words } from '../../src/evm/opcodes/memory.ts'
import { type Operation, operation } from '../../src/evm/opcodes/operation.ts'
import { OPERATIONS, opcodeTable } from '../../src/evm/opcodes/table.ts'
import { PRECOMPILES } from '../../src/evm/precompiles/table.ts'
import { PRESENT_FRAMES, type VmRules } from '../../src/evm/rules.ts'
import { wordToAddress } from '../../src/evm/word.ts'

/** CHAINID, SELFBALANCE, BASEFEE, TLOAD, TSTORE, MCOPY, PUSH0: all younger than Petersburg. */
const YOUNGER = [0x46, 0x47, 0x48, 0x5c, 0x5d, 0x5e, 0x5f]

/** Is an account empty or missing (EIP-161)? */
export function isEmpty(account: Account | undefined): boolean {
  return (
    account === undefined ||
    (account.nonce === 0n && account.balance === 0n && account.codeHash === EMPTY_CODE_HASH)
  )
}

/** The accounts that the frames of one message touched (EIP-161). */
export class Touches {
  readonly #addresses: Hex[] = []
  #keptTouch = false

  get length(): number {
    return this.#addresses.length
  }

  add(address: Hex): void {
    this.#addresses.push(address)
  }

  /** Removes the touches of a failed frame, except that of 0x03, which survived a revert once on mainnet. */
  revert(length: number): void {
    this.#keptTouch ||= this.#addresses.includes(RIPEMD160, length)
    this.#addresses.length = length
  }

  all(): ReadonlySet<Hex> {
    return new Set(this.#keptTouch ? [...this.#addresses, RIPEMD160] : this.#addresses)
  }
}

const RIPEMD160: Hex = '0x0000000000000000000000000000000000000003'

const touches = new WeakMap<Journal['state'], Touches>()

/** The touches of the message that runs on a state. */
export function touchesOn(state: Journal['state']): Touches {
  const known = touches.get(state) ?? new Touches()
  touches.set(state, known)
  return known
}

/** Begins a message on a state. */
export function forgetTouches(state: Journal['state']): void {
  touches.delete(state)
}

/** The part of the remaining gas that a callee may get (EIP-150). */
function allButOne64th(gas: number): number {
  return gas - Math.floor(gas / 64)
}

function costsCreation(frame: Frame, address: Hex, value: bigint): boolean {
  return value !== 0n && isEmpty(frame.session.journal.state.account(address))
}

function caller(
  code: number,
  name: string,
  kind: Exclude<ChildRequest['kind'], 'create' | 'create2'>,
): Operation {
  const takesValue = kind === 'call' || kind === 'callcode'
  return operation(code, name, GAS.call, takesValue ? 7 : 6, 1, (frame) => {
    const requested = frame.pop()
    const target = wordToAddress(frame.pop())
    const value = takesValue ? frame.pop() : 0n
    const inputAt = frame.pop()
    const inputLength = frame.pop()
    const outputAt = frame.pop()
    const outputLength = frame.pop()
    if (kind === 'call' && value !== 0n) frame.forbidStatic()
    const isNew = kind === 'call' && costsCreation(frame, target, value)
    frame.charge((value === 0n ? 0 : GAS.callValue) + (isNew ? GAS.newAccount : 0))
    const inputOffset = frame.expand(inputAt, inputLength)
    const outputOffset = frame.expand(outputAt, outputLength)
    const wanted = requested > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(requested)
    const stipend = value === 0n ? 0 : GAS.callStipend
    const gas = Math.min(wanted, allButOne64th(frame.gas)) + stipend
    frame.gas += stipend
    const input = frame.read(inputOffset, Number(inputLength))
    frame.request({ kind, target, value, input, gas, outputOffset, outputLength: Number(outputLength) })
  })
}

function creator(code: number, name: string, kind: 'create' | 'create2'): Operation {
  return operation(code, name, GAS.create, kind === 'create2' ? 4 : 3, 1, (frame) => {
    frame.forbidStatic()
    const value = frame.pop()
    const from = frame.pop()
    const length = frame.pop()
    const salt = kind === 'create2' ? frame.pop() : undefined
    if (salt !== undefined) frame.charge(GAS.keccak256Word * words(length))
    const offset = frame.expand(from, length)
    const gas = allButOne64th(frame.gas)
    frame.request({ kind, value, initcode: frame.read(offset, Number(length)), gas, salt })
  })
}

function destroy(frame: Frame): void {
  frame.forbidStatic()
  const { journal, tracer } = frame.session
  const { state } = journal
  const beneficiary = wordToAddress(frame.pop())
  const own = state.account(frame.address) ?? EMPTY_ACCOUNT
  if (costsCreation(frame, beneficiary, own.balance)) frame.charge(GAS.newAccount)
  if (!journal.destroyed.includes(frame.address)) {
    journal.destroyed.push(frame.address)
    journal.refund += REFUND.selfDestruct
  }
  tracer?.selfDestruct?.(frame.address, beneficiary, own.balance)
  const receiver = state.account(beneficiary) ?? EMPTY_ACCOUNT
  state.putAccount(beneficiary, withBalance(receiver, receiver.balance + own.balance))
  state.putAccount(frame.address, withBalance(own, 0n))
  touchesOn(state).add(beneficiary)
  frame.stop(frame.output)
}

function externalSize(frame: Frame): void {
  frame.push(BigInt(frame.session.journal.codeOf(wordToAddress(frame.pop())).length))
}

/** 0 where an account is empty (EIP-1052). */
function externalHash(frame: Frame): void {
  const account = frame.session.journal.state.account(wordToAddress(frame.pop()))
  frame.push(account === undefined || isEmpty(account) ? 0n : BigInt(account.codeHash))
}

const OWN: readonly Operation[] = [
  operation(0x3b, 'EXTCODESIZE', GAS.externalCode, 1, 1, externalSize),
  operation(0x3f, 'EXTCODEHASH', GAS.externalCodeHash, 1, 1, externalHash),
  creator(0xf0, 'CREATE', 'create'),
  caller(0xf1, 'CALL', 'call'),
  caller(0xf2, 'CALLCODE', 'callcode'),
  caller(0xf4, 'DELEGATECALL', 'delegatecall'),
  creator(0xf5, 'CREATE2', 'create2'),
  caller(0xfa, 'STATICCALL', 'staticcall'),
  operation(0xff, 'SUICIDE', GAS.selfDestruct, 1, 0, destroy),
]

function intrinsicGas({ to, data }: Pick<Transaction, 'to' | 'data'>): bigint {
  let gas = to === null ? 53_000 : 21_000
  for (const byte of data) gas += byte === 0 ? 4 : 68
  return BigInt(gas)
}

/** The rules. Of the precompiled contracts only the addresses count: the library's own run at them. */
export const PETERSBURG: VmRules = {
  opcodes: opcodeTable([...OPERATIONS.filter(({ code }) => !YOUNGER.includes(code)), ...OWN]),
  precompiles: new Map([...PRECOMPILES].slice(0, 8)),
  maxDepth: 1024,
  codeHeaders: false,
  hashesBareContracts: true,
  maxGas: 2n ** 64n,
  maxInitcodeSize: Number.POSITIVE_INFINITY,
  frames: { ...PRESENT_FRAMES, refusesEfCode: false },
  intrinsicGas,
  types: LEGACY_ONLY,
}
