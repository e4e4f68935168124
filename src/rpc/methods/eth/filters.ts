/** Filters for polling: on logs, blocks and pending transactions (docs/internals/rpc-reference.md#77-filters-and-logs). */
import { z } from 'zod'
import { type Hex, lowerCaseHex } from '../../../encoding/hex.ts'
import { timeLeft } from '../../deadlines.ts'
import type { Dialect } from '../../dialects.ts'
import type { Entries } from '../../feeds/filters.ts'
import { anyOf, DIGITS } from '../../json-forms.ts'
import { type Context, method } from '../../method.ts'
import { expected, orNull, type Parameter, scalar } from '../../parameter.ts'
import type { WrittenJson } from '../../raw-json.ts'
import type { Session } from '../../session.ts'
import { LogObject, type RpcLog, toRpcLogs } from '../../wire/log.ts'
import { FilterObject } from '../../wire/log-filter.ts'
import type { LogTexts } from '../../wire/log-texts.ts'
import { HashText, HEX_DIGITS, textOf } from '../../wire/scalars.ts'

const EntriesArray = z.lazy(() => z.union([z.array(HashText), z.array(LogObject)]))

function toRpcEntries(entries: Entries, texts: LogTexts, dialect: Dialect): Hex[] | RpcLog[] | WrittenJson {
  return isHashes(entries) ? [...entries] : toRpcLogs(entries, texts, dialect)
}

function isHashes(entries: Entries): entries is readonly Hex[] {
  return typeof entries[0] === 'string'
}

/** The entries as they are under chaos. */
function disturbed(entries: Entries, session: Session, chaos: Context['chaos']): Entries {
  const current = chaos?.current
  if (current === undefined) return entries
  return isHashes(entries) ? current.changesOf(entries, session) : current.changesOf(entries, session)
}

/** Result: a new filter's id, the bytes of a random text; under a preset a number. */
const FilterIdText = z
  .string()
  .regex(/^0x([0-9a-f]{72}|[1-9a-f][0-9a-f]{0,31})$/)
  .describe('id of a filter: 0x and 72 hex digits, under the presets 32 at most')

/** Any hex, in any case; an id that no filter has is unknown, not malformed. */
const FilterId: Parameter<string> = scalar({
  form: anyOf(HEX_DIGITS, DIGITS),
  description: 'id of a filter',
  decode: (value) => lowerCaseHex(String(value)),
  refusal: (value, name) =>
    textOf(value) === undefined
      ? expected(name, 'the id of a filter')
      : 'Invalid data format: invalid hex value.',
})

export const eth_newFilter = method({
  name: 'eth_newFilter',
  answeredBy: 'self',
  summary:
    'Creates a filter on logs. A filter that starts at an earlier block already holds the logs that have matched since then.',
  params: { filter: FilterObject },
  result: () => FilterIdText,
  errors: ['log-limit', 'too-many'],
  examples: [
    {
      params: [{ fromBlock: 'latest', address: '0x0000000000000000000000000000000001000008' }],
      result: '0x38366232373432652d663135312d343939362d613032342d363261366264616366366233',
      varies: true,
    },
  ],
  run: ({ filter }, { filters, session }) => filters.onLogs(filter, session.owner),
})

export const eth_newBlockFilter = method({
  name: 'eth_newBlockFilter',
  summary: 'Creates a filter on the hashes of blocks that join the canonical chain.',
  params: {},
  result: () => FilterIdText,
  errors: ['too-many'],
  examples: [
    {
      params: [],
      result: '0x38366232373432652d663135312d343939362d613032342d363261366264616366366233',
      varies: true,
    },
  ],
  run: (_, { filters, session }) => filters.onHashes('blocks', session.owner),
})

export const eth_newPendingTransactionFilter = method({
  name: 'eth_newPendingTransactionFilter',
  summary: 'Creates a filter on the hashes of transactions that become pending.',
  params: {},
  result: () => FilterIdText,
  errors: ['too-many'],
  examples: [
    {
      params: [],
      result: '0x38366232373432652d663135312d343939362d613032342d363261366264616366366233',
      varies: true,
    },
  ],
  run: (_, { filters, session }) => filters.onHashes('transactions', session.owner),
})

export const eth_getFilterChanges = method({
  name: 'eth_getFilterChanges',
  answeredBy: 'owner',
  summary:
    'The new entries of a filter since the last call; logs whose block has left the chain are returned again, as removed.',
  params: { id: FilterId },
  result: () => EntriesArray,
  errors: ['filter-not-found'],
  examples: [],
  async run({ id }, context) {
    const { filters, session, logTexts, options, chaos } = context
    const entries = await filters.changes(id, session.owner, timeLeft(context))
    return toRpcEntries(disturbed(entries, session, chaos), logTexts, options.dialect)
  },
})

export const eth_getFilterLogs = method({
  name: 'eth_getFilterLogs',
  answeredBy: 'owner',
  heavy: true,
  summary:
    'The entries of a filter: for a filter on logs all logs that match now, for the others the latest entries.',
  params: { id: FilterId },
  result: () => EntriesArray,
  errors: ['filter-not-found', 'log-limit', 'too-many'],
  examples: [],
  run: async ({ id }, { filters, session, logTexts, options }) =>
    toRpcEntries(await filters.all(id, session.owner), logTexts, options.dialect),
})

export const eth_uninstallFilter = method({
  name: 'eth_uninstallFilter',
  answeredBy: 'owner',
  summary: 'Removes a filter; false when there is none with this id.',
  params: { id: orNull(FilterId, '') },
  result: () => z.boolean(),
  examples: [{ params: ['0x1'], result: false }],
  run: ({ id }, { filters, session }) => filters.remove(id, session.owner),
})

/** The methods of this file, in the order of the document. */
export const FILTER_METHODS = [
  eth_newFilter,
  eth_newBlockFilter,
  eth_newPendingTransactionFilter,
  eth_getFilterChanges,
  eth_getFilterLogs,
  eth_uninstallFilter,
] as const
