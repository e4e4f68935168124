/** Checks a whole chain from its genesis by running every block again. */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { cumulativeDifficulty, type ExecutedBlock } from '../../src/chain/block.ts'
import type { ChainConfig } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import { headerHash } from '../../src/chain/header.ts'
import { receiptsRoot } from '../../src/chain/receipt.ts'
import { validateBody, validateHeader } from '../../src/chain/validation.ts'
import { toHex } from '../../src/encoding/hex.ts'
import { environmentOf } from '../../src/engine/blockchain/ancestry.ts'
import { createVm } from '../../src/evm/vm.ts'
import { applyBlock } from '../../src/execution/apply-block.ts'
import type { Node } from '../../src/index.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { StateTrie } from '../../src/state/state-trie.ts'

/** The state in a network's genesis file. */
export function genesisOf(config: ChainConfig): Overlay {
  const file = new URL(`../../genesis/${config.name}.json`, import.meta.url)
  const overlay = new Overlay(
    new StateTrie({ node: () => undefined, code: () => undefined }).reader(EMPTY_TRIE_ROOT),
  )
  parseGenesis(JSON.parse(readFileSync(file, 'utf8')), config).apply(overlay)
  return overlay
}

/**
 * From the genesis file to the node's head: header and body keep the rules, and running each block on a state of our
 * own gives its receipts, gas, fees, bloom and state root. Gives the number of blocks.
 */
export async function replayFromGenesis(node: Node): Promise<number> {
  const { config, queries } = node.engine
  const vm = createVm({ chainId: config.chainId })
  // A trie without a store: only nodes that these blocks made can be read.
  const trie = new StateTrie({ node: () => undefined, code: () => undefined })
  let committed = trie.commit(EMPTY_TRIE_ROOT, genesisOf(config).changes())
  trie.remember(committed)

  const chain: ExecutedBlock[] = []
  const height = queries.head().block.header.number
  for (let number = 0; number <= height; number++) {
    const view = await queries.block({ number })
    if (view === undefined) throw new Error(`block ${number} is missing below the head`)
    const { block, hash, postState, receipts, totalDifficulty } = view.executed
    const parent = chain.at(-1)
    if (parent !== undefined) {
      validateHeader(block.header, parent.block.header, config, block.header.timestamp)
      validateBody(block, config)
      const ancestry = (at: number) => chain[at] && { hash: chain[at].hash, header: chain[at].block.header }
      const env = environmentOf(block.header, ancestry, (wanted) =>
        chain.find((known) => known.hash === wanted),
      )
      const parentState = trie.reader(committed.root)
      const { result, state } = await applyBlock({ block, config, vm, parentState, env })
      committed = trie.commit(committed.root, state.changes())
      trie.remember(committed)
      expect(block.header).toMatchObject({
        stateRoot: committed.root,
        receiptsRoot: receiptsRoot(result.receipts),
        gasUsed: result.gasUsed,
        paidFees: result.paidFees,
      })
      expect(toHex(block.header.logsBloom)).toBe(toHex(result.logsBloom))
      expect(receipts).toEqual(result.receipts)
      expect(totalDifficulty).toBe(parent.totalDifficulty + cumulativeDifficulty(block))
    }
    expect(hash).toBe(headerHash(block.header, config))
    expect(postState).toBe(committed.root)
    expect(queries.isCanonical(hash)).toBe(true)
    for (const transaction of block.transactions) {
      expect(queries.transaction(transaction.hash)?.block?.hash).toBe(hash)
    }
    chain.push(view.executed)
  }
  return chain.length
}
