/**
 * Replies to `trace_*` and `debug_*` against those recorded from the reference node (fixtures/traces/reference-node),
 * on its own chain. Every reply is equal but for the differences listed here, each of which docs/differences.md states:
 * a difference that is not listed fails, and so does an entry that no longer differs.
 */
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { compactTrace, STEP_MEMBERS } from '../support/compact-trace.ts'
import { fixture } from '../support/fixture.ts'
import { type ReferenceChain, referenceChain } from '../support/reference-chain.ts'
import { ask } from '../support/rpc.ts'

interface Exchange {
  readonly method: string
  readonly params: readonly unknown[]
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

const EXCHANGES = fixture<readonly Exchange[]>('traces/reference-node/traces.json')

/** Kinds of replies that differ: paths (see `differences`) with the number of occurrences; `why` stands in docs/differences.md. */
const KNOWN: readonly {
  readonly of: 'trace' | 'trace_get' | 'callTracer'
  readonly why: string
  readonly paths: Readonly<Record<string, number>>
}[] = [
  {
    of: 'trace',
    why: '`trace_*`: `input` of inner calls, `output` of the top call',
    paths: { '.action.input': 6, '.result.output': 17 },
  },
  {
    of: 'trace_get',
    why: '`trace_get`',
    // Of four transactions that are not the first of their block; the fifth differs in its output only.
    paths: {
      '.action.from': 1,
      '.action.to': 4,
      '.action.gas': 3,
      '.action.input': 4,
      '.transactionHash': 4,
      '.transactionPosition': 4,
      '.subtraces': 2,
      '.result.gasUsed': 4,
      '.result.output': 4,
    },
  },
  {
    of: 'callTracer',
    why: '`callTracer`: `output`',
    paths: { '.output': 24, '.calls[].output': 2 },
  },
  {
    of: 'callTracer',
    why: '`callTracer`: further members of geth',
    paths: { '+.to': 5, '+.revertReason': 1, '+.logs[].position': 3 },
  },
]

const HASH_LENGTH = 'Invalid block hash: incorrect length.'
const noTracer =
  'Invalid options.tracer: there is no tracer "nope"; there are rskTracer, structLogger, callTracer, prestateTracer, 4byteTracer, noopTracer, erc7562Tracer, muxTracer.'

/** Requests that the reference node answers with -32603 `Internal server error`, and the message with -32602 here. */
const REFUSALS: Readonly<Record<string, unknown>> = {
  'debug_traceBlockByHash ["0x1234"]': HASH_LENGTH,
  'debug_traceBlockByHash ["xyz"]': HASH_LENGTH,
  'debug_traceBlockByHash [""]': HASH_LENGTH,
  'debug_traceBlockByHash [null]': 'blockHash is null',
  'debug_traceBlockByHash [5]': HASH_LENGTH,
  'trace_block [null]': 'Invalid block: expected a block number, tag or hash.',
  'trace_transaction ["zz"]': 'Invalid transaction hash format: invalid hex value',
  'trace_transaction [null]': 'Invalid transactionHash: expected a transaction hash as text.',
  'debug_traceTransaction ["zz"]': 'Invalid transaction hash format: invalid hex value',
  'debug_traceTransaction [null]': 'Invalid transactionHash: expected a transaction hash as text.',
  'debug_accountTransactionQuota [null]': 'Invalid address: expected an address as text.',
  ...Object.fromEntries(
    EXCHANGES.map(nameOf)
      .filter((name) => name.includes('"nope"'))
      .map((name) => [name, noTracer]),
  ),
}

/** The genesis block has no parent to run it on; the reference node fails on that. */
const GENESIS = 'debug_traceBlockByNumber ["earliest"]'

function nameOf({ method, params }: Exchange): string {
  return `${method} ${JSON.stringify(params)}`
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function memberOf(path: string, list: boolean, key: string): string {
  if (path.endsWith('.structLogs[]')) return `.${STEP_MEMBERS[Number(key)]}`
  return list ? '[]' : `.${key}`
}

/**
 * Paths at which two values differ: positions in lists are written `[]`. A leading `-` marks what only the reference
 * node has, `+` what only this node has.
 */
function differences(theirs: unknown, ours: unknown, path = ''): string[] {
  if (Object.is(theirs, ours)) return []
  if (ours === undefined) return [`-${path}`]
  if (theirs === undefined) return [`+${path}`]
  const list = Array.isArray(theirs)
  if (!isContainer(theirs) || !isContainer(ours) || list !== Array.isArray(ours)) return [path]
  const keys = new Set([...Object.keys(theirs), ...Object.keys(ours)])
  return [...keys].flatMap((key) => differences(theirs[key], ours[key], path + memberOf(path, list, key)))
}

let chain: ReferenceChain
beforeAll(async () => {
  chain = await referenceChain(fixture<readonly Hex[]>('traces/reference-node/chain.json'))
})

async function replyTo({ method, params }: Exchange): Promise<Pick<Exchange, 'result' | 'error'>> {
  const { result, error } = await ask(chain.dispatcher, method, params)
  return error === undefined ? { result: compactTrace(result) } : { error }
}

const isError = (exchange: Exchange): boolean => exchange.error?.code === -32603

/** The kind of reply that a request has; only replies of a kind in `KNOWN` differ. */
function kindOf({ method, params }: Exchange): string {
  if (method === 'trace_get') return method
  if (method.startsWith('trace_')) return 'trace'
  return JSON.stringify(params).includes('"callTracer"') ? 'callTracer' : method
}

/** A path within one trace: without the reply, its list, and the entry of a block. */
function withinTrace(path: string, kind: string): string {
  const inner = path.replace(/^([-+]?)\.result(\[\])?/, '$1')
  return kind === 'callTracer' && path.includes('[].result') ? inner.replace(/^([-+]?)\.result/, '$1') : inner
}

const EQUAL = EXCHANGES.filter((exchange) => !isError(exchange))
const kinds = [...new Set(EQUAL.map(kindOf))]

describe('replies equal to those of the reference node', () => {
  it.each(kinds)('%s: equal but for the known differences', async (kind) => {
    const found: Record<string, number> = {}
    for (const exchange of EQUAL.filter((candidate) => kindOf(candidate) === kind)) {
      const { method, params, ...theirs } = exchange
      for (const full of differences(theirs, await replyTo(exchange))) {
        const path = withinTrace(full, kind)
        found[path] = (found[path] ?? 0) + 1
      }
    }
    const known = KNOWN.filter((entry) => entry.of === kind).map(({ paths }) => paths)
    expect(found).toEqual(Object.assign({}, ...known))
  })

  it.each(EXCHANGES.filter(isError).map((exchange) => [nameOf(exchange), exchange] as const))(
    '%s: an invalid parameter is named',
    async (name, exchange) => {
      const expected =
        name === GENESIS ? { result: [] } : { error: { code: -32602, message: REFUSALS[name] } }
      expect(await replyTo(exchange)).toEqual(expected)
    },
  )

  it('lists no refusal of a request that is not recorded', () => {
    const recorded = EXCHANGES.filter(isError).map(nameOf)
    expect([...Object.keys(REFUSALS), GENESIS].sort()).toEqual(recorded.sort())
  })

  it('states each difference in docs/differences.md, and no other', () => {
    const document = readFileSync(new URL('../../docs/differences.md', import.meta.url), 'utf8')
    const [, section = ''] = document.split('\n### Traces\n')
    const rows = (section.split('\n#')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'))
    const others = [
      '`debug_traceBlockByNumber` of the genesis block',
      '`trace_*`, `debug_*`: invalid parameters',
    ]
    const listed = rows.map((row) => row.split(' | ')[0]?.slice(2))
    expect(listed.sort()).toEqual([...KNOWN.map(({ why }) => why), ...others].sort())
  })
})
