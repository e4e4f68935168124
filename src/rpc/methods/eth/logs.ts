/** The query for logs (docs/internals/rpc-reference.md#77-filters-and-logs). */
import { z } from 'zod'
import { toLogQuery } from '../../log-range.ts'
import { method } from '../../method.ts'
import { LogObject, toRpcLogs } from '../../wire/log.ts'
import { FilterObject } from '../../wire/log-filter.ts'

export const eth_getLogs = method({
  name: 'eth_getLogs',
  hosted: true,
  heavy: true,
  summary: 'Logs of a range of blocks or of one block, in order; of the head when no range is given.',
  params: { filter: FilterObject },
  result: () => z.array(LogObject),
  errors: ['log-limit', 'too-many'],
  examples: [{ params: [{}], result: [] }],
  async run({ filter }, { engine, options, logTexts }) {
    const query = toLogQuery(filter, engine.queries, options)
    return query === undefined ? [] : toRpcLogs(await engine.queries.logs(query), logTexts, options.dialect)
  },
})

/** The methods of this file, in the order of the document. */
export const LOG_METHODS = [eth_getLogs] as const
