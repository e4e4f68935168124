/**
 * Writes fixtures/state/*.json: transactions in small worlds and what Ethereum's own executor makes of them under
 * petersburg, over its own state and trie. Always the same files. To run:
 * `npx tsc -p tsconfig.scripts.json && node .build/scripts/make-state-vectors.js`
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { EMPTY } from '../src/encoding/bytes.ts'
import { keccakHex } from '../src/encoding/hash.ts'
import { type Hex, toHex } from '../src/encoding/hex.ts'
import { assemble } from '../test/support/assembler.ts'
import type { GivenAccount, Situation } from '../test/support/differential.ts'
import { CONTRACT, ENVIRONMENT, type Given, SENDER, transaction } from '../test/support/execution.ts'
import { judge } from '../test/support/library-oracle.ts'
import { situations } from '../test/support/random-situations.ts'
import type { StateVector } from '../test/support/state-vector.ts'
import { CALLS } from './state-vectors/calls.ts'
import { CREATIONS, DESTRUCTIONS } from './state-vectors/creations.ts'
import { LOGS, STATIC, STORAGE, TRANSFERS } from './state-vectors/effects.ts'
import { ARITHMETIC, ENVIRONMENT_OPCODES, JUMPS, MEMORY, STACK } from './state-vectors/machine.ts'
import { PRECOMPILES } from './state-vectors/precompiles.ts'
import type { Scenario } from './state-vectors/scenario.ts'

const TOPICS: Readonly<Record<string, readonly Scenario[]>> = {
  arithmetic: ARITHMETIC,
  calls: CALLS,
  creations: CREATIONS,
  destructions: DESTRUCTIONS,
  jumps: JUMPS,
  logs: LOGS,
  memory: MEMORY,
  precompiles: PRECOMPILES,
  stack: STACK,
  static: STATIC,
  storage: STORAGE,
  environment: ENVIRONMENT_OPCODES,
  transfers: TRANSFERS,
}

const RANDOM = { seed: 4_444, numRuns: 60 }

function toGiven({ balance = 0n, nonce = 0n, code = EMPTY, storage = {} }: Given): GivenAccount {
  return {
    balance,
    nonce,
    code: typeof code === 'string' ? assemble(code) : code,
    storage: new Map(
      Object.entries(storage).flatMap(([slot, value]) =>
        value === 0n ? [] : [[BigInt(slot), value] as const],
      ),
    ),
  }
}

function toSituation({ accounts = {}, transaction: parts, coinbase }: Scenario): Situation {
  return {
    accounts: new Map([
      [SENDER, toGiven({ balance: 10n ** 24n, nonce: 1n })],
      ...Object.entries(accounts).map(([address, given]) => [address as Hex, toGiven(given)] as const),
    ]),
    transaction: transaction({ to: CONTRACT, ...parts }),
    env: {
      ...ENVIRONMENT,
      ...(coinbase && { coinbase }),
      ancestorHash: (height) => keccakHex(new TextEncoder().encode(String(height))),
    },
  }
}

const quantity = (value: bigint): string => `0x${value.toString(16)}`

function accountFields({ nonce, balance, code, storage }: GivenAccount) {
  return {
    ...(nonce !== 0n && { nonce: quantity(nonce) }),
    ...(balance !== 0n && { balance: quantity(balance) }),
    ...(code.length > 0 && { code: toHex(code) }),
    ...(storage.size > 0 && {
      storage: Object.fromEntries([...storage].map(([slot, value]) => [quantity(slot), quantity(value)])),
    }),
  }
}

async function toVector(name: string, situation: Situation): Promise<StateVector> {
  const { accounts, transaction, env } = situation
  const { status, gas, root, logs } = await judge(situation, 'petersburg')
  return {
    name,
    pre: Object.fromEntries([...accounts].map(([address, account]) => [address, accountFields(account)])),
    transaction: {
      nonce: quantity(transaction.nonce),
      gasPrice: quantity(transaction.gasPrice),
      gasLimit: quantity(transaction.gasLimit),
      to: transaction.to,
      value: quantity(transaction.value),
      data: toHex(transaction.data),
    },
    ...(env.coinbase !== ENVIRONMENT.coinbase && { coinbase: env.coinbase }),
    expected: { status, gas: Number(gas), root, logs },
  }
}

function writeTopic(topic: string, vectors: readonly StateVector[]): void {
  const { number, timestamp, coinbase, difficulty, gasLimit } = ENVIRONMENT
  const block = { number, timestamp, coinbase, difficulty: Number(difficulty), gasLimit: Number(gasLimit) }
  const lines = vectors.map((vector) => JSON.stringify(vector)).join(',\n')
  const sender = JSON.stringify(SENDER)
  writeFileSync(
    `fixtures/state/${topic}.json`,
    `{"sender":${sender},"block":${JSON.stringify(block)},"vectors":[\n${lines}\n]}\n`,
  )
  const tally = new Map<string, number>()
  for (const { expected } of vectors) tally.set(expected.status, (tally.get(expected.status) ?? 0) + 1)
  console.log(`${topic}: ${[...tally].map(([status, count]) => `${count} ${status}`).join(', ')}`)
}

async function main(): Promise<void> {
  mkdirSync('fixtures/state', { recursive: true })
  for (const [topic, scenarios] of Object.entries(TOPICS)) {
    const vectors: StateVector[] = []
    for (const scenario of scenarios) vectors.push(await toVector(scenario.name, toSituation(scenario)))
    writeTopic(topic, vectors)
  }
  const random: StateVector[] = []
  for (const [i, situation] of fc.sample(situations('petersburg'), RANDOM).entries()) {
    random.push(await toVector(`random program ${i}`, situation))
  }
  writeTopic('random', random)
}

await main()
