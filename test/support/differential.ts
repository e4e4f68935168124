/** One transaction in a small world, run by our EVM and by Ethereum's own executor, with each result as one plain value to compare. */
import { EMPTY_ACCOUNT } from '../../src/chain/account.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import type { EthereumFork } from '../../src/comparison/ethereum-forks.ts'
import { executeByEthereumRules } from '../../src/comparison/ethereum-rules.ts'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import type { BlockEnvironment } from '../../src/evm/message.ts'
import type { Vm } from '../../src/evm/rules.ts'
import { applyTransaction, TransactionRejected } from '../../src/execution/apply-transaction.ts'
import { Overlay, type StateChanges } from '../../src/state/overlay.ts'
import { cellWord } from '../../src/state/state-keys.ts'
import { NOTHING } from './execution.ts'

/** An account before the transaction. */
export interface GivenAccount {
  readonly nonce: bigint
  readonly balance: bigint
  readonly code: Uint8Array
  readonly storage: ReadonlyMap<bigint, bigint>
}

/** A world, and a transaction to run in it. */
export interface Situation {
  readonly accounts: ReadonlyMap<Hex, GivenAccount>
  readonly transaction: Transaction
  readonly env: BlockEnvironment
}

/** The observable result of a run, in readable text and numbers. */
export interface Observed {
  readonly status: 'succeeded' | 'reverted' | 'failed' | 'rejected'
  readonly gasUsed?: bigint
  readonly output?: Hex
  readonly created?: Hex | undefined
  readonly logs?: readonly string[]
  /** Every account, given or changed: nonce, balance, code hash and the words that are not 0. */
  readonly state?: Readonly<Record<Hex, string>>
}

/** The accounts as a state; nothing below. */
export function stateOf(accounts: ReadonlyMap<Hex, GivenAccount>): Overlay {
  const state = new Overlay(NOTHING)
  for (const [address, { nonce, balance, code, storage }] of accounts) {
    state.putAccount(address, { ...EMPTY_ACCOUNT, nonce, balance })
    if (code.length > 0) state.putCode(address, code)
    for (const [slot, value] of storage) state.putStorage(address, slot, value)
  }
  return state
}

/** Runs the case in one of our VMs. */
export async function observeOurs(situation: Situation, vm: Vm): Promise<Observed> {
  const { transaction, env } = situation
  const before = stateOf(situation.accounts)
  const state = new Overlay(before)
  try {
    const gasAvailable = env.gasLimit
    const outcome = await applyTransaction({ transaction, state, env, vm, gasAvailable })
    return observed(outcome, situation, before, state.changes())
  } catch (error) {
    if (error instanceof TransactionRejected) return { status: 'rejected' }
    throw error
  }
}

/** Runs the case under a fork of Ethereum. */
export async function observeEthereum(situation: Situation, hardfork: EthereumFork): Promise<Observed> {
  const { transaction, env } = situation
  const before = stateOf(situation.accounts)
  try {
    const outcome = await executeByEthereumRules({ transaction, state: before, env, chainId: 33, hardfork })
    return observed(outcome, situation, before, outcome.changes)
  } catch (error) {
    if (error instanceof TransactionRejected) return { status: 'rejected' }
    throw error
  }
}

function observed(
  outcome: Pick<
    Awaited<ReturnType<typeof applyTransaction>>,
    'gasUsed' | 'output' | 'created' | 'logs' | 'failure'
  >,
  { accounts }: Situation,
  before: Overlay,
  changes: StateChanges,
): Observed {
  const { gasUsed, output, created, logs, failure } = outcome
  return {
    status: failure?.kind ?? 'succeeded',
    gasUsed,
    output: toHex(output),
    created,
    logs: logs.map(({ address, topics, data }) => [address, ...topics, toHex(data)].join(' ')),
    state: stateAfter(accounts, before, changes),
  }
}

/** Computes the state from the changes, without the code that commits state. */
function stateAfter(
  accounts: ReadonlyMap<Hex, GivenAccount>,
  before: Overlay,
  changes: StateChanges,
): Record<Hex, string> {
  const after: Record<Hex, string> = {}
  for (const address of [
    ...new Set([...accounts.keys(), ...changes.accounts.keys(), ...changes.storage.keys()]),
  ].sort()) {
    const changed = changes.accounts.get(address)
    const account = changed === undefined ? before.account(address) : (changed ?? undefined)
    if (account === undefined) continue
    const storage = changes.storage.get(address)
    const words = new Map(storage?.wiped ? [] : accounts.get(address)?.storage)
    for (const [slot, word] of storage?.slots ?? []) words.set(slot, cellWord(word))
    const text = [...words].flatMap(([slot, word]) => (word === 0n ? [] : `${slot}=${word}`)).sort()
    after[address] = [account.nonce, account.balance, account.codeHash, ...text].join(' ')
  }
  return after
}
