/** Validates a block mined elsewhere: every rule, then its execution against its header. Writes nothing. */
import { type Block, cumulativeDifficulty, type ExecutedBlock } from '../../chain/block.ts'
import { headerHash } from '../../chain/header.ts'
import { validateBody, validateHeader } from '../../chain/validation.ts'
import { type BrokenRule, brokenRuleOf, invalidBlock } from '../../errors.ts'
import type { Vm } from '../../evm/rules.ts'
import { applyBlock } from '../../execution/apply-block.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import { ancestryOf, type ChainAccess, environmentOf } from './ancestry.ts'
import { headerRootOf, type ResultMismatch, resultMismatch, stateRootMismatch } from './block-result.ts'
import type { BlockWithState } from './blockchain.ts'
import { checkForkDetection } from './fork-detection.ts'
import { checkUncles } from './uncles.ts'

interface Parts extends ChainAccess {
  /** For this only: `notices` are its own. */
  readonly vm: Vm
  readonly trie: StateTrie
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** What the VM has left out, in sentences that name the methods; this empties the list. */
  readonly notices: string[]
}

/**
 * Makes the validation: header, body, uncles, fork detection data, then execution (docs/internals/protocol.md#17-validity,
 * docs/internals/protocol.md#32-uncles, docs/internals/protocol.md#5-execution-and-state). Its result can be inserted. It throws
 * `invalid-block` with the first rule violated, an unknown parent among them. Calls must not overlap.
 */
export function createBlockValidation(parts: Parts): (block: Block) => Promise<BlockWithState> {
  const { config, blockchain, blocks, vm, trie, now, notices } = parts

  function parentOf({ header }: Block): ExecutedBlock {
    const { number, parentHash } = header
    if (number === 0) {
      const [expected, found] = [blockchain.pristineGenesis.hash, headerHash(header, config)]
      throw invalidBlock(`block 0: the genesis must be ${expected}, not ${found}`, {
        rule: 'genesis',
        expected,
        found,
      })
    }
    const parent = blocks.get(parentHash)
    if (parent !== undefined) return parent
    const expected = blockchain.hashAt(number - 1)
    throw invalidBlock(`block ${number}: the parent ${parentHash} is unknown`, {
      rule: 'parentHash',
      expected: expected ?? 'the hash of a known block',
      found: parentHash,
    })
  }

  async function validated(block: Block): Promise<BlockWithState> {
    const { header } = block
    const refuse = ({ message, ...broken }: ResultMismatch) =>
      invalidBlock(`block ${header.number}: ${message}`, broken)
    const parent = parentOf(block)
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
    const rules = config.rulesAt(header.number)
    const wrong = resultMismatch(header, result, rules)
    if (wrong !== undefined) throw refuse(wrong)
    const committed = trie.commit(parent.postState, state.changes())
    const wrongRoot = stateRootMismatch(header, headerRootOf(committed, trie, rules))
    if (wrongRoot !== undefined) throw refuse(wrongRoot)
    return {
      block: {
        hash: headerHash(header, config),
        block,
        receipts: result.receipts,
        totalDifficulty: parent.totalDifficulty + cumulativeDifficulty(block),
        postState: committed.root,
        internals: result.internals,
      },
      state: committed,
      outcomes: result.outcomes,
    }
  }

  /** The error with the height, and with the notices that explain it: the chain did what this node leaves out. */
  function explained(error: Error, broken: BrokenRule, height: number): Error {
    if (notices.length === 0) return invalidBlock(error.message, { height, ...broken })
    const left = [...new Set(notices)].join('; ')
    return invalidBlock(`${error.message}; ${left}`, { height, ...broken, rule: 'notSimulated' })
  }

  return async function validateBlock(block) {
    notices.length = 0
    try {
      return await validated(block)
    } catch (error) {
      const broken = brokenRuleOf(error)
      throw broken === undefined ? error : explained(error as Error, broken, block.header.number)
    }
  }
}
