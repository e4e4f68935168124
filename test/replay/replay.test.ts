/** Recorded sessions are repeated with equal replies; a difference planted in the file is named at its line, and reduced. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode } from '../../src/node/node.ts'
import { readRecording } from '../../src/replay/recorded-file.ts'
import { ddmin, reduceRecording } from '../../src/replay/reduce.ts'
import { Renaming } from '../../src/replay/renaming.ts'
import { type Difference, replayLines } from '../../src/replay/run.ts'
import { NodeTarget } from '../../src/replay/target.ts'
import { vitestText } from '../../src/replay/vitest-file.ts'
import { serve } from '../../src/transport/server.ts'
import { COW, COW_KEY } from '../support/noting-chain.ts'
import { recordSession } from '../support/recorded-session.ts'

const folder = mkdtempSync(join(tmpdir(), 'tandem-'))
const file = join(folder, 'session.jsonl')
let lines: string[]

beforeAll(async () => {
  await recordSession(file)
  lines = readFileSync(file, 'utf8').trimEnd().split('\n')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function replay(path: string, to?: number) {
  const recording = await readRecording(path)
  const target = await NodeTarget.start(recording.header, {})
  try {
    return await replayLines(recording.lines, target, { renamesHashes: false, to })
  } finally {
    await target.close()
  }
}

/** The session with the first line that matches changed; the number of that line. */
function plant(
  name: string,
  where: RegExp,
  change: (line: string) => string,
): { path: string; line: number } {
  const at = lines.findIndex((line) => where.test(line))
  expect(at, String(where)).toBeGreaterThan(0)
  const changed = lines.map((line, i) => (i === at ? change(line) : line))
  expect(changed[at]).not.toBe(lines[at])
  const path = join(folder, `${name}.jsonl`)
  writeFileSync(path, `${changed.join('\n')}\n`)
  return { path, line: at + 1 }
}

it('repeats a node whose start goes beyond a second', async () => {
  const path = join(folder, 'start.jsonl')
  let seconds = 1_700_000_000
  const node = await createNode({ preset: 'hardhat', record: path, now: () => seconds++ })
  await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  await node.close()
  expect((await replay(path)).differences).toEqual([])
})

describe('a recording of a node with accounts of its own', () => {
  const alloc = new Map([
    [
      `0x${'aa'.repeat(20)}` as const,
      { balance: 5n, nonce: 3n, code: Buffer.from('60015400', 'hex'), storage: new Map([[17n, 2n ** 255n]]) },
    ],
  ])
  const path = join(folder, 'alloc.jsonl')
  beforeAll(async () => {
    const node = await createNode({ alloc, record: path })
    const [address] = [...alloc.keys()]
    for (const [method, ...more] of [
      ['eth_getBalance'],
      ['eth_getTransactionCount'],
      ['eth_getCode'],
      ['eth_getStorageAt', '0x11'],
    ] as const) {
      await node.request({ method, params: [address, ...more, 'latest'] })
    }
    await node.close()
  })

  it('is equal when it is repeated', async () => {
    const { differences, replies } = await replay(path)
    expect({ differences, replies }).toEqual({ differences: [], replies: 4 })
    const stored = readFileSync(path, 'utf8').split('\n')[4]
    expect(stored).toContain(`"result":"0x${(2n ** 255n).toString(16)}"`)
  })

  it('becomes a test with the same accounts', async () => {
    const { header, lines: read } = await readRecording(path)
    const [, source] =
      /alloc: (new Map\(.*\)), now/.exec(vitestText(header, read, { title: 'accounts' })) ?? []
    expect(runInNewContext(`(${source})`, { Map, Buffer })).toEqual(alloc)
  })
})

describe('a recording', () => {
  it('is equal when it is repeated', async () => {
    const { differences, replies, events, unanswered } = await replay(file)
    expect(differences).toEqual([])
    expect(unanswered).toEqual([])
    expect(replies).toBeGreaterThan(25)
    expect(events).toBeGreaterThan(5)
  })

  it('has the header, calls of all three ways in, and the end of the connection', () => {
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ recording: 1, options: { seed: expect.any(String) } })
    for (const from of ['http', 'ws 1', 'in process']) {
      expect(lines.some((line) => JSON.parse(line).from === from)).toBe(true)
    }
    expect(lines).toContain('{"closed":"ws 1"}')
  })

  it('has no password and no header of a request', () => {
    const text = lines.join('\n')
    expect(text).toContain('<secret 1>')
    expect(text).toContain('<secret 2>')
    for (const secret of ['the password', 'another password', 'letmein', COW_KEY.slice(2)])
      expect(text).not.toContain(secret)
  })
})

/** A difference of each kind: where it is planted, and how. */
const PLANTED: readonly (readonly [string, RegExp, (line: string) => string, path: RegExp])[] = [
  [
    'answer',
    /"method":"eth_getBalance"/,
    (line) => line.replace('"result":"0x5"', '"result":"0x6"'),
    /^result$/,
  ],
  [
    'order',
    /"method":"eth_getLogs"/,
    (line) => {
      const value = JSON.parse(line)
      value.reply.result.reverse()
      return JSON.stringify(value)
    },
    /^result\[0\]/,
  ],
  [
    'time',
    /"method":"eth_getBlockByNumber"/,
    (line) =>
      line.replace(
        /"timestamp":"0x(\w+)"/,
        (_, t) => `"timestamp":"0x${(Number(`0x${t}`) + 1).toString(16)}"`,
      ),
    /^result\.timestamp$/,
  ],
  [
    'gas',
    /"method":"eth_getTransactionReceipt".*"logs":\[\{/,
    (line) => line.replace(/"gasUsed":"0x/, '"gasUsed":"0x1'),
    /^result\.gasUsed$/,
  ],
  [
    'event',
    /"event".*"logIndex"/,
    (line) => line.replace(/"data":"0x0/, '"data":"0x1'),
    /^params\.result\.data$/,
  ],
]

describe('a difference', () => {
  it.each(PLANTED)(
    'in an %s is found at its line, and reduced to at most ten',
    async (name, where, change, member) => {
      const { path, line } = plant(name, where, change)
      const { differences } = await replay(path)
      const [first] = differences as [Difference]
      expect(first.line).toBe(line)
      expect(first.path).toMatch(member)

      const recording = await readRecording(path)
      const reduced = await reduceRecording({ ...recording, difference: first }, () =>
        NodeTarget.start(recording.header, {}),
      )
      expect(reduced.lines.length + 1).toBeLessThanOrEqual(10)
      const target = await NodeTarget.start(recording.header, {})
      const again = await replayLines(reduced.lines, target, { renamesHashes: false })
      await target.close()
      expect(again.differences.map(({ path }) => path)).toContain(first.path)
    },
  )
})

describe('interval mining', () => {
  it('is repeated block by block, at the recorded times', async () => {
    const path = join(folder, 'interval.jsonl')
    const node = await createNode({ record: path, mining: 0.02 })
    const mined = new Promise<void>((resolve) => {
      node.engine.events.on('chain', () => {
        if (node.engine.queries.head().block.header.number >= 3) resolve()
      })
    })
    await mined
    await node.request({ method: 'eth_getBlockByNumber', params: ['0x3', false] })
    await node.close()
    const { differences, replies } = await replay(path)
    expect(differences).toEqual([])
    expect(replies).toBeGreaterThanOrEqual(4)
  })
})

describe('a recording of a node with chaos', () => {
  it('is equal when it is repeated: calm callers, and what happened when no call came', async () => {
    const path = join(folder, 'chaos.jsonl')
    const chaos = {
      statuses: [{ status: 503, probability: 0.1 }],
      stale: { probability: 0.3, blocks: 1 },
      transactions: { forgotten: { probability: 0.2 } },
      blocks: { late: { probability: 0.5, calls: 3 }, full: { probability: 0.3, transactions: 1 } },
      reorganisations: { probability: 0.3, depth: 1, calls: 2 },
      idleMs: 5,
    } as const
    const node = await createNode({ record: path, seed: 'chaos', chaos })
    const server = await serve(node, { port: 0 })
    const post = async (method: string, params: unknown[], headers = {}) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const type = { 'Content-Type': 'application/json' }
      const response = await fetch(server.url, { method: 'POST', headers: { ...type, ...headers }, body })
      return response.ok ? JSON.parse(await response.text()).result : undefined
    }
    const from = COW
    for (let i = 0; i < 15; i++) {
      await post('eth_sendTransaction', [{ from, to: from, value: '0x1' }])
      await post('eth_getBalance', [from, 'latest'], { 'X-Tandem-Chaos': 'off' })
      await post('eth_getBlockByNumber', ['latest', false])
    }
    await expect.poll(() => readFileSync(path, 'utf8'), { timeout: 20_000 }).toContain('"tick":true')
    const { counts } = (await node.request({ method: 'evm_chaos' })) as { counts: Record<string, number> }
    expect(Object.keys(counts)).toEqual(expect.arrayContaining(['stale', 'late-block', 'full-block']))
    await server.close()
    await node.close()
    expect(readFileSync(path, 'utf8')).toContain('"calm":true')
    const { differences, replies } = await replay(path)
    expect(differences).toEqual([])
    expect(replies).toBeGreaterThan(30)
  })
})

describe('a replay to a line', () => {
  it('leaves the node as it was then', async () => {
    const { header, lines: all } = await readRecording(file)
    const at = lines.findIndex((line) => line.includes('"method":"evm_mine"')) + 1
    const target = await NodeTarget.start(header, {})
    await replayLines(all, target, { renamesHashes: false, to: at })
    const before = Number(await target.node.request({ method: 'eth_blockNumber' }))
    await target.close()
    expect(before).toBe(5)
  })
})

describe('hashes that may differ', () => {
  it('stand for the same throughout, and are no numbers and no texts', () => {
    const renaming = new Renaming({ renamesHashes: true })
    const [one, two, three] = ['1d', '2e', '3f'].map((byte) => `0x${byte.repeat(32)}`)
    expect(renaming.isSame(one, two, 'hash')).toBe(true)
    expect(renaming.isSame(one, two, 'blockHash')).toBe(true)
    expect(renaming.isSame(one, three, 'hash')).toBe(false)
    const number = (value: bigint) => `0x${BigInt.asUintN(256, value).toString(16).padStart(64, '0')}`
    const text = (value: string) => `0x${Buffer.from(value).toString('hex').padEnd(64, '0')}`
    for (const [recorded, replayed] of [
      [number(1n), number(2n)],
      [number(-1n), number(-2n)],
      [text('one'), text('two')],
    ]) {
      expect(renaming.isSame(recorded, replayed, 'result')).toBe(false)
    }
  })
})

describe('ddmin', () => {
  it('finds the items that are needed together', async () => {
    const items = Array.from({ length: 100 }, (_, i) => i)
    const needed = [3, 41, 42, 97]
    const found = await ddmin(items, async (part) => needed.every((item) => part.includes(item)))
    expect(found).toEqual(needed)
  })
})
