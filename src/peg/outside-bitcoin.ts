/** A Bitcoin Core on regtest as the side of a peg. */
import { decodeHeader, hashOfHeader } from '../bitcoin/chain/header.ts'
import { GENESIS_BLOCK, MATURITY } from '../bitcoin/chain/regtest.ts'
import { displayed, fromDisplayed } from '../bitcoin/displayed-hash.ts'
import { hash160 } from '../bitcoin/hash.ts'
import type { BitcoinNode, BlockSummary } from '../bitcoin/node-interface.ts'
import { outputScript } from '../bitcoin/output-script.ts'
import { addressOf } from '../bitcoin/regtest-address.ts'
import { CoreClient } from '../bitcoin-rpc/core-client.ts'
import { CoreOperator } from '../bitcoin-rpc/core-operator.ts'
import { type OutsideRecord, outsideEntry, outsideRecordIn } from '../engine/outside-record.ts'
import type { ParentEntry } from '../engine/parent-chain.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { Store } from '../store/level.ts'
import { parentChainTable } from '../store/tables.ts'
import type { BitcoinSide } from './bitcoin-side.ts'
import { FAUCET_ADDRESS, type FaucetCoin } from './faucet.ts'
import { Outage } from './outage.ts'
import { OutsideParent } from './outside-parent.ts'

/** For calls that a block waits for, milliseconds. */
const TIMEOUT_MS = 5000
const GENESIS = displayed(hashOfHeader(decodeHeader(GENESIS_BLOCK)))

/** How it is opened. */
export interface OutsideOptions {
  /** With user and password. */
  readonly url: string
  readonly store: Store
  readonly blocksPer: number
  readonly logger: Logger
}

/** The chain of a Bitcoin Core. */
export class OutsideBitcoin implements BitcoinSide {
  readonly node: BitcoinNode
  readonly parent: OutsideParent
  readonly simulated = undefined
  readonly origin: string
  readonly #operator: CoreOperator
  readonly #outage: Outage

  private constructor(client: CoreClient, operator: CoreOperator, outage: Outage, parent: OutsideParent) {
    this.node = client
    this.origin = client.connection.origin
    this.parent = parent
    this.#operator = operator
    this.#outage = outage
  }

  /**
   * Opens it; a database that is new notes where the Bitcoin chain is. Throws `upstream` for a node that does not answer
   * or is not on regtest, `invalid-options` for a database with a simulated chain.
   */
  static async open({ url, store, blocksPer, logger }: OutsideOptions): Promise<OutsideBitcoin> {
    const client = new CoreClient({ url, timeoutMs: TIMEOUT_MS })
    try {
      const best = await bestOnRegtest(client)
      const record = await recordOf(store, best)
      const operator = new CoreOperator(client.connection)
      const outage = new Outage(logger)
      const { height } = best
      const parent = new OutsideParent({ operator, outage, store, record, height, blocksPer, logger })
      return new OutsideBitcoin(client, operator, outage, parent)
    } catch (error) {
      await client.close()
      throw error
    }
  }

  firstHeight(): number {
    return this.parent.firstHeight
  }

  mine(count: number, address: string): Promise<readonly string[]> {
    return count === 0 ? Promise.resolve([]) : this.#operator.mine(count, address)
  }

  async replace(hash: string, count: number): Promise<readonly string[]> {
    await this.#operator.invalidate(hash)
    // The first block of this second must not be the one that was just declared invalid: its reward goes elsewhere.
    const script = outputScript({ kind: 'publicKeyHash', hash: hash160(fromDisplayed(hash)) })
    const [first = ''] = await this.mine(1, addressOf(script) ?? FAUCET_ADDRESS)
    return [first, ...(await this.mine(count - 1, FAUCET_ADDRESS))]
  }

  async *coins(): AsyncGenerator<FaucetCoin> {
    for await (const coin of this.#operator.coins(FAUCET_ADDRESS)) {
      const { id, index, value, script, isCoinbase, confirmations } = coin
      if (isCoinbase && confirmations < MATURITY) continue
      yield { output: { value, script }, hash: fromDisplayed(id), index }
    }
  }

  released(): Promise<void> {
    return this.parent.released()
  }

  async height(): Promise<number | undefined> {
    return (await this.#outage.attempt(() => this.node.bestBlock()))?.height
  }

  settled(): Promise<void> {
    return this.parent.settled()
  }

  async close(): Promise<void> {
    await this.node.close()
    await this.settled()
  }
}

async function bestOnRegtest(client: CoreClient): Promise<BlockSummary> {
  const first = await client.hashAt(0)
  if (first === GENESIS) return client.bestBlock()
  throw client.connection.failure(
    `it is on another network than regtest, where the Bridge of a local chain begins (its block 0 is ${first})`,
  )
}

/** Where the database's chain stands on the Bitcoin chain; a new database begins above its best block. */
async function recordOf(store: Store, { height }: BlockSummary): Promise<OutsideRecord> {
  const table = parentChainTable(store)
  const entries: ParentEntry[] = []
  for await (const entry of table.range()) entries.push(entry)
  if (entries.length > 0) return knownRecord(entries)
  const record = { firstHeight: height + 1, releases: 0 }
  await store.batch([table.put(...outsideEntry(record))])
  return record
}

function knownRecord(entries: readonly ParentEntry[]): OutsideRecord {
  const record = outsideRecordIn(entries)
  if (record !== undefined) return record
  throw new NodeError(
    'invalid-options',
    'The data directory holds a simulated Bitcoin chain: leave out "bitcoinRpc", or name another directory.',
  )
}
