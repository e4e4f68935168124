/** Compares the results of executing a block with its header (docs/internals/protocol.md#17-validity). */
import type { Rules } from '../../chain/activations.ts'
import type { Header } from '../../chain/header.ts'
import { receiptsRoot } from '../../chain/receipt.ts'
import { equal } from '../../encoding/bytes.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { BlockResult } from '../../execution/apply-block.ts'
import type { CommittedState } from '../../state/model.ts'
import type { StateTrie } from '../../state/state-trie.ts'

/** A field of a header that execution does not confirm. */
export interface ResultMismatch {
  readonly rule: string
  readonly message: string
  /** What execution gave. */
  readonly expected: string
  /** What the header has. */
  readonly found: string
}

/** The first field that execution does not confirm: gas, fees, bloom, receipts; the state root is compared separately. */
export function resultMismatch(
  header: Header,
  result: BlockResult,
  rules: Rules,
): ResultMismatch | undefined {
  const { gasUsed, paidFees, logsBloom } = result
  if (gasUsed !== header.gasUsed) return mustBe('gasUsed', gasUsed, header.gasUsed)
  if (paidFees !== header.paidFees) return mustBe('paidFees', paidFees, header.paidFees)
  if (!equal(logsBloom, header.logsBloom)) {
    const message = 'logsBloom is not that of the logs'
    return { rule: 'logsBloom', message, expected: toHex(logsBloom), found: toHex(header.logsBloom) }
  }
  const root = receiptsRoot(result.receipts, rules)
  if (root === header.receiptsRoot) return undefined
  const message = 'receiptsRoot is not that of the receipts'
  return { rule: 'receiptsRoot', message, expected: root, found: header.receiptsRoot }
}

/** The state root that the header of a block has by these rules (docs/internals/protocol.md#58-state-root). */
export function headerRootOf(committed: CommittedState, trie: StateTrie, { unifiedTrie }: Rules): Hex {
  return unifiedTrie ? committed.root : trie.orchidRoot(committed)
}

/** The mismatch of a header's state root with that of the execution. */
export function stateRootMismatch(header: Header, root: Hex): ResultMismatch | undefined {
  return root === header.stateRoot ? undefined : mustBe('stateRoot', root, header.stateRoot)
}

function mustBe(rule: string, expected: bigint | Hex, found: bigint | Hex): ResultMismatch {
  const message = `${rule} must be ${expected}, not ${found}`
  return { rule, message, expected: String(expected), found: String(found) }
}
