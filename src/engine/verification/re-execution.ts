/** Executes stored blocks again on the states before them, and compares the results with headers and receipts. */

import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { encodeReceipt } from '../../chain/receipt.ts'
import { equal } from '../../encoding/bytes.ts'
import { toHex } from '../../encoding/hex.ts'
import { messageOf } from '../../errors.ts'
import { vmRulesOf } from '../../evm/rules.ts'
import { createVm } from '../../evm/vm.ts'
import { replayBlock } from '../../execution/apply-block.ts'
import { StateTrie } from '../../state/state-trie.ts'
import { BlockStore } from '../../store/block-store.ts'
import type { Store } from '../../store/level.ts'
import { internals } from '../../store/records.ts'
import { nodeSource } from '../../store/state-nodes.ts'
import { environmentAt } from '../blockchain/ancestry.ts'
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

/** Opens the chain of a checked store; nothing is written. */
export async function createReExecution(store: Store, network: ChainConfig, report: Report) {
  const blocks = await BlockStore.open(store, network)
  const config = withChainStart(network, blocks)
  const trie = new StateTrie(nodeSource(store))
  const blockchain = await Blockchain.open({ store, blocks, trie, place: 'the directory' }, () => ({
    block: stored(blocks.first),
    state: { root: stored(blocks.first).postState, nodes: new Map(), code: new Map() },
  }))
  const notices: string[] = []
  const vm = createVm({
    chainId: config.chainId,
    rulesAt: vmRulesOf(config.name),
    onNotice: (notice) => notices.push(notice),
  })

  function stored(height: number): ExecutedBlock {
    const hash = blocks.canonicalHash(height)
    const block = hash === undefined ? undefined : blocks.get(hash)
    if (block === undefined) throw new Error(`there is no canonical block at height ${height}`)
    return block
  }

  function faultOf(block: ExecutedBlock, problem: string, values: Partial<ResultMismatch> = {}): Fault {
    const { expected, found } = values
    const left = notices.length === 0 ? problem : `${problem}; ${[...new Set(notices)].join('; ')}`
    return {
      table: 'headers',
      key: block.hash,
      height: block.block.header.number,
      problem: left,
      expected,
      found,
    }
  }

  /** The first result that differs from what is stored. */
  async function difference(executed: ExecutedBlock): Promise<Fault | undefined> {
    const { block } = executed
    const { header } = block
    const parent = blocks.get(header.parentHash)
    if (parent === undefined) return faultOf(executed, `its parent ${header.parentHash} is not stored`)
    const env = environmentAt(header, { config, blockchain, blocks })
    const parentState = trie.reader(parent.postState)
    const { result, state } = await replayBlock({
      block,
      config,
      vm,
      parentState,
      env,
      tracerOf: () => undefined,
      yieldIfDue: () => undefined,
      remainingMs: () => Number.POSITIVE_INFINITY,
    })
    if (result === undefined) return faultOf(executed, 'its execution stops before the end')
    const rules = config.rulesAt(header.number)
    const root = headerRootOf(trie.commit(parent.postState, state.changes()), trie, rules)
    const wrong = resultMismatch(header, result, rules) ?? stateRootMismatch(header, root)
    if (wrong !== undefined) return faultOf(executed, `its execution gives another ${wrong.rule}`, wrong)
    for (const [index, receipt] of result.receipts.entries()) {
      const kept = executed.receipts[index]
      const [expected, found] = [encodeReceipt(receipt), kept && encodeReceipt(kept)]
      if (found !== undefined && equal(expected, found)) continue
      const values = { expected: toHex(expected), found: found === undefined ? 'nothing' : toHex(found) }
      return {
        ...faultOf(executed, `its execution gives another receipt ${index}`, values),
        table: 'receipts',
      }
    }
    const kept = blocks.accounts.internalsOf(executed) ?? []
    const { hash } = executed
    if (equal(internals.encode(result.internals, hash), internals.encode(kept, hash))) return undefined
    const values = { expected: JSON.stringify(result.internals), found: JSON.stringify(kept) }
    return { ...faultOf(executed, 'its execution gives other internal calls', values), table: 'internals' }
  }

  return {
    head: blockchain.head,
    /** Executes all stored blocks from a height on, those beside the chain too. */
    async *from(height: number): AsyncGenerator<ReExecuted> {
      for (let at = Math.max(blocks.first + 1, height); at <= blockchain.head.block.header.number; at++) {
        for (const hash of blocks.hashesAt(at)) {
          const executed = blocks.get(hash)
          if (executed === undefined) continue
          notices.length = 0
          try {
            const fault = await difference(executed)
            if (fault !== undefined) report(fault)
          } catch (error) {
            report(faultOf(executed, `it cannot be executed: ${messageOf(error)}`))
          }
          yield { height: at, gasUsed: executed.block.header.gasUsed }
        }
      }
    },
  }
}
