/**
 * Random chains: transfers, creations, cells set and cleared, contracts destroyed, reorganisations, reverts to
 * snapshots, restarts; and the root of what they leave, rebuilt from nothing.
 */
import { createRandom } from '../../scripts/soak/random.ts'
import { decodeBlock, encodeBlock } from '../../src/chain/block.ts'
import { contractAddress } from '../../src/chain/transaction.ts'
import { type Hex, toFixedHex, toHex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'
import { openStore } from '../../src/store/level.ts'
import { nodeSource } from '../../src/store/state-nodes.ts'
import { assemble, deployer } from './assembler.ts'
import { NaiveTrie } from './naive-trie.ts'
import { stateEntries } from './state-entries.ts'

/** The parameters of a chain. */
export interface GrowOptions {
  readonly dataDir: string
  readonly transactions: number
  readonly seed: number
}

/** The result of a run. */
export interface Growth {
  readonly height: number
  readonly mined: number
  readonly reorganisations: number
  readonly reverts: number
  readonly restarts: number
}

/** Calldata: a slot and a value. */
const STORE = toHex(deployer(assemble('32 CALLDATALOAD 0 CALLDATALOAD SSTORE STOP')))
/** Creates a contract from its calldata. */
const FACTORY = toHex(deployer(assemble('CALLDATASIZE 0 0 CALLDATACOPY CALLDATASIZE 0 0 CREATE POP STOP')))
/** Fills three cells when it is made, and destroys itself when it is called. */
const MORTAL = toHex(
  Uint8Array.from([...assemble('1 0 SSTORE 2 1 SSTORE 3 2 SSTORE'), ...deployer(assemble('CALLER SUICIDE'))]),
)

function word(value: number): string {
  return toFixedHex(BigInt(value), 32).slice(2)
}

/** Grows a chain on disk and closes its node. */
export async function growRandomChain({ dataDir, transactions, seed }: GrowOptions): Promise<Growth> {
  const random = createRandom(seed)
  let time = 1_700_000_000
  const options = { dataDir, mining: 'manual', now: () => ++time } as const
  let node: Node = await createNode(options)
  const call = (method: string, ...params: unknown[]) => node.request({ method, params })
  const senders = (await call('eth_accounts')) as Hex[]
  const contracts: Hex[] = []
  const count = { mined: 0, reorganisations: 0, reverts: 0, restarts: 0 }
  let snapshots: string[] = []

  function draw(from: Hex, nonce: bigint): Record<string, string> {
    const kind = random.next()
    const known = contracts.length === 0 ? (senders[0] as Hex) : random.pick(contracts)
    const value = random.chance(0.3) ? 0 : random.whole(1, 64)
    if (kind < 0.15) return { to: random.pick(senders), value: '0x1' }
    if (kind < 0.3) return { to: toFixedHex(BigInt(random.whole(1_000_000, 1_010_000)), 20), value: '0x0' }
    if (kind < 0.45) {
      contracts.push(contractAddress(from, nonce))
      return { data: random.pick([STORE, STORE, FACTORY, MORTAL]) }
    }
    if (kind < 0.55) {
      contracts.push(contractAddress(known, BigInt(random.whole(1, 3))))
      return { to: known, data: random.pick([MORTAL, STORE]) }
    }
    return { to: known, data: `0x${word(random.whole(0, 40))}${word(value)}` }
  }

  async function send(): Promise<void> {
    const from = random.pick(senders)
    const nonce = BigInt((await call('eth_getTransactionCount', from, 'pending')) as string)
    const transaction = { from, gas: '0x493e0', gasPrice: '0x0', nonce: `0x${nonce.toString(16)}` }
    try {
      await call('eth_sendTransaction', { ...transaction, ...draw(from, nonce) })
    } catch {
      // The sender has as many pooled transactions as the pool accepts.
      await call('evm_mine')
    }
  }

  for (let sent = 0; sent < transactions; sent++) {
    await send()
    if (random.chance(0.12)) {
      await call('evm_mine')
      count.mined++
    }
    const height = node.engine.queries.head().block.header.number
    const chance = random.next()
    if (chance < 0.008 && height > 5) {
      await call('evm_reorg', { depth: random.whole(1, 5) })
      count.reorganisations++
    } else if (chance < 0.016) {
      snapshots.push((await call('evm_snapshot')) as string)
    } else if (chance < 0.022 && snapshots.length > 0) {
      const index = random.whole(0, snapshots.length - 1)
      if ((await call('evm_revert', snapshots[index])) === true) count.reverts++
      snapshots = snapshots.slice(0, index)
    } else if (chance < 0.025) {
      await node.close()
      node = await createNode(options)
      snapshots = []
      count.restarts++
    }
  }
  await call('evm_mine')
  const height = node.engine.queries.head().block.header.number
  await node.close()
  return { height, ...count }
}

/** Roots of the head of a chain on disk. */
export interface RebuiltRoots {
  /** In the header of the head. */
  readonly header: Hex
  /** Of a trie made by inserting every entry of the state, one by one, into an empty one. */
  readonly inserted: Hex
  /** After a fresh node has imported every block of the chain. */
  readonly executed: Hex
  readonly entries: number
}

/** Rebuilds the state of a chain on disk from nothing, in both ways. */
export async function rebuildRoots(dataDir: string): Promise<RebuiltRoots> {
  const grown = await createNode({ dataDir, mining: 'manual' })
  const { queries, config } = grown.engine
  const { header } = queries.head().block
  const fresh = await createNode({ mining: 'manual' })
  for (let number = 1; number <= header.number; number++) {
    const view = await queries.block({ number })
    if (view === undefined) throw new Error(`block ${number} is missing`)
    await fresh.engine.commands.importBlock(decodeBlock(encodeBlock(view.executed.block, config), config))
  }
  const executed = fresh.engine.queries.head().postState
  await fresh.close()
  await grown.close()

  const store = await openStore({ dataDir, chain: config.name, chainId: config.chainId })
  const source = nodeSource(store)
  const entries = stateEntries(header.stateRoot, (hash) => source.node(hash) ?? source.code(hash))
  await store.close()
  const trie = new NaiveTrie()
  for (const [key, value] of entries) trie.put(key, value)
  return { header: header.stateRoot, inserted: trie.root(), executed, entries: entries.length }
}
