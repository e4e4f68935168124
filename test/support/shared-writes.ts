/** An engine over a store whose writes are held, as those of a cluster are until its log has them. */
import { readFileSync } from 'node:fs'
import { createAbiRegistry } from '../../src/abi/registry.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import { toHex } from '../../src/encoding/hex.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createRandomness } from '../../src/engine/randomness.ts'
import { Recordings } from '../../src/engine/recording/recordings.ts'
import { createAccounts } from '../../src/engine/wallet/accounts.ts'
import { createKeyStore } from '../../src/engine/wallet/key-store.ts'
import { createWallet } from '../../src/engine/wallet/wallet.ts'
import { silentLogger } from '../../src/logger.ts'
import { createReplicatedStore } from '../../src/replication/replicated-store.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import type { Change } from '../../src/store/table.ts'
import type { Store } from '../../src/store/write-behind.ts'

const NOW = 1_700_000_000
const config = CHAINS.regtest
const genesis = parseGenesis(JSON.parse(readFileSync('genesis/regtest.json', 'utf8')), config)
const accounts = await createAccounts({ enabled: true, isLocal: true })
const milliseconds = () => performance.now()
const random = createRandomness('shared')
const keyStore = createKeyStore({ milliseconds })

/** An engine with what it has written. */
export interface SharedEngine {
  readonly engine: Engine
  readonly store: Store
  /** How many batches were written since its start. */
  readonly batches: number
  /** What its subscribers were told, in order, by kind. */
  readonly heard: Readonly<Record<'heads' | 'removed' | 'pooled' | 'console' | 'failures', string[]>>
  /** Its database and its pool. */
  contents(): Promise<unknown>
}

/** Subscribes to an engine. */
function listenTo({ events }: Engine): SharedEngine['heard'] {
  const heard: SharedEngine['heard'] = { heads: [], removed: [], pooled: [], console: [], failures: [] }
  events.on('chain', ({ added, removed, notes = [] }) => {
    heard.heads.push(...added.map(({ hash }) => hash))
    heard.removed.push(...removed.map(({ hash }) => hash))
    for (const [hash, { failure }] of notes) if (failure) heard.failures.push(`${hash} ${failure.reason}`)
  })
  events.on('pool', ({ added }) => heard.pooled.push(...added.map(({ hash }) => hash)))
  events.on('console', ({ texts }) => heard.console.push(...texts))
  return heard
}

async function contentsOf(engine: Engine, store: Store): Promise<unknown> {
  const entries: string[] = []
  for await (const [key, value] of store.entries(Uint8Array.of(0), Uint8Array.of(255))) {
    entries.push(`${toHex(key)} ${toHex(value)}`)
  }
  const { queries } = engine
  const hashes = (list: readonly { readonly hash: string }[]) => list.map(({ hash }) => hash)
  return {
    entries,
    head: queries.head().hash,
    runnable: hashes(queries.pendingTransactions()),
    queued: hashes(queries.queuedTransactions()),
    next: queries.nextTimestamp(),
    nonces: accounts.list().map((address) => queries.pendingNonce(address)),
  }
}

/**
 * Opens an engine that mines a block for each transaction. `write` runs in place of the append to a cluster's log; where it
 * throws, the batch is not written. `isShared`: submissions that wait are written together, as in a cluster.
 */
export async function openSharedEngine(
  isShared: boolean,
  write: (changes: readonly Change[]) => Promise<void>,
): Promise<SharedEngine> {
  const store = createReplicatedStore(createMemoryStore())
  const engine = await createEngine({
    recordings: new Recordings(),
    config,
    genesis,
    store,
    place: 'memory',
    accounts: createWallet({ local: accounts, keyStore, milliseconds, random }),
    names: createAbiRegistry(),
    logger: silentLogger,
    now: () => NOW,
    random,
    evm: 'tandem',
    mining: 'auto',
    coinbase: `0x${'aa'.repeat(20)}`,
    signature: 'TANDEM',
    lastingClock: true,
    strictCalls: false,
    leastGasPrice: 0n,
    accountQuota: false,
    order: 'fees',
    accountSlots: 16,
    workRateLimitMs: 0,
    callGasCap: 10n ** 7n,
    gasEstimationCap: 10n ** 7n,
    timeoutMs: 0,
    maxTraceBytes: 1 << 20,
    ...(isShared && { admitCommand() {} }),
  })
  if (isShared) await engine.replica.lead(false)
  let batches = 0
  store.replicateBy(async (changes, apply) => {
    await write(changes)
    batches++
    await apply({ type: 'after', run() {} })
  })
  const heard = listenTo(engine)
  return {
    engine,
    store,
    get batches() {
      return batches
    },
    heard,
    contents: () => contentsOf(engine, store),
  }
}
