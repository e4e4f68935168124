/**
 * What graph-node, Subsquid and Blockscout ask of a node, each request in the form that their clients send it, and the members
 * that their decoders need of the answer. `fixtures/indexers/requests.json` names where in their sources both stand.
 */
import { readFileSync } from 'node:fs'
import { Interface, id, zeroPadValue } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { type Server, serve } from '../../src/transport/server.ts'
import { fixture } from '../support/fixture.ts'
import { BOB, CAROL, deployTokens, type TokenChain } from '../support/token-chain.ts'

interface Request {
  readonly client: string
  readonly use: string
  readonly method: string
  readonly params: readonly unknown[]
  /** The kind of the result, or `error: <part of its message>`. */
  readonly answer: string
  /** Sent in a batch with its copy. */
  readonly batched?: boolean
  /** A subscription. */
  readonly socket?: boolean
}

const { shapes, requests } = fixture<{
  shapes: Record<string, Record<string, string>>
  requests: readonly Request[]
}>('indexers/requests.json')

type Check = (value: unknown) => boolean
const text =
  (form: RegExp): Check =>
  (value) =>
    typeof value === 'string' && form.test(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const KINDS: Record<string, Check> = {
  quantity: text(/^0x[0-9a-f]+$/),
  decimal: text(/^\d+$/),
  hash: text(/^0x[0-9a-f]{64}$/),
  address: text(/^0x[0-9a-f]{40}$/),
  bloom: text(/^0x[0-9a-f]{512}$/),
  nonce: text(/^0x[0-9a-f]{16}$/),
  data: text(/^0x([0-9a-f]{2})*$/),
  hex: text(/^0x[0-9a-f]*$/),
  string: (value) => typeof value === 'string',
  number: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  null: (value) => value === null,
  diff: (value) => value === '=' || (isObject(value) && ['+', '-', '*'].some((sign) => sign in value)),
}

/** What of a value is not of a kind. */
function misfits(value: unknown, kind: string, where: string): string[] {
  const missing = value === null || value === undefined
  if (kind.endsWith('?')) return missing ? [] : misfits(value, kind.slice(0, -1), where)
  const [, inner] = /^[[{](.*)[\]}]$/.exec(kind) ?? []
  if (inner !== undefined) {
    const isFit = kind.startsWith('[') ? Array.isArray(value) : isObject(value)
    if (!isFit) return [`${where} is ${JSON.stringify(value)}, not ${kind}`]
    return Object.entries(value as object).flatMap(([key, item]) => misfits(item, inner, `${where}.${key}`))
  }
  const shape = shapes[kind]
  if (shape !== undefined) {
    if (!isObject(value)) return [`${where} is ${JSON.stringify(value)}, not ${kind}`]
    return Object.entries(shape).flatMap(([name, of]) => misfits(value[name], of, `${where}.${name}`))
  }
  return KINDS[kind]?.(value) ? [] : [`${where} is ${JSON.stringify(value)}, not ${kind}`]
}

const erc20 = new Interface(['function transfer(address, uint256)', 'function balanceOf(address)'])

/** A served chain, and what the names in requests stand for. */
async function startChain(dialect: 'rsk' | 'anvil') {
  const node = await createNode({ now: () => 1_700_000_000, dialect })
  const server = await serve(node, { port: 0 })
  const chain: TokenChain = await deployTokens(node)
  await mine(node)
  const quiet = await height(node)
  await chain.use('token', 'transfer', BOB, 250)
  const at = await height(node)
  const block = (await node.request({ method: 'eth_getBlockByNumber', params: [at, false] })) as {
    hash: Hex
    transactions: Hex[]
  }
  const names: Record<string, string> = {
    height: at,
    HEIGHT: `0x${at.slice(2).toUpperCase()}`,
    next: `0x${(Number(at) + 1).toString(16)}`,
    quiet,
    hash: block.hash,
    unknown: `0x${'1'.repeat(64)}`,
    transaction: block.transactions[0] as Hex,
    contract: chain.token,
    account: BOB,
    topic: id('Transfer(address,address,uint256)'),
    word: zeroPadValue(BOB, 32),
    read: erc20.encodeFunctionData('balanceOf', [BOB]),
    failing: erc20.encodeFunctionData('transfer', [CAROL, 10n ** 30n]),
  }
  return { node, server, names }
}

const mine = (node: Node) => node.request({ method: 'evm_mine' })

async function height(node: Node): Promise<Hex> {
  return (await node.request({ method: 'eth_blockNumber' })) as Hex
}

interface Reply {
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

async function post(server: Server, body: unknown): Promise<unknown> {
  const reply = await fetch(server.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  return reply.json()
}

/** The first message of a subscription, made by `mine`. */
async function firstMessage(server: Server, call: object, mine: () => Promise<unknown>): Promise<Reply> {
  const socket = new WebSocket(server.url.replace('http', 'ws'))
  const next = () =>
    new Promise<string>((resolve) => socket.once('message', (data) => resolve(data.toString())))
  await new Promise((resolve) => socket.once('open', resolve))
  try {
    const subscribed = next()
    socket.send(JSON.stringify(call))
    await subscribed
    const message = next()
    await mine()
    return (JSON.parse(await message) as { params: Reply }).params
  } finally {
    socket.close()
  }
}

it('the guide lists what each client asks', () => {
  const guide = readFileSync(new URL('../../docs/guides/indexers.md', import.meta.url), 'utf8')
  const clients = ['graph-node', 'Subsquid', 'Blockscout']
  for (const method of new Set(requests.map((request) => request.method))) {
    const cells = clients.map((client) => {
      const own = requests.filter((request) => request.client === client && request.method === method)
      return [...new Set(own.map(({ use }) => use))].join('; ')
    })
    expect(guide).toContain(`| \`${method}\` | ${cells.join(' | ')} |\n`)
  }
})

describe.each(['rsk', 'anvil'] as const)('the requests of indexers, dialect %s', (dialect) => {
  let node: Node
  let server: Server
  let names: Record<string, string>
  beforeAll(async () => {
    ;({ node, server, names } = await startChain(dialect))
  })
  afterAll(async () => {
    await server.close()
    await node.close()
  })

  const fill = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replace(/"\$(\w+)"/g, (_, name: string) => JSON.stringify(names[name])))

  async function replyTo({ method, params, batched = false, socket = false }: Request): Promise<Reply> {
    const call = { jsonrpc: '2.0', id: 1, method, params: fill(params) }
    if (socket) return firstMessage(server, call, () => mine(node))
    if (!batched) return (await post(server, call)) as Reply
    const [first, second] = (await post(server, [call, { ...call, id: 2 }])) as Reply[]
    expect(second?.result).toEqual(first?.result)
    return first as Reply
  }

  const cases = requests.map((request) => ({
    ...request,
    title: `${request.client}: ${request.use}, ${request.method} ${JSON.stringify(request.params)}`,
  }))
  // Subscriptions mine a block: they come last.
  it.each(cases.sort((a, b) => Number(a.socket ?? false) - Number(b.socket ?? false)))(
    '$title',
    async (request) => {
      const { result, error } = await replyTo(request)
      const [, part] = /^error: (.*)$/.exec(request.answer) ?? []
      if (part !== undefined) {
        expect(error?.message.toLowerCase()).toContain(part)
        return
      }
      expect(error).toBeUndefined()
      expect(misfits(result, request.answer, 'result')).toEqual([])
      if (request.answer.startsWith('[')) expect(result).not.toEqual([])
    },
  )
})
