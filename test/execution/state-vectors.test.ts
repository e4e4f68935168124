/** Some thousand transactions and what Ethereum's executor made of them, by our overlay, trie and transaction code. */
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EMPTY } from '../../src/encoding/bytes.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import type { BlockEnvironment } from '../../src/evm/message.ts'
import type { Vm } from '../../src/evm/rules.ts'
import { applyTransaction, TransactionRejected } from '../../src/execution/apply-transaction.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { type GivenAccount, stateOf } from '../support/differential.ts'
import { ethereumStateRoot } from '../support/ethereum-state.ts'
import { stepping, transaction } from '../support/execution.ts'
import { fixture } from '../support/fixture.ts'
import { logsHash } from '../support/library-oracle.ts'
import { createOracleVm } from '../support/oracle-vm.ts'
import type { StateVector, StateVectorFile } from '../support/state-vector.ts'

const TOPICS = readdirSync(new URL('../../fixtures/state', import.meta.url)).sort()

const own = createOracleVm({ chainId: 33, ruleSet: 'petersburg' })
const MACHINES = [
  ['own', own],
  ['library', createOracleVm({ chainId: 33, ruleSet: 'petersburg', loop: 'library' })],
  ['traced', stepping(own)],
] as const

function given({ nonce = '0', balance = '0', code, storage = {} }: StateVector['pre'][Hex]): GivenAccount {
  const words = Object.entries(storage).map(([slot, value]) => [BigInt(slot), BigInt(value)] as const)
  return {
    nonce: BigInt(nonce),
    balance: BigInt(balance),
    code: code === undefined ? EMPTY : fromHex(code),
    storage: new Map(words),
  }
}

function environment({ block }: StateVectorFile, coinbase = block.coinbase): BlockEnvironment {
  return {
    ...block,
    coinbase,
    difficulty: BigInt(block.difficulty),
    gasLimit: BigInt(block.gasLimit),
    minimumGasPrice: 0n,
    ancestor: () => undefined,
    ancestorHash: (height) => keccakHex(new TextEncoder().encode(String(height))),
  }
}

/** The given accounts. */
function preState({ pre }: StateVector): Overlay {
  const accounts = Object.entries(pre).map(([address, account]) => [address as Hex, given(account)] as const)
  return stateOf(new Map(accounts))
}

async function outcome(vector: StateVector, file: StateVectorFile, vm: Vm): Promise<StateVector['expected']> {
  const before = preState(vector)
  const state = new Overlay(before)
  const env = environment(file, vector.coinbase)
  const { nonce, gasPrice, gasLimit, to, value, data } = vector.transaction
  const tx = transaction({
    from: file.sender,
    nonce: BigInt(nonce),
    gasPrice: BigInt(gasPrice),
    gasLimit: BigInt(gasLimit),
    to,
    value: BigInt(value),
    data: fromHex(data),
  })
  try {
    const parts = { transaction: tx, state, env, vm, gasAvailable: env.gasLimit }
    const { failure, gasUsed, logs } = await applyTransaction(parts)
    return {
      status: failure?.kind ?? 'succeeded',
      gas: Number(gasUsed),
      root: await ethereumStateRoot(before.changes(), state.changes()),
      logs: logsHash(logs),
    }
  } catch (error) {
    if (!(error instanceof TransactionRejected)) throw error
    return { status: 'rejected', gas: 0, root: await ethereumStateRoot(before.changes()), logs: logsHash([]) }
  }
}

describe.each(MACHINES)('the %s loop', (_, vm) => {
  it.each(TOPICS)('%s: status, gas, root and logs as on Ethereum', async (topic) => {
    const file = fixture<StateVectorFile>(`state/${topic}`)
    expect(file.vectors.length).toBeGreaterThan(0)
    for (const vector of file.vectors) {
      expect(await outcome(vector, file, vm), vector.name).toEqual(vector.expected)
    }
  })
})
