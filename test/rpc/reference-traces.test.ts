/**
 * Traces against those recorded from the reference node (fixtures/traces/reference-node). Known differences are
 * listed with their numbers: a difference that is not listed fails, and so does an entry that no longer differs.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { compactTrace, STEP_MEMBERS } from '../support/compact-trace.ts'
import { fixture } from '../support/fixture.ts'
import { type ReferenceChain, referenceChain } from '../support/reference-chain.ts'
import { ask } from '../support/rpc.ts'

interface Exchange {
  readonly method: string
  readonly params: readonly unknown[]
  readonly result: unknown
}

const EXCHANGES = fixture<readonly Exchange[]>('traces/reference-node/traces.json')

/** Replies that differ as a whole, by method and first parameter. */
const OTHER_REPLY: Readonly<Record<string, string>> = {
  'trace_get 0x52ff1e017d79db52c1f78599ac8401a4e9d5cde97c2a3b5f295ff9c9478765af':
    'the index counts over the traces of the block there, over those of the transaction here',
  'trace_get 0x340222966e6c0f0ed36fb5034b3819f5aea76ff8d5deb962fa8ba108103241db': 'the same',
  'trace_get 0x2ac00a7029a0ac5f0d200efba499f4816e9d0e38245676cfcc7bb79aefd7e1e5': 'the same',
  'trace_get 0xe05864819bc0467661ee0c5847ff3a95fd1fca41b1282fd8ccec17202e4f9b4d': 'the same',
  'trace_filter {"toAddress":["0xda7ce79725418f4f6e13bf5f520c89cec5f6a974"]}':
    'the receiver of a creation is the new contract here',
  'trace_block 0xf5b811b3cd0850aee53fc87253493c6a8802b5e558060c12b53db49a5a7598a3':
    'the block is not canonical: its REMASC row names the canonical block at its height there',
}

/** The other known differences by kind of reply: path (see `differences`) → number of occurrences. */
const KNOWN: readonly {
  readonly of: 'rskTracer' | 'callTracer' | 'trace'
  readonly why: string
  readonly paths: Readonly<Record<string, number>>
}[] = [
  {
    of: 'rskTracer',
    why: 'only touched slots are listed here, all known slots of the contract there',
    paths: {
      '-.initStorage.*': 8,
      '-.currentStorage.*': 8,
      '.storageSize': 6,
      '-.structLogs[].storage': 780,
    },
  },
  {
    of: 'rskTracer',
    why: 'the step of an SSTORE lists the new value here, the old one there',
    paths: { '.structLogs[].storage': 9 },
  },
  {
    of: 'rskTracer',
    why: 'gasCost of a CALL is its cost with the passed gas here, 0 there',
    paths: { '.structLogs[].gasCost': 8 },
  },
  {
    of: 'rskTracer',
    why: 'an opcode without a name is its two hex digits here, null there',
    paths: { '.structLogs[].op': 1 },
  },
  {
    of: 'rskTracer',
    why: 'msgData is hex here, base64 there',
    paths: { '.transferInvoke.msgData': 4 },
  },
  {
    of: 'rskTracer',
    why: 'subtraces have the form of the outer object here, that of an internal record there',
    paths: {
      '+.subtraces[].error': 5,
      '+.subtraces[].programInvoke': 5,
      '+.subtraces[].result': 5,
      '+.subtraces[].reverted': 5,
      '+.subtraces[].transferInvoke': 5,
      '-.subtraces[].callType': 5,
      '-.subtraces[].codeAddress': 5,
      '-.subtraces[].creationData': 5,
      '-.subtraces[].creationMethod': 5,
      '-.subtraces[].invokeData': 5,
      '-.subtraces[].programResult': 5,
      '-.subtraces[].traceType': 5,
    },
  },
  {
    of: 'callTracer',
    why: 'output is DATA here, QUANTITY there, and there 0x0 at the top and the address for a creation',
    paths: { '.output': 28, '.calls[].output': 2 },
  },
  {
    of: 'callTracer',
    why: 'a frame that failed without a payload has no output here',
    paths: { '-.output': 1 },
  },
  { of: 'callTracer', why: 'a creation names the new contract here', paths: { '+.to': 5 } },
  {
    of: 'callTracer',
    why: 'logs have their position among the calls here, and a reverted top frame its reason',
    paths: { '+.logs[].position': 3, '+.revertReason': 1 },
  },
  {
    of: 'callTracer',
    why: 'the error of the top frame has no Java class here',
    paths: { '.error': 1 },
  },
  {
    of: 'callTracer',
    why: 'the gas of a transfer is the gas limit here, 0 there',
    paths: { '.gas': 1 },
  },
  {
    of: 'trace',
    why: 'input of an inner call is its own here, that of the transaction there; output of the top frame is 0x there',
    paths: { '.action.input': 6, '.result.output': 16 },
  },
  {
    of: 'trace',
    why: 'the Bridge answers this method for simulations only here',
    paths: { '+.error': 5, '.result': 5 },
  },
]

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Is every slot of `ours` in `theirs` with the same value? Both are the `storage` of a row. */
function isSubset(ours: unknown, theirs: unknown): boolean {
  const listed = new Set(String(theirs).split(' '))
  return String(ours)
    .split(' ')
    .every((pair) => pair === '' || listed.has(pair))
}

function memberOf(path: string, list: boolean, key: string): string {
  if (path.endsWith('.structLogs[]')) return `.${STEP_MEMBERS[Number(key)]}`
  if (list) return '[]'
  return /^[0-9a-f]{40,}$/.test(key) ? '.*' : `.${key}`
}

/**
 * Paths at which two values differ: positions in lists are written `[]`, addresses and slots `*`. A leading `-` marks
 * what only the reference node has, `+` what only this node has; a step that lists fewer slots counts as `-`.
 */
function differences(theirs: unknown, ours: unknown, path: string): string[] {
  if (Object.is(theirs, ours)) return []
  if (ours === undefined) return [`-${path}`]
  if (theirs === undefined) return [`+${path}`]
  const list = Array.isArray(theirs)
  if (!isContainer(theirs) || !isContainer(ours) || list !== Array.isArray(ours)) {
    return path.endsWith('[].storage') && isSubset(ours, theirs) ? [`-${path}`] : [path]
  }
  const keys = new Set([...Object.keys(theirs), ...Object.keys(ours)])
  return [...keys].flatMap((key) => differences(theirs[key], ours[key], path + memberOf(path, list, key)))
}

let chain: ReferenceChain
beforeAll(async () => {
  chain = await referenceChain(fixture<readonly Hex[]>('traces/reference-node/chain.json'))
})

/** The kind of reply that a request has. */
function kindOf({ method, params }: Exchange): (typeof KNOWN)[number]['of'] {
  if (method.startsWith('trace_')) return 'trace'
  return JSON.stringify(params).includes('callTracer') ? 'callTracer' : 'rskTracer'
}

function nameOf({ method, params: [first] }: Exchange): string {
  return `${method} ${typeof first === 'string' ? first : JSON.stringify(first)}`
}

/** A path within one trace: without the list, and without the entry of a block. */
function withinTrace(path: string, kind: string): string {
  const inner = path.replace(/^([-+]?)\[\]/, '$1')
  return kind === 'callTracer' ? inner.replace(/^([-+]?)\.result/, '$1') : inner
}

async function replyTo({ method, params }: Exchange): Promise<unknown> {
  return compactTrace((await ask(chain.dispatcher, method, params)).result)
}

describe('traces as the reference node records them', () => {
  it.each(EXCHANGES.filter((exchange) => nameOf(exchange) in OTHER_REPLY))(
    '$method $params.0 has another reply',
    async (exchange) => {
      expect(await replyTo(exchange)).not.toEqual(exchange.result)
    },
  )

  it('lists no other reply for a request that is not recorded', () => {
    const recorded = new Set(EXCHANGES.map(nameOf))
    expect(Object.keys(OTHER_REPLY).filter((name) => !recorded.has(name))).toEqual([])
  })

  it.each(['rskTracer', 'callTracer', 'trace'] as const)(
    'are equal but for the known differences: %s',
    async (kind) => {
      const found: Record<string, number> = {}
      for (const exchange of EXCHANGES.filter((candidate) => kindOf(candidate) === kind)) {
        if (nameOf(exchange) in OTHER_REPLY) continue
        for (const full of differences(exchange.result, await replyTo(exchange), '')) {
          const path = withinTrace(full, kind)
          found[path] = (found[path] ?? 0) + 1
        }
      }
      const known = KNOWN.filter((entry) => entry.of === kind).map(({ paths }) => paths)
      expect(found).toEqual(Object.assign({}, ...known))
    },
  )
})
