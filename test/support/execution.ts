/** A small world for tests of execution: accounts in memory, one block, one VM per loop. */
import { type Account, EMPTY_ACCOUNT, EMPTY_CODE_HASH } from '../../src/chain/account.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import { EMPTY } from '../../src/encoding/bytes.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { toHex } from '../../src/encoding/hex.ts'
import type { BlockEnvironment, Message, MessageResult, RunOptions } from '../../src/evm/message.ts'
import type { Vm } from '../../src/evm/rules.ts'
import { createVm } from '../../src/evm/vm.ts'
import type { StateReader } from '../../src/state/model.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { assemble } from './assembler.ts'
import { createOracleVm } from './oracle-vm.ts'

export const SENDER: Hex = '0x1000000000000000000000000000000000000001'
export const CONTRACT: Hex = '0x2000000000000000000000000000000000000002'
export const OTHER: Hex = '0x3000000000000000000000000000000000000003'
export const NOBODY: Hex = '0x4000000000000000000000000000000000000004'
export const COINBASE: Hex = '0x5000000000000000000000000000000000000005'

/** A state without accounts. */
export const NOTHING: StateReader = {
  account: () => undefined,
  cell: () => 0n,
  storage: () => 0n,
  cells: () => new Map(),
  code: (hash) => {
    if (hash === EMPTY_CODE_HASH) return EMPTY
    throw new Error(`no code ${hash}`)
  },
}

/** An initial account; code as assembly. */
export interface Given {
  readonly balance?: bigint
  readonly nonce?: bigint
  readonly code?: string | Uint8Array
  readonly storage?: Readonly<Record<string, bigint>>
}

/** An overlay that holds these accounts and a rich sender of nonce 1. */
export function world(accounts: Readonly<Record<Hex, Given>> = {}): Overlay {
  const state = new Overlay(NOTHING)
  state.putAccount(SENDER, { ...EMPTY_ACCOUNT, balance: 10n ** 24n, nonce: 1n })
  for (const [address, given] of Object.entries(accounts) as [Hex, Given][]) {
    const { balance = 0n, nonce = 0n, code, storage = {} } = given
    state.putAccount(address, { ...EMPTY_ACCOUNT, balance, nonce })
    if (code !== undefined) state.putCode(address, typeof code === 'string' ? assemble(code) : code)
    for (const [slot, value] of Object.entries(storage)) state.putStorage(address, BigInt(slot), value)
  }
  return state
}

export const ENVIRONMENT: BlockEnvironment = {
  number: 1000,
  timestamp: 1_700_000_000,
  coinbase: COINBASE,
  difficulty: 7n,
  gasLimit: 10_000_000n,
  minimumGasPrice: 60_000n,
  ancestor: () => undefined,
  ancestorHash: (height) =>
    height >= 0 && height < 1000 ? toHex(new Uint8Array(32).fill(height % 256)) : undefined,
}

/** A VM whose every run has a tracer of steps, so that the traced loop runs. */
export function stepping<Kind extends Vm>(vm: Kind): Kind {
  const run: Vm['run'] = (message, state, env, options) =>
    vm.run(message, state, env, { ...options, tracer: { step() {} } })
  return { ...vm, run }
}

export const vms: Record<'own' | 'library', Vm> = {
  own: createVm({ chainId: 33 }),
  library: createOracleVm({ chainId: 33, loop: 'library' }),
}

/** Runs a message, by default from SENDER to CONTRACT with a million gas. */
export async function run(
  state: Overlay,
  message: Partial<Message> = {},
  options: RunOptions & { vm?: Vm; env?: BlockEnvironment } = {},
): Promise<MessageResult> {
  const { vm = vms.own, env = ENVIRONMENT, ...rest } = options
  const full: Message = {
    from: SENDER,
    to: CONTRACT,
    value: 0n,
    data: EMPTY,
    gas: 1_000_000n,
    gasPrice: 65_000n,
    origin: SENDER,
    ...message,
  }
  return vm.run(full, state, env, rest)
}

/** A transaction from SENDER, nonce 1, as if signed. */
export function transaction(parts: Partial<Transaction> = {}): Transaction {
  return {
    hash: `0x${'ab'.repeat(32)}`,
    from: SENDER,
    nonce: 1n,
    gasPrice: 100n,
    gasLimit: 100_000n,
    to: OTHER,
    value: 0n,
    data: EMPTY,
    v: 101,
    r: 1n,
    s: 1n,
    chainId: 33,
    raw: EMPTY,
    type: 0,
    typed: undefined,
    isRemasc: false,
    ...parts,
  }
}

/** The returned word of a run. */
export function word(result: MessageResult): bigint {
  if (result.status !== 'succeeded')
    throw new Error(`the run ${result.status}: ${result.failure ?? 'revert'}`)
  return BigInt(toHex(result.output))
}

/** An account that must exist. */
export function account(state: Overlay, address: Hex): Account {
  const found = state.account(address)
  if (found === undefined) throw new Error(`no account ${address}`)
  return found
}

/** Assembly that returns the top of the stack. */
export const RETURN_TOP = 'PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN'
