/** Validates a block mined elsewhere: every rule, then its execution against its header. Writes nothing. */
import { type Block, cumulativeDifficulty, type ExecutedBlock } from '../../chain/block.ts'
import { headerHash } from '../../chain/header.ts'
import { validateBody, validateHeader } from '../../chain/validation.ts'
import { type BrokenRule, brokenRuleOf, invalidBlock, messageOf } from '../../errors.ts'
import type { Vm } from '../../evm/rules.ts'
import { applyBlock } from '../../execution/apply-block.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import { type Ancestry, ancestryOf, type ChainAccess, environmentOf } from './ancestry.ts'
import { headerRootOf, type ResultMismatch, resultMismatch, stateRootMismatch } from './block-result.ts'
import type { BlockWithState } from './blockchain.ts'
import { checkForkDetection } from './fork-detection.ts'
import { checkUncles } from './uncles.ts'

interface Parts extends ChainAccess {
  /** A VM for this purpose only, which adds to `notices`. */
  readonly vm: Vm
  readonly trie: StateTrie
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** What the VM has left out, in sentences that name the methods. Emptied before each validation. */
  readonly notices: string[]
}

/** Validates blocks on one chain. Calls must not overlap. */
export class BlockValidation {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Checks header, body, uncles and fork detection data, then executes the block (docs/internals/protocol.md#17-validity,
   * docs/internals/protocol.md#32-uncles, docs/internals/protocol.md#5-execution-and-state). The result can be inserted.
   * Throws `invalid-block` with the first rule violated, an unknown parent among them.
   */
  async validate(block: Block): Promise<BlockWithState> {
    this.#parts.notices.length = 0
    try {
      const parent = this.#parentOf(block)
      const ancestry = this.#checkRules(block, parent)
      return await this.#execute(block, parent, ancestry)
    } catch (error) {
      const broken = brokenRuleOf(error)
      throw broken === undefined ? error : this.#explained(messageOf(error), broken, block.header.number)
    }
  }

  #parentOf({ header }: Block): ExecutedBlock {
    const { config, blockchain, blocks } = this.#parts
    const { number, parentHash } = header
    if (number === 0) {
      const [expected, found] = [blockchain.pristineGenesis.hash, headerHash(header, config)]
      const broken = { rule: 'genesis', expected, found }
      throw invalidBlock(`block 0: the genesis must be ${expected}, not ${found}`, broken)
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

  /** Checks what needs no execution; the ancestry that ends at the parent. */
  #checkRules(block: Block, parent: ExecutedBlock): Ancestry {
    const { config, blockchain, blocks, now } = this.#parts
    const { header } = block
    const above = { hash: parent.hash, header: parent.block.header }
    const time = now()
    validateHeader(header, above.header, config, time)
    validateBody(block, config)
    checkUncles(block, above, this.#parts, time)
    const ancestry = ancestryOf(above, blockchain, blocks)
    checkForkDetection(header, ancestry, config)
    return ancestry
  }

  /** Executes the block and compares the results with its header. */
  async #execute(block: Block, parent: ExecutedBlock, ancestry: Ancestry): Promise<BlockWithState> {
    const { config, blocks, vm, trie } = this.#parts
    const { header } = block
    const env = environmentOf(header, ancestry, (hash) => blocks.get(hash))
    const parentState = trie.reader(parent.postState)
    const { result, state } = await applyBlock({ block, config, vm, parentState, env })
    const rules = config.rulesAt(header.number)
    refuse(header.number, resultMismatch(header, result, rules))
    const committed = trie.commit(parent.postState, state.changes())
    refuse(header.number, stateRootMismatch(header, headerRootOf(committed, trie, rules)))
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
      result,
    }
  }

  /** The error with the height, and with the notices of rules that this node leaves out and the block may depend on. */
  #explained(message: string, broken: BrokenRule, height: number): Error {
    const { notices } = this.#parts
    if (notices.length === 0) return invalidBlock(message, { height, ...broken })
    const left = [...new Set(notices)].join('; ')
    return invalidBlock(`${message}; ${left}`, { height, ...broken, rule: 'notSimulated' })
  }
}

function refuse(height: number, mismatch: ResultMismatch | undefined): void {
  if (mismatch === undefined) return
  const { message, ...broken } = mismatch
  throw invalidBlock(`block ${height}: ${message}`, broken)
}
