/** Validates a block mined elsewhere: every rule, then its execution against its header. Writes nothing. */
import { type Block, cumulativeDifficulty } from '../../chain/block.ts'
import { headerHash } from '../../chain/header.ts'
import { receiptsRoot } from '../../chain/receipt.ts'
import { validateBody, validateHeader } from '../../chain/validation.ts'
import { equal } from '../../encoding/bytes.ts'
import { NodeError } from '../../errors.ts'
import type { Vm } from '../../evm/vm.ts'
import { applyBlock } from '../../execution/apply-block.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import { ancestryOf, type ChainAccess, environmentOf } from './ancestry.ts'
import type { BlockWithState } from './blockchain.ts'
import { checkForkDetection } from './fork-detection.ts'
import { checkUncles } from './uncles.ts'

interface Parts extends ChainAccess {
  readonly vm: Vm
  readonly trie: StateTrie
  /** Wall clock, Unix seconds. */
  readonly now: () => number
}

/**
 * Makes the validation: header, body, uncles, fork detection data, then execution (docs/protocol.md#17-validity,
 * docs/protocol.md#32-uncles, docs/protocol.md#5-execution-and-state). Its result can be inserted. It throws
 * `invalid-block` with the first rule violated, an unknown parent among them.
 */
export function createBlockValidation(parts: Parts): (block: Block) => Promise<BlockWithState> {
  const { config, blockchain, blocks, vm, trie, now } = parts

  return async function validateBlock(block) {
    const { header } = block
    const refuse = (rule: string) => new NodeError('invalid-block', `block ${header.number}: ${rule}`)
    const parent = blocks.get(header.parentHash)
    if (parent === undefined) throw refuse(`the parent ${header.parentHash} is unknown`)
    const above = { hash: parent.hash, header: parent.block.header }
    const time = now()
    validateHeader(header, above.header, config, time)
    validateBody(block, config)
    checkUncles(block, above, parts, time)
    const ancestry = ancestryOf(above, blockchain, blocks)
    checkForkDetection(header, ancestry, config)

    const env = environmentOf(header, ancestry, (hash) => blocks.get(hash))
    const parentState = trie.reader(parent.postState)
    const { result, state } = await applyBlock({ block, config, vm, parentState, env })
    if (result.gasUsed !== header.gasUsed) {
      throw refuse(`gasUsed must be ${result.gasUsed}, not ${header.gasUsed}`)
    }
    if (result.paidFees !== header.paidFees) {
      throw refuse(`paidFees must be ${result.paidFees}, not ${header.paidFees}`)
    }
    if (!equal(result.logsBloom, header.logsBloom)) throw refuse('logsBloom is not that of the logs')
    if (receiptsRoot(result.receipts) !== header.receiptsRoot) {
      throw refuse('receiptsRoot is not that of the receipts')
    }
    const committed = trie.commit(parent.postState, state.changes())
    if (committed.root !== header.stateRoot)
      throw refuse(`stateRoot must be ${committed.root}, not ${header.stateRoot}`)
    return {
      block: {
        hash: headerHash(header, config),
        block,
        receipts: result.receipts,
        totalDifficulty: parent.totalDifficulty + cumulativeDifficulty(block),
        postState: committed.root,
      },
      state: committed,
      outcomes: result.outcomes,
    }
  }
}
