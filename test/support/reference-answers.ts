/**
 * The reference node's recorded answers (fixtures/reference-node/rpc) and those of another node to the same requests,
 * field by field. Files are read from the project's root, where npm runs tests and scripts.
 */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Node, NodeOptions } from '../../src/index.ts'
import { openSession } from '../../src/rpc/session.ts'

/** A request, as JSON or as the text that was sent, and the recorded answer; null where nothing was answered. */
export type Exchange = readonly [request: string | { readonly method: string }, answer: unknown]

/** Answers a message with text, or with `undefined`. */
export type Answer = (message: string) => Promise<string | undefined>

/** The modules that the reference node does not open as it is shipped. */
const CLOSED_BY_DEFAULT = ['-trace', '-debug', '-sco', '-mnr', '-ext_getStorageBytesAt']

/** Each transcript, and the options with which this node answers it. The clock stands where the recording made a pending block. */
export const TRANSCRIPTS = {
  all: { rpcTimeoutMs: 0, mining: 'manual', stateOverride: false, now: () => 0x6b0247ab },
  default: {
    rpcTimeoutMs: 0,
    mining: 'manual',
    stateOverride: false,
    methods: CLOSED_BY_DEFAULT,
    now: () => 0x6b0247b3,
  },
  'all-write': { rpcTimeoutMs: 0, mining: 'manual', now: () => 0x6b0247ba },
  'auto-write': { rpcTimeoutMs: 0, mining: 'auto', now: () => 0x6b024afd },
} as const satisfies Readonly<Record<string, NodeOptions>>

/** The name of a transcript. */
export type Transcript = keyof typeof TRANSCRIPTS

function unpacked(path: string): string {
  return gunzipSync(readFileSync(`fixtures/reference-node/${path}.gz`)).toString()
}

/** The exchanges of a transcript, in order. */
export function readTranscript(name: Transcript): readonly Exchange[] {
  return JSON.parse(unpacked(`rpc/${name}.json`))
}

/** A node that imported the blocks under the transcripts, with the options of one of them. */
export async function nodeWithReferenceBlocks(
  createNode: (options: NodeOptions) => Promise<Node>,
  name: Transcript,
): Promise<Node> {
  const node = await createNode(TRANSCRIPTS[name])
  const [chain = ''] = unpacked('blocks/rpc-chain.ndjson').split('\n')
  const { blocks }: { blocks: [raw: string, imported: string][] } = JSON.parse(chain)
  for (const [raw, imported] of blocks) {
    const { result } = (await node.request({ method: 'evm_importBlock', params: [raw] })) as {
      result: string
    }
    if (result !== imported) throw new Error(`a block is ${result} here, ${imported} in the recording`)
  }
  return node
}

/** What HTTP sends for a message. */
export function answersOf({ dispatcher }: Node): Answer {
  const session = openSession('http')
  return (message) => dispatcher.dispatchText(message, session)
}

/** The method of a request; requests that were sent as text count as one. */
export function methodOf([request]: Exchange): string {
  return typeof request === 'string' ? '(text)' : request.method
}

/** Whose results are chosen by chance and named by later requests. */
const RANDOM_RESULT = /^(eth_new\w*Filter|personal_newAccount)$/

/**
 * Sends the requests of a transcript in order. Recorded ids and addresses that are chosen by chance become those of the
 * node that answers, and in its answers the recorded ones again.
 */
export async function replay(exchanges: readonly Exchange[], answer: Answer): Promise<unknown[]> {
  const renamed: (readonly [theirs: string, ours: string])[] = []
  const answers: unknown[] = []
  for (const exchange of exchanges) {
    const [request, recorded] = exchange
    const message = typeof request === 'string' ? request : JSON.stringify(request)
    const text = await answer(
      renamed.reduce((sent, [theirs, ours]) => sent.replaceAll(theirs, ours), message),
    )
    if (text === undefined || text === '') {
      answers.push(null)
      continue
    }
    if (RANDOM_RESULT.test(methodOf(exchange))) {
      const [theirs, ours] = [recorded, JSON.parse(text)].map((one) => String(one.result))
      if (theirs !== undefined && ours?.length === theirs.length) renamed.push([theirs, ours])
    }
    answers.push(JSON.parse(renamed.reduce((given, [theirs, ours]) => given.replaceAll(ours, theirs), text)))
  }
  return answers
}

type Json = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Differences of two values: paths, `[]` any item of a list; `+` only here, `-` only there, `~` in another order. */
function valueDifferences(theirs: unknown, ours: unknown, path: string): string[] {
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    const sorted = (list: readonly unknown[]) =>
      JSON.stringify(list.map((item) => JSON.stringify(item)).sort())
    if (theirs.length !== ours.length) return [`${path}.length`]
    const found = theirs.flatMap((item, index) => valueDifferences(item, ours[index], `${path}[]`))
    return found.length > 0 && sorted(theirs) === sorted(ours) ? [`~${path}`] : found
  }
  if (isObject(theirs) && isObject(ours)) {
    const keys = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])]
    const found = keys.flatMap((key) => {
      if (!(key in ours)) return [`-${path}.${key}`]
      if (!(key in theirs)) return [`+${path}.${key}`]
      return valueDifferences(theirs[key], ours[key], `${path}.${key}`)
    })
    const isReordered = found.length === 0 && Object.keys(theirs).join() !== Object.keys(ours).join()
    return isReordered ? [`~${path}`] : found
  }
  return Object.is(theirs, ours) ? [] : [path]
}

/** What an answer comes to: a result, the code of an error, a list of answers, or nothing. */
function outcomeOf(answer: unknown): string {
  if (Array.isArray(answer)) return 'list'
  if (!isObject(answer)) return 'nothing'
  return isObject(answer.error) ? String(answer.error.code) : 'result'
}

/**
 * How an answer differs from the recorded one, each kind once: `-32603 → -32602` by outcome, else the members that
 * differ. The message of another code is not compared.
 */
export function differencesOf(theirs: unknown, ours: unknown): string[] {
  const [there, here] = [outcomeOf(theirs), outcomeOf(ours)]
  const outcomes = there === here ? [] : [`${there} → ${here}`]
  if (isObject(theirs) && isObject(ours)) {
    if (outcomes.length === 0) return named(valueDifferences(theirs, ours, ''))
    const envelope = ({ jsonrpc, id }: Json) => ({
      ...(jsonrpc !== undefined && { jsonrpc }),
      ...(id !== undefined && { id }),
    })
    return named([...valueDifferences(envelope(theirs), envelope(ours), ''), ...outcomes])
  }
  if (Array.isArray(theirs) && Array.isArray(ours) && theirs.length === ours.length) {
    return named(theirs.flatMap((answer, index) => differencesOf(answer, ours[index])))
  }
  return outcomes
}

/** Each once, without the dot at the front of a path. */
function named(differences: readonly string[]): string[] {
  return [...new Set(differences.map((difference) => difference.replace(/^([-+~]?)\./, '$1')))]
}

/** A row of the list of known differences (docs/differences.md#recorded-answers). */
export interface ListedDifference {
  readonly methods: readonly string[]
  readonly differences: readonly string[]
  /** How many answers differ so. */
  readonly answers: number
  readonly why: string
}

/** The rows of docs/differences.md, from the table under `Recorded answers`. */
export function listedDifferences(): ListedDifference[] {
  const [, section = ''] = readFileSync('docs/differences.md', 'utf8').split('### Recorded answers\n')
  const codes = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string)
  return section
    .split(/^#/m, 1)
    .join()
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [methods = '', differences = '', answers = '', why = ''] = line.slice(2, -2).split(' | ')
      return { methods: codes(methods), differences: codes(differences), answers: Number(answers), why }
    })
}

/** The row that lists a difference of a method. */
export function rowOf(
  rows: readonly ListedDifference[],
  method: string,
  difference: string,
): ListedDifference | undefined {
  return rows.find((row) => row.methods.includes(method) && row.differences.includes(difference))
}

/** Is it answered by a tracer? Those answers are held to test/rpc/reference-traces.test.ts. */
export function isTraced(exchange: Exchange): boolean {
  return /^(trace_|debug_trace)/.test(methodOf(exchange)) && outcomeOf(exchange[1]) !== '-32601'
}
