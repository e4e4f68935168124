/** Accounts and code for debuggers: accounts within a block, code by its hash, and accounts changed between blocks. */
import { z } from 'zod'
import type { ExecutedBlock } from '../../chain/block.ts'
import { counted } from '../../counted.ts'
import { type Hex, lowerCaseHex, toHex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import { blockAt } from '../block-lookup.ts'
import { timeLeft } from '../deadlines.ts'
import { hex } from '../json-forms.ts'
import { method } from '../method.ts'
import { expected, optional, orNull, type Parameter, scalar } from '../parameter.ts'
import { AccountInfoObject, toRpcAccountInfo } from '../wire/account.ts'
import { Height, LookupBlock } from '../wire/block-reference.ts'
import { Address, AddressText, BlockHash, DataText, Index } from '../wire/scalars.ts'
import { toRpcSender } from '../wire/transaction.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`

/** Prefix of the keys of code in the databases of geth and reth. */
const CODE_KEY_PREFIX = '0x63'

export const debug_accountInfoAt = method({
  name: 'debug_accountInfoAt',
  summary: 'Balance, nonce and code of an account after the transaction at an index of a block.',
  params: { block: LookupBlock, index: Index, address: Address },
  result: () => AccountInfoObject,
  errors: ['block-not-found'],
  examples: [],
  async run({ block, index, address }, context) {
    const { queries } = context.engine
    const { executed } = await blockAt(block, context.engine)
    const count = executed.block.transactions.length
    if (index >= count)
      throw invalidParams(`index: ${index} is not below the block's ${counted(count, 'transaction')}`)
    const { state } = await queries.replay(executed, () => undefined, {
      lastIndex: index,
      timeoutMs: timeLeft(context),
    })
    return toRpcAccountInfo(state, address)
  },
})

const CodeHash: Parameter<Hex> = scalar({
  form: hex({ prefix: 'required', least: 64, most: 64 }),
  description: 'HASH: keccak-256 of the code',
  decode: lowerCaseHex,
  refusal: (_, name) => expected(name, '32 bytes in hex'),
})

function codeOf(hash: Hex, { queries }: Engine): Hex | null {
  const code = queries.codeByHash(hash)
  return code === undefined ? null : toHex(code)
}

export const debug_codeByHash = method({
  name: 'debug_codeByHash',
  summary: 'Code by its hash, of any account that has or had it; null when the node has no such code.',
  params: { codeHash: CodeHash },
  result: () => DataText.nullable(),
  examples: [{ params: [UNKNOWN], result: null }],
  run: ({ codeHash }, { engine }) => codeOf(codeHash, engine),
})

/** The key of a code: the prefix and the hash. */
const CodeKey: Parameter<Hex> = scalar({
  form: {
    schema: () => z.string().regex(/^0x63[0-9a-fA-F]{64}$/),
    accepts: (value): value is string => typeof value === 'string' && /^0x63[0-9a-fA-F]{64}$/.test(value),
  },
  description: 'the byte 63 and the hash of a code',
  decode: (value) => `0x${value.slice(CODE_KEY_PREFIX.length).toLowerCase()}` as const,
  refusal: (_, name) => expected(name, `a key of code: ${CODE_KEY_PREFIX} and its hash`),
})

export const debug_dbGet = method({
  name: 'debug_dbGet',
  summary:
    'Code under a key of a geth database: the byte 63 and the hash of the code; other keys have no counterpart here.',
  params: { key: CodeKey },
  result: () => DataText.nullable(),
  examples: [{ params: [`${CODE_KEY_PREFIX}${UNKNOWN.slice(2)}`], result: null }],
  run: ({ key }, { engine }) => codeOf(key, engine),
})

/** The addresses that differ between two states; the sender of the REMASC transaction is shown as the zero address. */
function changed(before: ExecutedBlock, after: ExecutedBlock, { queries }: Engine): Hex[] {
  return [...new Set(queries.changedAccounts(before, after).map(toRpcSender))]
}

async function blockOf(
  reference: { hash: Hex } | { number: number },
  { queries }: Engine,
): Promise<ExecutedBlock> {
  const view = await queries.block(reference)
  if (view !== undefined) return view.executed
  const name = 'hash' in reference ? `with hash ${reference.hash}` : reference.number
  throw new NodeError('block-not-found', `Block ${name} not found`)
}

/** The accounts that changed after the first block up to the second; without a second, those that changed in the first. */
async function changedFrom(
  start: { hash: Hex } | { number: number },
  end: { hash: Hex } | { number: number } | undefined,
  engine: Engine,
): Promise<Hex[]> {
  const first = await blockOf(start, engine)
  if (end === undefined) {
    const parent = await engine.queries.block({ hash: first.block.header.parentHash })
    if (parent === undefined) throw invalidParams('start: the genesis has no earlier state to compare with')
    return changed(parent.executed, first, engine)
  }
  const second = await blockOf(end, engine)
  const [from, to] = [first.block.header.number, second.block.header.number]
  if (from >= to) throw invalidParams(`start block ${from} must be less than end block ${to}`)
  return changed(first, second, engine)
}

const CHANGED =
  'Accounts whose nonce, balance, code or storage differs between the states after two blocks; with one block, between its parent and it.'

export const debug_getModifiedAccountsByNumber = method({
  name: 'debug_getModifiedAccountsByNumber',
  summary: CHANGED,
  params: { start: Height, end: optional(orNull(Height, undefined), null) },
  result: () => z.array(AddressText),
  errors: ['block-not-found'],
  examples: [],
  run: ({ start, end }, { engine }) =>
    changedFrom({ number: start }, end === undefined ? undefined : { number: end }, engine),
})

export const debug_getModifiedAccountsByHash = method({
  name: 'debug_getModifiedAccountsByHash',
  summary: CHANGED,
  params: { start: BlockHash, end: optional(orNull(BlockHash, undefined), null) },
  result: () => z.array(AddressText),
  errors: ['block-not-found'],
  examples: [],
  run: ({ start, end }, { engine }) =>
    changedFrom({ hash: start }, end === undefined ? undefined : { hash: end }, engine),
})

/** The methods of this file, in the order of the document. */
export const DEBUG_STATE_METHODS = [
  debug_accountInfoAt,
  debug_codeByHash,
  debug_dbGet,
  debug_getModifiedAccountsByNumber,
  debug_getModifiedAccountsByHash,
] as const
