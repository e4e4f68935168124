/** A byte of a data directory is changed while no node runs: a node answers rightly or refuses, and a repair makes it whole. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillVerifyCommand } from '../../src/cli/verify.ts'
import { createNode, type Node } from '../../src/index.ts'
import { runFilled } from '../support/commands.ts'
import { randomNumbers } from '../support/random-numbers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const LIVES = 6
const BLOCKS_OF_A_LIFE = 10
const FLIPS = Number(process.env.FLIPS ?? 5)
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))

let parent: string
let whole: string
const expected = new Map<string, string>()

/** What callers ask: each block, its receipts, and balances. */
function* questions(): Generator<{ method: string; params: unknown[] }> {
  for (let height = 0; height <= LIVES * BLOCKS_OF_A_LIFE; height++) {
    const block = `0x${height.toString(16)}`
    yield { method: 'eth_getBlockByNumber', params: [block, true] }
    yield { method: 'eth_getBlockReceipts', params: [block] }
    yield { method: 'eth_getBalance', params: [`0x${'12'.repeat(20)}`, block] }
  }
}

async function answers(node: Node): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const call of questions()) {
    const answer = await node.request(call).then(JSON.stringify, (error) => `error ${error.code}`)
    found.set(JSON.stringify(call), answer)
  }
  return found
}

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), 'tandem-flips-'))
  whole = join(parent, 'data')
  for (let life = 0; life < LIVES; life++) {
    const node = await createNode({ dataDir: whole, mining: 'manual' })
    const [from] = (await node.request({ method: 'eth_accounts' })) as string[]
    for (let i = 0; i < BLOCKS_OF_A_LIFE; i++) {
      await node.request({
        method: 'eth_sendTransaction',
        params: [{ from, to: `0x${'12'.repeat(20)}`, value: '0x1' }],
      })
      await node.request({ method: 'evm_mine' })
    }
    if (life === LIVES - 1) for (const [call, answer] of await answers(node)) expected.set(call, answer)
    await node.close()
  }
})
afterAll(() => {
  rmSync(parent, { recursive: true, force: true })
})

/** A copy with one changed byte, and where that is. */
function flipped(random: (below: number) => number): { dataDir: string; place: string } {
  const dataDir = join(temporaryFolder(), 'data')
  cpSync(whole, dataDir, { recursive: true })
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'LOCK')
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const tables = files.filter((name) => name.endsWith('.ldb'))
  const chosen = random(3) > 0 ? tables : files
  const file = chosen[random(chosen.length)] as string
  const bytes = readFileSync(file)
  const at = random(Math.max(1, bytes.length))
  bytes[at] = (bytes[at] ?? 0) ^ (1 + random(255))
  writeFileSync(file, bytes)
  return { dataDir, place: `${file.slice(dataDir.length + 1)}, byte ${at}` }
}

/** A start is refused, or what the node answers is right, or refused. */
/** A repair that gives up, or cannot begin since `tandem.json` is unreadable or names another directory. */
const REFUSED =
  /^The database in \S+ cannot be repaired: restore a copy of it, or begin anew in another one, with an export of the chain \("tandem import"\) or a dump of a state \("tandem load"\)\.$|tandem\.json/

async function asked(dataDir: string, place: string): Promise<void> {
  const node = await createNode({ dataDir, mining: 'manual' }).catch((error) => error)
  if (node instanceof Error) {
    expect(node, place).toMatchObject({ kind: 'database' })
    return
  }
  try {
    for (const [call, answer] of await answers(node)) {
      if (answer !== 'error -32002') expect([call, answer], place).toEqual([call, expected.get(call)])
    }
  } finally {
    await node.close()
  }
}

describe(`a directory with a changed byte (SEED=${seed})`, () => {
  const random = randomNumbers(seed)
  it.each(Array.from({ length: FLIPS }, (_, i) => i + 1))(
    'gives correct answers or is refused, and is complete after a repair (%i)',
    async () => {
      const { dataDir, place } = flipped(random)
      await asked(dataDir, place)
      const { output, error } = await runFilled(fillVerifyCommand, ['--data-dir', dataDir, '--repair'])
      if (error !== undefined) {
        expect(error.message, place).toMatch(REFUSED)
        return
      }
      const named = [...output.matchAll(/the last block that is whole is (\d+)/g)].at(-1)?.[1]
      const height = Number(/No fault: regtest, blocks 0 to (\d+)/.exec(output)?.[1])
      if (named !== undefined) expect(height, `${place}\n${output}`).toBe(Number(named))
      const node = await createNode({ dataDir, mining: 'manual' })
      expect(node.engine.queries.head().block.header.number, place).toBe(height)
      for (const [call, answer] of await answers(node)) {
        const isAbove =
          Number((JSON.parse(call).params as string[]).find((text) => /^0x.{1,2}$/.test(text))) > height
        if (!isAbove) expect([call, answer], place).toEqual([call, expected.get(call)])
      }
      await node.close()
    },
  )
})
