/**
 * Runs Ethereum's official state tests through our overlay, journal and transaction code: `npm run test:state` those of
 * fixtures/state-tests, `npm run test:state -- <path>` those of another folder or file; `--compiled` compiles all code
 * before it runs.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { EMPTY_ACCOUNT } from '../src/chain/account.ts'
import type { Log } from '../src/chain/receipt.ts'
import { addressOf } from '../src/chain/signature.ts'
import type { Transaction } from '../src/chain/transaction.ts'
import { EMPTY } from '../src/encoding/bytes.ts'
import { keccakHex } from '../src/encoding/hash.ts'
import { fromHex, type Hex } from '../src/encoding/hex.ts'
import { encodeRlp } from '../src/encoding/rlp.ts'
import type { BlockEnvironment } from '../src/evm/message.ts'
import type { Vm } from '../src/evm/rules.ts'
import { applyTransaction, TransactionRejected } from '../src/execution/apply-transaction.ts'
import { Overlay } from '../src/state/overlay.ts'
import { ethereumStateRoot } from '../test/support/ethereum-state.ts'
import { NOTHING } from '../test/support/execution.ts'
import { createOracleVm } from '../test/support/oracle-vm.ts'

/** Tests that are known to differ, by name, and why. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map()

/** Those that come with the project, seen from its root, where npm runs scripts. */
const FIXTURES = 'fixtures/state-tests'

/** A case that takes longer than this counts as failed, milliseconds. */
const DEADLINE_MS = 300_000

interface Case {
  readonly indexes: { readonly data: number; readonly gas: number; readonly value: number }
  readonly hash: Hex
  readonly logs: Hex
}

interface StateTest {
  readonly env: Readonly<Record<string, string>>
  readonly pre: Readonly<
    Record<Hex, { balance: string; nonce: string; code: Hex; storage: Record<string, string> }>
  >
  readonly transaction: {
    readonly data: readonly Hex[]
    readonly gasLimit: readonly string[]
    readonly value: readonly string[]
    readonly gasPrice: string
    readonly nonce: string
    readonly to: Hex | ''
    readonly secretKey: Hex
  }
  readonly post: { readonly ConstantinopleFix?: readonly Case[] }
}

/** The result of a run over a folder. */
interface Tally {
  files: number
  passed: number
  readonly failed: string[]
  readonly excepted: string[]
}

/** A number of a test file; the empty `0x` is 0. */
function quantity(text: string | undefined): bigint {
  return text === undefined || text === '0x' ? 0n : BigInt(text)
}

function environment({ env }: StateTest): BlockEnvironment {
  return {
    number: Number(env.currentNumber),
    timestamp: Number(env.currentTimestamp),
    coinbase: env.currentCoinbase as Hex,
    difficulty: quantity(env.currentDifficulty),
    gasLimit: quantity(env.currentGasLimit),
    minimumGasPrice: 0n,
    ancestor: () => undefined,
    // The tests' own convention: the hash of a block is that of its number as text.
    ancestorHash: (height) => keccakHex(new TextEncoder().encode(String(height))),
  }
}

function preState({ pre }: StateTest): Overlay {
  const overlay = new Overlay(NOTHING)
  for (const [address, { balance, nonce, code, storage }] of Object.entries(pre) as [
    Hex,
    StateTest['pre'][Hex],
  ][]) {
    overlay.putAccount(address, { ...EMPTY_ACCOUNT, balance: quantity(balance), nonce: quantity(nonce) })
    if (code !== '0x') overlay.putCode(address, fromHex(code))
    for (const [slot, value] of Object.entries(storage)) {
      overlay.putStorage(address, quantity(slot), quantity(value))
    }
  }
  return overlay
}

function toTransaction({ transaction }: StateTest, { data, gas, value }: Case['indexes']): Transaction {
  return {
    hash: '0x',
    from: addressOf(fromHex(transaction.secretKey)),
    nonce: quantity(transaction.nonce),
    gasPrice: quantity(transaction.gasPrice),
    gasLimit: quantity(transaction.gasLimit[gas]),
    to: transaction.to === '' ? null : transaction.to,
    value: quantity(transaction.value[value]),
    data: fromHex(transaction.data[data] ?? '0x'),
    v: 27,
    r: 1n,
    s: 1n,
    chainId: 0,
    raw: EMPTY,
    type: 0,
    typed: undefined,
    isRemasc: false,
  }
}

function logsHash(logs: readonly Log[]): Hex {
  return keccakHex(
    encodeRlp(logs.map(({ address, topics, data }) => [fromHex(address), topics.map(fromHex), data])),
  )
}

/** Why the case fails; `undefined` when it passes. */
async function runCase(test: StateTest, wanted: Case, vm: Vm): Promise<string | undefined> {
  const before = preState(test)
  const state = new Overlay(before)
  const env = environment(test)
  const transaction = toTransaction(test, wanted.indexes)
  let logs: readonly Log[] = []
  try {
    const parts = { transaction, state, env, vm, gasAvailable: env.gasLimit, deadlineMs: DEADLINE_MS }
    logs = (await applyTransaction(parts)).logs
  } catch (error) {
    // A transaction that is not valid leaves the state unchanged.
    if (!(error instanceof TransactionRejected)) return `threw ${error}`
  }
  const found = await ethereumStateRoot(before.changes(), state.changes())
  if (found !== wanted.hash) return `root ${found} instead of ${wanted.hash}`
  const foundLogs = logsHash(logs)
  return foundLogs === wanted.logs ? undefined : `logs ${foundLogs} instead of ${wanted.logs}`
}

function jsonFiles(path: string): string[] {
  if (statSync(path).isFile()) return path.endsWith('.json') ? [path] : []
  return readdirSync(path)
    .sort()
    .flatMap((name) => jsonFiles(join(path, name)))
}

async function runFolder(folder: string, vm: Vm, verbose: boolean): Promise<Tally> {
  const tally: Tally = { files: 0, passed: 0, failed: [], excepted: [] }
  for (const file of jsonFiles(folder)) {
    tally.files++
    const tests = JSON.parse(readFileSync(file, 'utf8')) as Record<string, StateTest>
    const start = performance.now()
    for (const [name, test] of Object.entries(tests)) {
      for (const wanted of test.post.ConstantinopleFix ?? []) {
        const { data, gas, value } = wanted.indexes
        const label = `${relative(folder, file) || basename(file)} ${name} [${data},${gas},${value}]`
        const failure = await runCase(test, wanted, vm)
        const reason = EXCEPTIONS.get(name)
        if (failure === undefined) tally.passed++
        else if (reason !== undefined) tally.excepted.push(`${label}: ${reason}`)
        else tally.failed.push(`${label}: ${failure}`)
      }
    }
    if (verbose) console.log(`${(performance.now() - start).toFixed(0)} ms ${file}`)
  }
  return tally
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      loop: { type: 'string', default: 'own' },
      compiled: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  })
  const folder = positionals[0] ?? FIXTURES
  if (!existsSync(folder)) {
    console.log(`no state tests at ${folder}; nothing was run`)
    process.exitCode = 1
    return
  }
  const loop = values.loop === 'library' ? 'library' : 'own'
  const vm = createOracleVm({
    chainId: 1,
    ruleSet: 'petersburg',
    loop,
    ...(values.compiled && { hotAfter: 0 }),
  })
  const start = performance.now()
  const { files, passed, failed, excepted } = await runFolder(folder, vm, values.verbose)
  for (const line of failed) console.log(`FAIL ${line}`)
  for (const line of excepted) console.log(`EXCEPTION ${line}`)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(
    `${files} files, ${passed} cases passed, ${failed.length} failed, ${excepted.length} exceptions, ${seconds} s`,
  )
  if (failed.length > 0 || passed === 0) process.exitCode = 1
}

await main()
