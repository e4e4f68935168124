/**
 * The exchanges of eth_simulateV1 that the specification of Ethereum's JSON-RPC has (fixtures/execution-apis), a chain
 * like the one they were recorded on, and the members in which two answers differ.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { createAbiRegistry } from '../../src/abi/registry.ts'
import { CHAINS, type ChainConfig, withBlockGasLimit, withMinimumGasPrice } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createRandomness } from '../../src/engine/randomness.ts'
import { Recordings } from '../../src/engine/recording/recordings.ts'
import { accountsOf } from '../../src/engine/wallet/accounts.ts'
import { createKeyStore } from '../../src/engine/wallet/key-store.ts'
import { createWallet } from '../../src/engine/wallet/wallet.ts'
import { silentLogger } from '../../src/logger.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import { ask, dispatcherOf, type Outcome } from './rpc.ts'

/** JSON that was parsed. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type JsonObject = { readonly [key: string]: Json }

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A recorded exchange. */
export interface Exchange {
  /** The name of the file without `ethSimulate-`. */
  readonly name: string
  readonly params: readonly Json[]
  /** `result` or `error`. */
  readonly answer: JsonObject
}

const FOLDER = 'fixtures/execution-apis/eth_simulateV1'

/** The hashes of the blocks of the recorded chain, from block 1 on. */
const BLOCK_HASHES: readonly string[] = JSON.parse(
  readFileSync('fixtures/execution-apis/block-hashes.json', 'utf8'),
)

function readExchange(file: string): Exchange {
  const lines = readFileSync(`${FOLDER}/${file}`, 'utf8').split('\n')
  const [sent, received] = ['>> ', '<< '].map((mark) => {
    const found = lines.filter((line) => line.startsWith(mark))
    if (found.length !== 1) throw new Error(`${file}: one line begins with ${mark}`)
    return JSON.parse(String(found[0]).slice(mark.length))
  })
  const { jsonrpc, id, ...answer } = received
  return { name: file.replace(/^ethSimulate-(.*)\.io$/, '$1'), params: sent.params, answer }
}

/** All recorded exchanges, by name. */
export function readExchanges(): readonly Exchange[] {
  return readdirSync(FOLDER).sort().map(readExchange)
}

/** The price at the head of the recorded chain, and its gas limits. */
const BASE_FEE = 0x16dfe9bn
const GAS_LIMIT = 0xbebc200n
const FIRST_GAS_LIMIT = '0x5f5e100'
/** The interval between simulated blocks on Ethereum, and that of the recorded chain, seconds. */
const SIMULATED_INTERVAL = 12
const MINED_INTERVAL = 10

/** The local network with the id, price, gas limit and interval of the recorded chain. */
function configOf(): ChainConfig {
  const config = withMinimumGasPrice(withBlockGasLimit(CHAINS.regtest, GAS_LIMIT), BASE_FEE)
  return {
    ...config,
    chainId: 3_503_995_874_084_926,
    difficulty: { ...config.difficulty, goalSeconds: SIMULATED_INTERVAL },
  }
}

function openEngine(): Promise<Engine> {
  const config = configOf()
  const random = createRandomness('execution-apis')
  const milliseconds = () => performance.now()
  const keyStore = createKeyStore({ milliseconds })
  return createEngine({
    recordings: new Recordings(),
    config,
    genesis: parseGenesis(JSON.parse(readFileSync('genesis/regtest.json', 'utf8')), config, {
      addresses: [],
      balance: 0n,
    }),
    store: createMemoryStore(),
    place: 'memory',
    accounts: createWallet({ local: accountsOf(false, new Map()), keyStore, milliseconds, random }),
    names: createAbiRegistry(),
    logger: silentLogger,
    now: () => 0,
    random,
    // Gas and results of every call are those of @ethereumjs/evm under this chain's rules.
    evm: 'both',
    mining: 'manual',
    coinbase: `0x${'aa'.repeat(20)}`,
    signature: 'TANDEM',
    lastingClock: false,
    strictCalls: false,
    leastGasPrice: 0n,
    accountQuota: false,
    order: 'fees',
    accountSlots: 64,
    workRateLimitMs: 0,
    callGasCap: 50_000_000n,
    gasEstimationCap: 50_000_000n,
    timeoutMs: 0,
    maxTraceBytes: 1 << 28,
  })
}

/** A node on a chain with the heights, times, gas limits and price of the recorded one. */
export interface RecordedChain {
  /** The hashes of its blocks by the recorded ones. */
  readonly hashes: ReadonlyMap<string, string>
  call(method: string, params: readonly unknown[]): Promise<Outcome>
  close(): Promise<void>
}

/** Mines the chain. */
export async function openRecordedChain(): Promise<RecordedChain> {
  const engine = await openEngine()
  const dispatcher = dispatcherOf(engine)
  const call = (method: string, params: readonly unknown[]) => ask(dispatcher, method, params)
  await call('evm_setBlockGasLimit', [FIRST_GAS_LIMIT])
  const hashes = new Map<string, string>()
  for (const [index, theirs] of BLOCK_HASHES.entries()) {
    await call('evm_mine', [(index + 1) * MINED_INTERVAL])
    if (index === 0) await call('evm_setBlockGasLimit', [`0x${GAS_LIMIT.toString(16)}`])
    hashes.set(theirs, engine.queries.head().hash)
  }
  return {
    call,
    hashes,
    async close() {
      await engine.close()
    },
  }
}

/** The hashes of an answer in the order in which blocks and transactions have them. */
function hashesOf(result: Json | undefined): string[] {
  const blocks = Array.isArray(result) ? result.filter(isObject) : []
  return blocks.flatMap(({ hash = '', parentHash = '', transactions }) => [
    String(parentHash),
    String(hash),
    ...(Array.isArray(transactions) ? transactions : []).map((one) => String(isObject(one) ? one.hash : one)),
  ])
}

/** The recorded answer with our hashes in place of those of the same blocks and transactions; `known` has further ones. */
export function withOurHashes(theirs: Json, ours: Json, known: ReadonlyMap<string, string>): Json {
  const [their, our] = [theirs, ours].map((answer) => hashesOf(isObject(answer) ? answer.result : undefined))
  const names = new Map(known)
  for (const [at, hash] of (their ?? []).entries()) names.set(hash, our?.[at] ?? hash)
  const renamed = JSON.stringify(theirs).replace(
    /[0-9a-f]{64}/g,
    (word) => names.get(`0x${word}`)?.slice(2) ?? word,
  )
  return JSON.parse(renamed)
}

/** A message without what geth adds before and after it, and without the name of the call, which this node adds. */
function comparable(message: string): string {
  return message
    .replace(/^err: /, '')
    .replace(/ \([^()]*\)$/, '')
    .toLowerCase()
}

const isBlock = (value: JsonObject) => 'parentHash' in value

/** An answer in the form in which two are compared: the minimum gas price under the name of the base fee, whose place it has. */
function comparableAnswer(value: Json): Json {
  if (Array.isArray(value)) return value.map(comparableAnswer)
  if (!isObject(value)) return value
  const { minimumGasPrice, ...rest } = value
  const block =
    isBlock(value) && minimumGasPrice !== undefined ? { ...rest, baseFeePerGas: minimumGasPrice } : value
  return Object.fromEntries(
    Object.entries(block).map(([name, member]) => [
      name,
      name === 'message' ? comparable(String(member)) : comparableAnswer(member),
    ]),
  )
}

/** The words of data that is a list of several, of 32 bytes each; other data as it is. */
function wordsOf(value: Json | undefined): Json | undefined {
  const isList = typeof value === 'string' && /^0x([0-9a-f]{64}){2,16}$/.test(value)
  return isList ? (value.slice(2).match(/.{64}/g) ?? []).map((word) => `0x${word}`) : value
}

/** The paths of the members in which two values differ: `result[3].calls[0].gasUsed`. */
function memberDifferences(theirs: Json | undefined, ours: Json | undefined, path: string): string[] {
  if (Array.isArray(theirs) && Array.isArray(ours) && theirs.length === ours.length) {
    return theirs.flatMap((one, at) => memberDifferences(one, ours[at], `${path}[${at}]`))
  }
  if (isObject(theirs) && isObject(ours)) {
    const names = new Set([...Object.keys(theirs), ...Object.keys(ours)])
    return [...names].flatMap((name) => memberDifferences(theirs[name], ours[name], `${path}.${name}`))
  }
  if (Object.is(theirs, ours)) return []
  const [their, our] = [wordsOf(theirs), wordsOf(ours)]
  const isSplit = Array.isArray(their) && Array.isArray(our) && their.length === our.length
  return isSplit ? memberDifferences(their, our, path) : [path]
}

/** What an answer comes to: a result, or the code of an error. */
function outcomeOf(answer: Json): string {
  return isObject(answer) && isObject(answer.error) ? String(answer.error.code) : 'result'
}

/** How two answers differ: `-32000 → -32602` by outcome, else the paths of the members that differ. */
export function differencesOf(theirs: Json, ours: Json): string[] {
  const [there, here] = [outcomeOf(theirs), outcomeOf(ours)]
  if (there !== here) return [`${there} → ${here}`]
  return memberDifferences(comparableAnswer(theirs), comparableAnswer(ours), '').map((path) => path.slice(1))
}

/** A row of the list of known differences (docs/differences.md#recorded-simulations). */
export interface ListedDifference {
  /** Names of exchanges; empty for all. */
  readonly exchanges: readonly string[]
  /** Outcomes or paths, where `[]` is any item. */
  readonly differences: readonly string[]
  readonly count: number
}

/** The rows of docs/differences.md, from the table under `Recorded simulations`. */
export function listedDifferences(): readonly ListedDifference[] {
  const [, section = ''] = readFileSync('docs/differences.md', 'utf8').split('### Recorded simulations\n')
  const codes = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => String(code))
  return section
    .split(/^#/m, 1)
    .join()
    .split('\n')
    .filter((line) => /^\| (`|all )/.test(line))
    .map((line) => {
      const [exchanges, differences, count] = line.slice(2, -2).split(' | ')
      return { exchanges: codes(exchanges), differences: codes(differences), count: Number(count) }
    })
}

/** Does the row list that difference of the exchange? */
export function isListed(
  { exchanges, differences }: ListedDifference,
  name: string,
  difference: string,
): boolean {
  if (exchanges.length > 0 && !exchanges.includes(name)) return false
  return differences.some((listed) => {
    const literal = listed.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    return new RegExp(`^${literal.replaceAll('\\[\\]', '\\[\\d+\\]')}$`).test(difference)
  })
}
