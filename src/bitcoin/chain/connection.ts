/** Adds a block to the end of the best chain, and takes the last one off. */
import { signatureOperationCost } from '../interpreter/signature-operations.ts'
import type { Transaction } from '../transaction.ts'
import { type Coin, coinsOf, outputKey, scriptKey, spentKey } from './coin.ts'
import { MAX_CHECKS_COST, subsidyAt } from './regtest.ts'
import { requireRule } from './rule-violation.ts'
import { ancestorAt, type ChainState, heightKey, knownBlock, medianTime, type StoredBlock } from './state.ts'
import { areSequencesOver } from './time-locks.ts'
import { checkScripts, feeOf } from './transaction-rules.ts'

/** Were the scripts of a transaction (by hash with witness) found good before? */
export type KnownScripts = (transaction: Transaction) => boolean

/** Coins while a block is added or taken off. */
class CoinChanges {
  #coins: ChainState['coins']
  #byScript: ChainState['coinsOfScripts']

  constructor({ coins, coinsOfScripts }: ChainState) {
    this.#coins = coins
    this.#byScript = coinsOfScripts
  }

  get coins(): ChainState['coins'] {
    return this.#coins
  }

  get changed(): Pick<ChainState, 'coins' | 'coinsOfScripts'> {
    return { coins: this.#coins, coinsOfScripts: this.#byScript }
  }

  add(key: string, coin: Coin): void {
    this.#coins = this.#coins.put(key, coin)
    this.#byScript = this.#byScript.put(scriptKey(coin.script) + key, true)
  }

  remove(key: string): void {
    const coin = this.#coins.get(key)
    if (coin === undefined) return
    this.#coins = this.#coins.delete(key)
    this.#byScript = this.#byScript.delete(scriptKey(coin.script) + key)
  }

  /** The coins that a transaction spends, which it takes. */
  spend({ inputs }: Transaction): Coin[] {
    const keys = inputs.map(spentKey)
    const coins = keys.flatMap((key) => this.#coins.get(key) ?? [])
    requireRule(coins.length === keys.length, 'bad-txns-inputs-missingorspent')
    for (const key of keys) this.remove(key)
    return coins
  }
}

/** Where the coins of a chain that ends with a block are, for relative locks. */
export function coinTimes(state: ChainState, tip: StoredBlock, coins: readonly Coin[]) {
  return coins.map(({ height }) => ({
    height,
    medianTime: () => medianTime(state, ancestorAt(state, tip, Math.max(height - 1, 0))),
  }))
}

/** The scripts that a transaction has to do with: of its outputs and of the coins that it spends; by key. */
function scriptsOf({ outputs }: Transaction, spent: readonly Coin[]): ReadonlySet<string> {
  return new Set([...outputs, ...spent].map(({ script }) => scriptKey(script)))
}

function historyKeys(
  height: number,
  position: number,
  transaction: Transaction,
  spent: readonly Coin[],
): string[] {
  const place = heightKey(height) + heightKey(position)
  return [...scriptsOf(transaction, spent)].map((script) => script + place)
}

interface Connected {
  readonly undo: readonly Coin[]
  readonly fees: bigint
  readonly coins: Pick<ChainState, 'coins' | 'coinsOfScripts'>
}

/** Checks of a transaction on the coins that it spends; the fee. */
function checkSpending(
  state: ChainState,
  parent: StoredBlock,
  transaction: Transaction,
  coins: readonly Coin[],
  isKnown: KnownScripts,
): bigint {
  const height = parent.height + 1
  const fee = feeOf(transaction, coins, height)
  const isOver = areSequencesOver(
    transaction,
    coinTimes(state, parent, coins),
    height,
    medianTime(state, parent),
  )
  requireRule(isOver, 'bad-txns-nonfinal', 'contains a non-BIP68-final transaction')
  if (!isKnown(transaction)) checkScripts(transaction, coins)
  return fee
}

function spendAll(state: ChainState, stored: StoredBlock, isKnown: KnownScripts): Connected {
  const parent = knownBlock(state, stored.parent)
  const changes = new CoinChanges(state)
  const undo: Coin[] = []
  let fees = 0n
  let cost = 0
  for (const [position, transaction] of stored.block.transactions.entries()) {
    const id = stored.ids[position] ?? ''
    const made = coinsOf(transaction, id, stored.height, position === 0)
    const isNew = transaction.outputs.every((_, index) => !changes.coins.has(outputKey(id, index)))
    requireRule(isNew, 'bad-txns-BIP30', 'tried to overwrite transaction')
    const spent = position === 0 ? [] : changes.spend(transaction)
    if (position > 0) fees += checkSpending(state, parent, transaction, spent, isKnown)
    cost += signatureOperationCost(
      transaction,
      spent.map(({ script }) => script),
    )
    requireRule(cost <= MAX_CHECKS_COST, 'bad-blk-sigops', 'too many sigops')
    undo.push(...spent)
    for (const [key, coin] of made) changes.add(key, coin)
  }
  return { undo, fees, coins: changes.changed }
}

function checkReward(stored: StoredBlock, fees: bigint): void {
  const limit = subsidyAt(stored.height) + fees
  const outputs = stored.block.transactions[0]?.outputs ?? []
  const value = outputs.reduce((sum, output) => sum + output.value, 0n)
  requireRule(value <= limit, 'bad-cb-amount', `coinbase pays too much (actual=${value} vs limit=${limit})`)
}

/** The coins that each transaction of a block spent, by position. */
export function spentByPosition({ block, undo }: StoredBlock): readonly (readonly Coin[])[] {
  let at = 0
  return block.transactions.map(({ inputs }, position) => {
    if (position === 0) return []
    const start = at
    at += inputs.length
    return undo.slice(start, at)
  })
}

/** Changes of the indexes by a block that is added (true) or taken off. */
function withIndexes(
  state: ChainState,
  stored: StoredBlock,
  isAdded: boolean,
): Pick<ChainState, 'places' | 'history'> {
  let { places, history } = state
  for (const [position, spent] of spentByPosition(stored).entries()) {
    const id = stored.ids[position] ?? ''
    const transaction = stored.block.transactions[position] as Transaction
    places = isAdded ? places.put(id, { block: stored.hash, position }) : places.delete(id)
    for (const key of historyKeys(stored.height, position, transaction, spent)) {
      history = isAdded ? history.put(key, id) : history.delete(key)
    }
  }
  return { places, history }
}

/** The chain with a child of its best block at the end. Throws a `RuleViolation`. */
export function connect(state: ChainState, stored: StoredBlock, isKnown: KnownScripts): ChainState {
  const { undo, fees, coins } = spendAll(state, stored, stored.wasConnected ? () => true : isKnown)
  checkReward(stored, fees)
  const connected: StoredBlock = { ...stored, wasConnected: true, undo }
  return {
    ...state,
    ...coins,
    ...withIndexes(state, connected, true),
    blocks: state.blocks.put(stored.hash, connected),
    active: state.active.put(heightKey(stored.height), stored.hash),
    best: stored.hash,
  }
}

/** The chain without its best block, which stays known. */
export function disconnect(state: ChainState): ChainState {
  const stored = knownBlock(state, state.best)
  const changes = new CoinChanges(state)
  const spent = spentByPosition(stored)
  for (let position = spent.length - 1; position >= 0; position--) {
    const transaction = stored.block.transactions[position] as Transaction
    const id = stored.ids[position] ?? ''
    for (const index of transaction.outputs.keys()) changes.remove(outputKey(id, index))
    for (const [i, coin] of (spent[position] ?? []).entries()) {
      const input = transaction.inputs[i]
      if (input !== undefined) changes.add(spentKey(input), coin)
    }
  }
  return {
    ...state,
    ...changes.changed,
    ...withIndexes(state, stored, false),
    active: state.active.delete(heightKey(stored.height)),
    best: stored.parent,
  }
}
