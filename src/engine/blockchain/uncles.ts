/**
 * Uncles: which known blocks the next block may include, and whether a block's uncles are valid
 * (docs/internals/protocol.md#32-uncles).
 */
import type { Block } from '../../chain/block.ts'
import { type Header, headerHash } from '../../chain/header.ts'
import { MAX_UNCLES, UNCLE_GENERATIONS, validateHeader } from '../../chain/validation.ts'
import type { Hex } from '../../encoding/hex.ts'
import { type BrokenRule, brokenRuleOf, invalidBlock } from '../../errors.ts'
import { ancestryOf, type BranchAccess } from './ancestry.ts'
import { checkForkDetection } from './fork-detection.ts'

type Values = Pick<BrokenRule, 'expected' | 'found'>

/** The parent of the block that includes the uncles. */
interface Parent {
  readonly hash: Hex
  readonly header: Header
}

/** The last generations of a branch, and the uncles that they include. */
interface Family {
  readonly ancestors: ReadonlyMap<Hex, Header>
  readonly used: ReadonlySet<Hex>
}

function familyOf(parent: Parent, { blocks, config }: BranchAccess): Family {
  const ancestors = new Map<Hex, Header>()
  const used = new Set<Hex>()
  const lowest = parent.header.number + 1 - UNCLE_GENERATIONS
  for (let hash = parent.hash, header: Header | undefined = parent.header; header !== undefined; ) {
    if (header.number < lowest) break
    ancestors.set(hash, header)
    if (header.uncleCount > 0) {
      for (const uncle of blocks.get(hash)?.block.uncles ?? []) used.add(headerHash(uncle, config))
    }
    hash = header.parentHash
    header = blocks.header(hash)
  }
  return { ancestors, used }
}

/**
 * The known blocks that a child of `parent` may include: those of the last heights on other branches whose parent is on
 * it and that no ancestor includes, at most ten, by height and then hash. Without siblings it reads one list of hashes
 * per height.
 */
export function uncleCandidates(parent: Parent, access: BranchAccess): readonly Header[] {
  const { blocks } = access
  const number = parent.header.number + 1
  const lowest = Math.max(1, number + 1 - UNCLE_GENERATIONS)
  let forked = false
  for (let height = lowest; height < number && !forked; height++) forked = blocks.hashesAt(height).length > 1
  if (!forked) return []
  const { ancestors, used } = familyOf(parent, access)
  const found: Header[] = []
  for (let height = lowest; height < number; height++) {
    for (const hash of [...blocks.hashesAt(height)].sort()) {
      if (ancestors.has(hash) || used.has(hash)) continue
      const header = blocks.header(hash)
      if (header === undefined || !ancestors.has(header.parentHash)) continue
      found.push(header)
      if (found.length === MAX_UNCLES) return found
    }
  }
  return found
}

/**
 * Checks the uncles of a block against its branch. `now` in Unix seconds. Throws `invalid-block` with the first rule
 * violated. `validateBody` has checked their number and their hash in the header.
 */
export function checkUncles(
  { header: { number }, uncles }: Block,
  parent: Parent,
  access: BranchAccess,
  now: number,
): void {
  if (uncles.length === 0) return
  const { config, blockchain, blocks } = access
  const { ancestors, used } = familyOf(parent, access)
  const seen = new Set<Hex>()
  for (const uncle of uncles) {
    const hash = headerHash(uncle, config)
    const refuse = (message: string, values: Values = {}) =>
      invalidBlock(`block ${number}: uncle ${hash} ${message}`, { rule: 'uncles', height: number, ...values })
    const numbers: Values = {
      expected: `a number from ${number - UNCLE_GENERATIONS + 1} to ${number - 1}`,
      found: String(uncle.number),
    }
    if (uncle.number >= number) throw refuse(`has number ${uncle.number}, not one below the block's`, numbers)
    if (uncle.number - 1 < number - UNCLE_GENERATIONS) {
      throw refuse(
        `has number ${uncle.number}, more than ${UNCLE_GENERATIONS - 1} below the block's`,
        numbers,
      )
    }
    if (seen.has(hash)) throw refuse('is named twice')
    seen.add(hash)
    if (ancestors.has(hash)) throw refuse('is an ancestor')
    if (used.has(hash)) throw refuse('was named by an ancestor')
    const above = ancestors.get(uncle.parentHash)
    if (above === undefined) throw refuse('has a parent that is not an ancestor of the block')
    try {
      validateHeader(uncle, above, config, now)
      const ancestry = ancestryOf({ hash: uncle.parentHash, header: above }, blockchain, blocks)
      checkForkDetection(uncle, ancestry, config)
    } catch (error) {
      const broken = brokenRuleOf(error)
      if (broken === undefined) throw error
      const { rule: _rule, height: _height, ...values } = broken
      throw refuse(`is not a valid header: ${(error as Error).message}`, values)
    }
  }
}
