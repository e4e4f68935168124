/**
 * Chains that the reference node built and imported (fixtures/reference-node), run block by block through this node's
 * execution, with the results of both side by side.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { type Block, cumulativeDifficulty, decodeBlock, type ExecutedBlock } from '../../src/chain/block.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import { type Header, headerHash } from '../../src/chain/header.ts'
import { receiptsRoot } from '../../src/chain/receipt.ts'
import { equal } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { environmentOf } from '../../src/engine/blockchain/ancestry.ts'
import { createVm } from '../../src/evm/vm.ts'
import { applyBlock, type BlockResult } from '../../src/execution/apply-block.ts'
import { messageCall, type Simulation } from '../../src/execution/message-call.ts'
import type { CallRequest } from '../../src/execution/request.ts'
import type { StateReader } from '../../src/state/model.ts'
import { Overlay, type StateChanges } from '../../src/state/overlay.ts'
import { cellBytes } from '../../src/state/state-keys.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { stateEntries } from './state-entries.ts'

const FOLDER = new URL('../../fixtures/reference-node/blocks/', import.meta.url)
const GENESIS = new URL('../../genesis/regtest.json', import.meta.url)

/** What the reference node recorded of a transaction: gas used, status, return data, exception or `reverted`. */
type RecordedTransaction = readonly [
  gasUsed: number,
  status: 0 | 1,
  returnData: Hex | null,
  failure: string | null,
]

/** A chain of the fixtures; blocks in the order in which the reference node took them. */
export interface ReferenceChain {
  readonly name: string
  readonly blocks: readonly (readonly [
    raw: Hex,
    imported: string,
    transactions: readonly RecordedTransaction[],
  ])[]
}

/** Names of the files with chains. */
export function referenceFiles(): string[] {
  return readdirSync(FOLDER).map((file) => file.replace('.ndjson.gz', ''))
}

/** The chains of a file. */
export function referenceChains(name: string): ReferenceChain[] {
  const text = gunzipSync(readFileSync(new URL(`${name}.ndjson.gz`, FOLDER))).toString()
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const config = CHAINS.regtest
/** Gas of simulated messages: more than any needs. */
const SIMULATION_GAS = 100_000_000n
/** State root of the regtest genesis by the reference node's trie (docs/internals/protocol.md#72-regtest-genesis). */
const GENESIS_STATE_ROOT = '0x9c13f6bf26a9d1b13b708b5da083cb8f4e948bb7f903174081ad95810d52723f'

/** One difference between the reference node and this node. */
export interface Difference {
  readonly chain: string
  readonly height: number
  /** Index in the block; absent when the whole block differs. */
  readonly index?: number
  readonly field: string
  readonly expected: string
  readonly actual: string
}

/** A block that was run, and what its descendants need of it. */
export interface RunBlock {
  readonly executed: ExecutedBlock
  readonly header: Header
}

/** Runs chains from the regtest genesis on, by default on our own EVM; keeps the blocks of all of them. */
export function createReferenceReplay(vm = createVm({ chainId: config.chainId })) {
  const nodes = new Map<Hex, Uint8Array>()
  const code = new Map<Hex, Uint8Array>()
  const trie = new StateTrie({ node: (hash) => nodes.get(hash), code: (hash) => code.get(hash) })
  const known = new Map<Hex, ExecutedBlock>()
  const written = new Map<Hex, StateChanges>()

  function keep(root: Hex, state: Overlay): Hex {
    const committed = trie.commit(root, state.changes())
    for (const [hash, node] of committed.nodes) nodes.set(hash, node)
    for (const [hash, bytes] of committed.code) code.set(hash, bytes)
    return committed.root
  }

  const genesis = parseGenesis(JSON.parse(readFileSync(GENESIS, 'utf8')), config)
  const empty = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
  genesis.apply(empty)
  const header = genesis.header(GENESIS_STATE_ROOT)
  const first: ExecutedBlock = {
    hash: headerHash(header, config),
    block: { header, transactions: [], uncles: [] },
    receipts: [],
    totalDifficulty: header.difficulty,
    postState: keep(EMPTY_TRIE_ROOT, empty),
  }
  known.set(first.hash, first)

  /** The ancestry that ends at a block, by parent links. */
  function ancestryFrom(tip: ExecutedBlock) {
    const byHeight = new Map<number, ExecutedBlock>()
    let lowest = tip
    byHeight.set(tip.block.header.number, tip)
    return (height: number) => {
      if (height < 0 || height > tip.block.header.number) return undefined
      while (lowest.block.header.number > height) {
        lowest = known.get(lowest.block.header.parentHash) as ExecutedBlock
        byHeight.set(lowest.block.header.number, lowest)
      }
      const block = byHeight.get(height) as ExecutedBlock
      return { hash: block.hash, header: block.block.header }
    }
  }

  /** Runs a block on its parent's state, and keeps it. Throws when the block cannot be executed. */
  async function run(block: Block): Promise<BlockResult & { readonly stateRoot: Hex }> {
    const parent = known.get(block.header.parentHash)
    if (parent === undefined) throw new Error(`no parent ${block.header.parentHash}`)
    const env = environmentOf(block.header, ancestryFrom(parent), (hash) => known.get(hash))
    const { result, state } = await applyBlock({
      block,
      config,
      vm,
      parentState: trie.reader(parent.postState),
      env,
    })
    const hash = headerHash(block.header, config)
    written.set(hash, state.changes())
    known.set(hash, {
      hash,
      block,
      receipts: result.receipts,
      totalDifficulty: parent.totalDifficulty + cumulativeDifficulty(block),
      postState: keep(parent.postState, state),
    })
    return { ...result, stateRoot: (known.get(hash) as ExecutedBlock).postState }
  }

  /** Runs a chain; everything in which this node differs from the reference node. */
  async function differencesOf(chain: ReferenceChain): Promise<Difference[]> {
    const differences: Difference[] = []
    for (const [raw, , recorded] of chain.blocks) {
      const block = decodeBlock(fromHex(raw), config)
      const { header } = block
      const at = { chain: chain.name, height: header.number }
      const compare = (field: string, expected: unknown, actual: unknown, index?: number) => {
        if (String(expected) !== String(actual)) {
          differences.push({
            ...at,
            ...(index !== undefined && { index }),
            field,
            expected: String(expected),
            actual: String(actual),
          })
        }
      }
      const result = await run(block)
      for (const [index, [gasUsed, status, returnData, failure]] of recorded.entries()) {
        const outcome = result.outcomes[index]
        compare('gasUsed', gasUsed, outcome?.gasUsed, index)
        compare('status', status === 1, outcome?.succeeded, index)
        const output = failure === 'reverted' ? outcome?.failure?.output : outcome?.output
        if (returnData !== null && (failure === null || failure === 'reverted')) {
          compare('returnData', returnData, toHex(output ?? new Uint8Array()), index)
        }
      }
      compare('gasUsed', header.gasUsed, result.gasUsed)
      compare('paidFees', header.paidFees, result.paidFees)
      compare('logsBloom', true, equal(header.logsBloom, result.logsBloom))
      compare('stateRoot', header.stateRoot, result.stateRoot)
      compare('receiptsRoot', header.receiptsRoot, receiptsRoot(result.receipts))
    }
    return differences
  }

  /** The state after a block that was run. */
  function stateAfter(raw: Hex): StateReader {
    const hash = headerHash(decodeBlock(fromHex(raw), config).header, config)
    return trie.reader((known.get(hash) as ExecutedBlock).postState)
  }

  /** Every entry of the state trie after a block that was run, as [key, value]. */
  function entriesAfter(raw: Hex): (readonly [Hex, Hex])[] {
    const hash = headerHash(decodeBlock(fromHex(raw), config).header, config)
    const { postState } = known.get(hash) as ExecutedBlock
    return stateEntries(postState, (at) => nodes.get(at) ?? code.get(at)).map(([key, value]) => [
      toHex(key),
      toHex(value),
    ])
  }

  /** The state after a block that was run, by its hash. */
  function state(hash: Hex): StateReader {
    return trie.reader((known.get(hash) as ExecutedBlock).postState)
  }

  /** The cells of an account that a block that was run changed, with their bytes after it. */
  function cellChanges(hash: Hex, address: Hex): Map<bigint, Hex> {
    const { parentHash } = (known.get(hash) as ExecutedBlock).block.header
    const [before, after] = [parentHash, hash].map((at) => state(at))
    const changed = new Map<bigint, Hex>()
    for (const slot of written.get(hash)?.storage.get(address)?.slots.keys() ?? []) {
      const [was, is] = [before, after].map((at) => toHex(cellBytes(at?.cell(address, slot) ?? 0n)))
      if (is !== undefined && is !== was) changed.set(slot, is)
    }
    return changed
  }

  /** Simulates a message on a block that was run, as `eth_call` does. */
  async function simulate(hash: Hex, request: CallRequest): Promise<Simulation> {
    const { header } = (known.get(hash) as ExecutedBlock).block
    const parent = known.get(header.parentHash) ?? (known.get(hash) as ExecutedBlock)
    const env = environmentOf(header, ancestryFrom(parent), (at) => known.get(at))
    return messageCall({ request, state: state(hash), env, vm, gasCap: SIMULATION_GAS })
  }

  return {
    genesisHash: first.hash,
    run,
    differencesOf,
    stateAfter,
    entriesAfter,
    state,
    cellChanges,
    simulate,
  }
}
