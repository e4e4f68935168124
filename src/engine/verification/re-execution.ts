/** Executes stored blocks again on the states before them, and compares the results with headers and receipts. */

import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { encodeStoredReceipt } from '../../chain/receipt.ts'
import { equal } from '../../encoding/bytes.ts'
import { toHex } from '../../encoding/hex.ts'
import { messageOf } from '../../errors.ts'
import { type Vm, vmRulesOf } from '../../evm/rules.ts'
import { createVm } from '../../evm/vm.ts'
import { type BlockResult, replayBlock } from '../../execution/apply-block.ts'
import { StateTrie } from '../../state/state-trie.ts'
import { BlockStore } from '../../store/block-store.ts'
import type { Store } from '../../store/level.ts'
import { internals } from '../../store/records.ts'
import { nodeSource } from '../../store/state-nodes.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import {
  headerRootOf,
  type ResultMismatch,
  resultMismatch,
  stateRootMismatch,
} from '../blockchain/block-result.ts'
import { Blockchain } from '../blockchain/blockchain.ts'
import { withChainStart } from '../blockchain/chain-start.ts'
import type { Fault, Report } from './audited-tables.ts'

/** A block that was executed again. */
export interface ReExecuted {
  readonly height: number
  readonly gasUsed: bigint
}

/** What blocks are executed on. */
interface Parts extends ChainAccess {
  readonly trie: StateTrie
  readonly vm: Vm
  /** What the VM has left out, in sentences. */
  readonly notices: string[]
  readonly report: Report
}

function canonicalBlock(blocks: BlockStore, height: number): ExecutedBlock {
  const hash = blocks.canonicalHash(height)
  const block = hash === undefined ? undefined : blocks.get(hash)
  if (block === undefined) throw new Error(`there is no canonical block at height ${height}`)
  return block
}

/** Executes the blocks of a checked store again; writes nothing. */
export class ReExecution {
  readonly #parts: Parts

  private constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Opens the chain of a store. */
  static async open(store: Store, network: ChainConfig, report: Report): Promise<ReExecution> {
    const blocks = await BlockStore.open(store, network)
    const config = withChainStart(network, blocks)
    const trie = new StateTrie(nodeSource(store))
    const blockchain = await Blockchain.open({ store, blocks, trie, place: 'the directory' }, () => {
      const first = canonicalBlock(blocks, blocks.first)
      return { block: first, state: { root: first.postState, nodes: new Map(), code: new Map() } }
    })
    const notices: string[] = []
    const vm = createVm({
      chainId: config.chainId,
      rulesAt: vmRulesOf(config),
      onNotice: (notice) => notices.push(notice),
    })
    return new ReExecution({ config, blockchain, blocks, trie, vm, notices, report })
  }

  /** Executes all stored blocks from a height on, side blocks included. */
  async *from(height: number): AsyncGenerator<ReExecuted> {
    const { blocks, blockchain, notices, report } = this.#parts
    for (let at = Math.max(blocks.first + 1, height); at <= blockchain.head.block.header.number; at++) {
      for (const hash of blocks.hashesAt(at)) {
        const executed = blocks.get(hash)
        if (executed === undefined) continue
        notices.length = 0
        try {
          const fault = await this.#difference(executed)
          if (fault !== undefined) report(fault)
        } catch (error) {
          report(this.#faultOf(executed, `it cannot be executed: ${messageOf(error)}`))
        }
        yield { height: at, gasUsed: executed.block.header.gasUsed }
      }
    }
  }

  /** The first result that differs from what is stored. */
  async #difference(executed: ExecutedBlock): Promise<Fault | undefined> {
    const { config, blocks, trie, vm } = this.#parts
    const { block } = executed
    const { header } = block
    const parent = blocks.get(header.parentHash)
    if (parent === undefined) return this.#faultOf(executed, `its parent ${header.parentHash} is not stored`)
    const { result, state } = await replayBlock({
      block,
      config,
      vm,
      parentState: trie.reader(parent.postState),
      env: environmentAt(header, this.#parts),
      tracerOf: () => undefined,
      yieldIfDue: () => undefined,
      remainingMs: () => Number.POSITIVE_INFINITY,
    })
    if (result === undefined) return this.#faultOf(executed, 'its execution stops before the end')
    const rules = config.rulesAt(header.number)
    const root = headerRootOf(trie.commit(parent.postState, state.changes()), trie, rules)
    const wrong = resultMismatch(header, result, rules) ?? stateRootMismatch(header, root)
    if (wrong !== undefined)
      return this.#faultOf(executed, `its execution gives a different ${wrong.rule}`, wrong)
    return this.#receiptDifference(executed, result) ?? this.#internalsDifference(executed, result)
  }

  #receiptDifference(executed: ExecutedBlock, { receipts }: BlockResult): Fault | undefined {
    for (const [index, receipt] of receipts.entries()) {
      const stored = executed.receipts[index]
      const [expected, found] = [encodeStoredReceipt(receipt), stored && encodeStoredReceipt(stored)]
      if (found !== undefined && equal(expected, found)) continue
      const values = { expected: toHex(expected), found: found === undefined ? 'nothing' : toHex(found) }
      const problem = `its execution gives a different receipt ${index}`
      return { ...this.#faultOf(executed, problem, values), table: 'receipts' }
    }
    return undefined
  }

  #internalsDifference(executed: ExecutedBlock, result: BlockResult): Fault | undefined {
    const stored = this.#parts.blocks.accounts.internalsOf(executed) ?? []
    const { hash } = executed
    if (equal(internals.encode(result.internals, hash), internals.encode(stored, hash))) return undefined
    const values = { expected: JSON.stringify(result.internals), found: JSON.stringify(stored) }
    const problem = 'its execution gives different internal calls'
    return { ...this.#faultOf(executed, problem, values), table: 'internals' }
  }

  #faultOf(block: ExecutedBlock, problem: string, { expected, found }: Partial<ResultMismatch> = {}): Fault {
    return {
      table: 'headers',
      key: block.hash,
      height: block.block.header.number,
      problem: [problem, ...new Set(this.#parts.notices)].join('; '),
      expected,
      found,
    }
  }
}
