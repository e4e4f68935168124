/**
 * An engine that mines, reorganises and goes back under faults of its disk. What has to hold: after each start the head is
 * that of the last command that was acknowledged, and everything that it refers to is there and in order.
 */

import { readFileSync } from 'node:fs'
import { createAbiRegistry } from '../../src/abi/registry.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import { addressOf } from '../../src/chain/signature.ts'
import { signTransaction, type Transaction } from '../../src/chain/transaction.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createRandomness } from '../../src/engine/randomness.ts'
import { Recordings } from '../../src/engine/recording/recordings.ts'
import { verifyStore } from '../../src/engine/verification/verify.ts'
import { accountsOf } from '../../src/engine/wallet/accounts.ts'
import { createKeyStore } from '../../src/engine/wallet/key-store.ts'
import { createWallet } from '../../src/engine/wallet/wallet.ts'
import { silentLogger } from '../../src/logger.ts'
import type { Store } from '../../src/store/write-behind.ts'
import { Machine } from './machine.ts'
import type { SimulatedProcess } from './process.ts'
import { Violation, type World } from './world.ts'

const config = CHAINS.regtest
const KEY = new Uint8Array(32).fill(7)
const SENDER = addressOf(KEY)
const MINER: Hex = `0x${'aa'.repeat(20)}`
/** Read from the project's root, where tests and scripts run. */
const genesis = parseGenesis(JSON.parse(readFileSync('genesis/regtest.json', 'utf8')), config, {
  addresses: [SENDER],
  balance: 10n ** 18n,
})

/** Transfers by their nonce, signed once. */
const transfers: Transaction[] = []
function transfer(nonce: number): Transaction {
  transfers[nonce] ??= signTransaction(
    {
      nonce: BigInt(nonce),
      gasPrice: 1n,
      gasLimit: 21_000n,
      to: `0x${(nonce % 5 || 9).toString().repeat(40)}`,
      value: 1n,
      data: new Uint8Array(0),
      chainId: config.chainId,
    },
    KEY,
  )
  return transfers[nonce] as Transaction
}

function openEngine(store: Store): Promise<Engine> {
  const random = createRandomness('simulated')
  const milliseconds = () => performance.now()
  return createEngine({
    recordings: new Recordings(),
    config,
    genesis,
    store,
    place: '/data',
    accounts: createWallet({
      local: accountsOf(false, new Map()),
      keyStore: createKeyStore({ milliseconds }),
      milliseconds,
      random,
    }),
    names: createAbiRegistry(),
    logger: silentLogger,
    now: () => Math.floor(Date.now() / 1000),
    random,
    evm: 'tandem',
    mining: 'manual',
    coinbase: MINER,
    signature: 'SIMULATED',
    lastingClock: false,
    strictCalls: false,
    leastGasPrice: 0n,
    accountQuota: false,
    order: 'fees',
    accountSlots: 64,
    workRateLimitMs: 0,
    callGasCap: 10n ** 7n,
    gasEstimationCap: 10n ** 7n,
    timeoutMs: 0,
    maxTraceBytes: 1 << 20,
  })
}

/** One seed's chain. */
class Simulation {
  readonly #world: World
  readonly #machine: Machine
  /** Heads after each acknowledged command, oldest first. */
  readonly #heads: Hex[] = []
  /** All heads: a command that mines several blocks has some between. */
  readonly #known = new Set<Hex>()
  /** Did the process end while a command ran? */
  #isUncertain = false

  constructor(world: World) {
    this.#world = world
    this.#machine = new Machine(world)
  }

  async run(): Promise<void> {
    for (let lives = 2 + this.#world.random.below(2); lives > 0; lives--) await this.#live(false)
    this.#machine.wellAgain()
    await this.#live(true)
  }

  async #live(isLast: boolean): Promise<void> {
    const { random } = this.#world
    const machine = this.#machine
    const life = await machine.start(isLast)
    const { process, store } = life
    let engine: Engine | undefined
    if (store !== undefined) {
      await this.#verify(process, store)
      engine = await this.#startEngine(process, store)
    }
    if (engine !== undefined) {
      this.#checkHead(engine)
      await this.#work(process, engine, isLast)
    }
    const isWell = engine !== undefined && !process.isDead && (isLast || random.oneIn(3))
    await machine.end(life, isWell ? 'close' : random.oneIn(2) ? 'power' : 'kill', () =>
      (engine as Engine).close(),
    )
  }

  /** A disk that refuses may keep the engine from its start. */
  async #startEngine(process: SimulatedProcess, store: Store): Promise<Engine | undefined> {
    try {
      return await this.#machine.within(process, () => openEngine(store), 'the engine starts')
    } catch (error) {
      if (store.failure === undefined) throw error
      this.#world.note(`start: ${error}`)
      return undefined
    }
  }

  async #verify(process: SimulatedProcess, store: Store): Promise<void> {
    const faults: string[] = []
    const step = () =>
      verifyStore({
        store,
        problems: [],
        config,
        from: 1,
        onFault: ({ table, key, problem }) => void faults.push(`${table} ${key}: ${problem}`),
        onStep: () => {},
      })
    await this.#machine.within(process, step, 'the database is verified')
    if (process.isDead || this.#heads.length === 0) return
    const isEmpty = faults.length === 1 && faults[0]?.endsWith('the head is not stored') === true
    if (isEmpty && this.#machine.mayLack) return
    if (faults.length > 0) throw new Violation(`${faults.length} faults: ${faults[0]}`)
  }

  #checkHead(engine: Engine): void {
    const { hash, block } = engine.queries.head()
    this.#world.note(`head ${block.header.number} ${hash}`)
    const [last, isKnown] = [this.#heads.at(-1), this.#known.has(hash)]
    const isLost = last !== undefined && last !== hash
    if (isLost && !this.#isUncertain && !this.#machine.mayLack) {
      throw new Violation(`the head is ${hash} where ${last} was acknowledged`)
    }
    const isNew = block.header.number === 0
    if (isLost && !this.#isUncertain && !isKnown && !isNew) throw new Violation(`the head ${hash} never was`)
    this.#heads.push(hash)
    this.#known.add(hash)
    engine.events.on('chain', ({ added }) => {
      for (const block of added) this.#known.add(block.hash)
    })
    this.#isUncertain = false
    this.#machine.found()
  }

  /** A command, picked by chance. */
  async #command({ commands, queries }: Engine): Promise<unknown> {
    const { random } = this.#world
    const height = queries.head().block.header.number
    const kind = random.below(8)
    if (kind < 4) {
      const nonce = Number(queries.pendingNonce(SENDER))
      await commands.submit(transfer(nonce))
      const next = transfer(nonce + 1)
      // A command that failed may have left it in the pool without the one before.
      if (random.oneIn(3) && queries.transaction(next.hash) === undefined) await commands.submit(next)
      return commands.mine()
    }
    if (kind < 5) return commands.mine({ blocks: 1 + random.below(3) })
    if (kind < 6 && height > 3) return commands.reorg({ depth: 1 + random.below(2) })
    const id = await commands.snapshot()
    await commands.mine({ blocks: 1 + random.below(2) })
    return commands.revert(id)
  }

  async #work(process: SimulatedProcess, engine: Engine, isLast: boolean): Promise<void> {
    const { random } = this.#world
    for (let steps = 2 + random.below(5); steps > 0 && !process.isDead; steps--) {
      if (random.oneIn(4) && !isLast) this.#machine.disturb()
      this.#isUncertain = true
      try {
        await this.#machine.within(process, () => this.#command(engine), 'a command')
        if (process.isDead) return
        this.#heads.push(engine.queries.head().hash)
        this.#isUncertain = false
      } catch (error) {
        this.#world.note(`command: ${error}`)
        if (error instanceof Violation || isLast) throw error
      }
      await this.#world.pass(random.oneIn(2) ? 0 : random.below(300))
    }
  }
}

/** Runs the chain of a seed. Throws a `Violation`. */
export async function simulateChain(world: World): Promise<void> {
  await new Simulation(world).run()
}
