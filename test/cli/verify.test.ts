import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { faultLine, fillVerifyCommand } from '../../src/cli/verify.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode } from '../../src/index.ts'
import { openStore } from '../../src/store/level.ts'
import { stateTables } from '../../src/store/tables.ts'
import { runFilled } from '../support/commands.ts'
import { saying } from '../support/refusals.ts'
import { servedNode } from '../support/served-node.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const runVerify = (...args: string[]) => runFilled(fillVerifyCommand, args)

/** The last line of a check that finds nothing; times and the size of the state vary. */
function noFault(chain: string, blocks: string, executed: number): RegExp {
  return new RegExp(
    `^No fault: ${chain}, blocks ${blocks}, ${executed} executed again \\([\\d.,]+ blocks/s, [\\d.,]+ Mgas/s\\), \\d+ nodes in the state of the head\\.$`,
  )
}

/** What an open says of a directory with this problem. */
const damaged = (dataDir: string, problem: string) =>
  `The database in ${dataDir} is damaged: ${problem}. "tandem verify --data-dir ${dataDir}" names all that is wrong, ` +
  `and "tandem verify --data-dir ${dataDir} --repair" goes back to the last whole block.`

describe('tandem verify', () => {
  it("knows the Bridge's release from the directory, or is told it", async () => {
    const dataDir = join(temporaryFolder(), 'data')
    const node = await createNode({ dataDir, bitcoin: true, bridgeRelease: '9.0' })
    await node.bitcoin?.pegIn(`0x${'ab'.repeat(20)}`, 1_000_000n)
    await node.close()
    expect((await runVerify('--data-dir', dataDir)).error).toBeUndefined()
    await expect(createNode({ dataDir, bitcoin: true })).rejects.toThrow(
      /has the Bridge of 9\.0, not of the present release: start with the same --bridge-release/,
    )
    // As an earlier version has left it.
    const file = join(dataDir, 'tandem.json')
    const { bridgeRelease, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
    expect(bridgeRelease).toBe('9.0')
    writeFileSync(file, JSON.stringify(rest))
    expect((await runVerify('--data-dir', dataDir)).error).toMatchObject({ kind: 'database' })
    expect((await runVerify('--data-dir', dataDir, '--bridge-release', '9.0')).error).toBeUndefined()
    expect((await runVerify('--data-dir', dataDir, '--bridge-release', '8')).error).toMatchObject({
      kind: 'invalid-options',
    })
  })

  it('names a damaged node, and refuses a directory that is open, missing or below the given height', async () => {
    const dataDir = join(temporaryFolder(), 'data')
    const node = await createNode({ dataDir, chain: 'devnet', difficulty: 3n, mining: 'manual' })
    expect((await runVerify('--data-dir', dataDir)).error).toMatchObject({
      kind: 'database',
      message: `The data directory ${dataDir} is in use by another running node. Stop that one, or choose another directory.`,
    })
    await node.request({ method: 'evm_mine' })
    // A state that was edited by hand is in order.
    const params = [`0x${'ab'.repeat(20)}`, '0x1234']
    await node.request({ method: 'hardhat_setBalance', params })
    await node.request({ method: 'evm_mine' })
    const root = node.engine.queries.head().postState
    await node.close()
    expect(await runVerify('--data-dir', dataDir, '--from', '2')).toMatchObject({
      output: expect.stringMatching(noFault('devnet', '0 to 2', 1)),
      error: undefined,
    })
    const store = await openStore({ dataDir, chain: 'devnet', chainId: 32 })
    const { nodes } = stateTables(store)
    const bytes = (nodes.get(root) as Uint8Array).slice()
    bytes[5] = (bytes[5] as number) ^ 1
    await store.batch([nodes.put(root, bytes)])
    await store.close()
    const { output, error } = await runVerify('--data-dir', dataDir)
    expect(output.split('\n')).toEqual([
      `nodes ${root}: the hash of the bytes differs (expected ${root}, found ${keccakHex(bytes)})`,
      expect.stringMatching(/^nodes 0x[0-9a-f]{64}: a state needs this node, which is missing \(block 2\)$/),
    ])
    expect(error).toMatchObject({
      kind: 'database',
      message: `The database in ${dataDir} has 2 faults. No block was executed again.`,
    })
    const none = join(dataDir, 'x')
    expect((await runVerify('--data-dir', none)).error?.message).toBe(
      `There is no database in ${none}. Name its directory with --data-dir.`,
    )
    expect((await runVerify('--data-dir', dataDir, '--from', 'x')).error).toMatchObject({
      kind: 'invalid-options',
      message: '--from expects a block number, not "x".',
    })
  })

  /** Mines a block in each of three lives, so that LevelDB has a table for each of the first two. */
  async function inThreeLives(): Promise<{ dataDir: string; tables: string[]; hashes: Hex[] }> {
    const dataDir = join(temporaryFolder(), 'data')
    const hashes: Hex[] = []
    for (let life = 0; life < 3; life++) {
      const node = await createNode({ dataDir, mining: 'manual' })
      await node.request({ method: 'evm_mine' })
      hashes.push(node.engine.queries.head().hash)
      await node.close()
    }
    const db = join(dataDir, 'db')
    const tables = readdirSync(db).filter((file) => file.endsWith('.ldb'))
    return { dataDir, tables: tables.sort().map((name) => join(db, name)), hashes }
  }

  it('repairs to the last complete block when a table of LevelDB is lost', async () => {
    const { dataDir, tables, hashes } = await inThreeLives()
    // The second table has block 2.
    const table = tables[1] as string
    rmSync(table)
    const problem = `LevelDB reports "Corruption: 1 missing files; e.g.: ${table}"`
    const refused = await createNode({ dataDir }).catch((error: Error) => error)
    expect(refused).toMatchObject({ kind: 'database', message: damaged(dataDir, problem) })
    const { output, error } = await runVerify('--data-dir', dataDir, '--repair')
    expect(error).toBeUndefined()
    const [first, second, third] = hashes
    expect(output.split('\n')).toEqual([
      `LevelDB rebuilds its list of files: ${problem}.`,
      `headers ${third}: its parent ${second} cannot be read (block 3)`,
      'canonical 2: the height is missing (block 2)',
      `canonical 3: its block is not the child of the one before (block 3; expected ${first}, found ${second})`,
      `Repaired: the last block that is whole is 1 (${first}); it is the head now.`,
      expect.stringMatching(noFault('regtest', '0 to 1', 1)),
    ])
    expect((await runVerify('--data-dir', dataDir)).error).toBeUndefined()
    const node = await createNode({ dataDir, mining: 'manual' })
    expect(node.engine.queries.head().hash).toBe(hashes[0])
    await node.request({ method: 'evm_mine' })
    expect(node.engine.queries.head().block.header.number).toBe(2)
    await node.close()
  })

  it('reports that no block is complete when the table of the genesis is lost, which every start detects', async () => {
    const { dataDir, tables, hashes } = await inThreeLives()
    const table = tables[0] as string
    rmSync(table)
    for (let run = 0; run < 2; run++) {
      const { output, error } = await runVerify('--data-dir', dataDir, '--repair')
      const lines = output.split('\n')
      const expected = [
        ...(run === 0
          ? [
              `LevelDB rebuilds its list of files: LevelDB reports "Corruption: 1 missing files; e.g.: ${table}".`,
            ]
          : [
              'An earlier repair is not complete; this one continues it.',
              'Lost and accepted: no block is whole.',
            ]),
        `headers ${hashes[1]}: its parent ${hashes[0]} cannot be read (block 2)`,
        'canonical 0: the height is missing (block 0)',
      ]
      expect(lines.slice(0, expected.length)).toEqual(expected)
      for (const line of lines.slice(expected.length, -1)) {
        expect(line).toMatch(/^nodes 0x[0-9a-f]{64}: a state needs this node, which is missing \(block 3\)$/)
      }
      expect(lines.at(-1)).toBe('No block is whole.')
      expect(error).toMatchObject({
        kind: 'database',
        message: `The database in ${dataDir} cannot be repaired: restore a copy of it, or begin anew in another one, with an export of the chain ("tandem import") or a dump of a state ("tandem load").`,
      })
      await expect(createNode({ dataDir })).rejects.toMatchObject({
        kind: 'database',
        message: damaged(dataDir, 'no block is whole'),
      })
    }
  })

  it('checks and repairs the files of a fork with the command that its refusal names', async () => {
    const upstream = await servedNode()
    try {
      const dataDir = join(temporaryFolder(), 'data')
      const options = { dataDir, fork: upstream.url, forkCache: false, mining: 'manual' } as const
      const mined = async () => {
        const node = await createNode(options)
        await node.request({ method: 'evm_mine' })
        const { hash, block } = node.engine.queries.head()
        await node.close()
        return { hash, number: block.header.number }
      }
      const { hash, number } = await mined()
      expect(number).toBe(1)
      const whole = 'No fault in the files of the fork at block 0; its blocks are not executed again.'
      const log = readdirSync(join(dataDir, 'db')).find((file) => file.endsWith('.log')) as string
      truncateSync(join(dataDir, 'db', log), 10)
      const refused = await createNode(options).catch((error: Error) => error)
      const problem = `LevelDB has none of what was written until block 1 (${hash}) was the head`
      expect(refused).toMatchObject({ kind: 'database', message: damaged(dataDir, problem) })
      expect(await runVerify('--data-dir', dataDir)).toMatchObject({
        output: `data directory: ${problem}\ndata directory: its head is missing; it was block 1 (${hash})`,
        error: { kind: 'database', message: `The database in ${dataDir} has 2 faults.` },
      })
      expect(await runVerify('--data-dir', dataDir, '--repair')).toEqual({
        output: `Lost and accepted: ${problem}.\n${whole}`,
        error: undefined,
      })
      expect(await runVerify('--data-dir', dataDir)).toEqual({ output: whole, error: undefined })
      expect((await mined()).number).toBe(1)
    } finally {
      await upstream.close()
    }
  })

  it('names a file of the database with a damaged end, which would otherwise shorten the chain unnoticed', async () => {
    const dataDir = join(temporaryFolder(), 'data')
    const node = await createNode({ dataDir, mining: 'manual' })
    for (let height = 0; height < 3; height++) await node.request({ method: 'evm_mine' })
    const { hash } = node.engine.queries.head()
    const genesis = node.engine.queries.blocksAt(0)[0]?.hash
    await node.close()
    const name = readdirSync(join(dataDir, 'db')).find((file) => file.endsWith('.log')) as string
    const file = join(dataDir, 'db', name)
    const bytes = readFileSync(file)
    const at = bytes.length - 100
    bytes[at] = (bytes[at] as number) ^ 1
    writeFileSync(file, bytes)
    const { output, error } = await runVerify('--data-dir', dataDir)
    expect(output.split('\n')).toEqual([
      // What follows `Corruption:` is LevelDB's own text.
      expect.stringMatching(
        new RegExp(`^data directory: LevelDB leaves out \\d+ bytes of db/${name}: Corruption: `),
      ),
      `data directory: LevelDB lacks the last of what was written until block 3 (${hash}) was the head`,
      `data directory: its head is block 0 (${genesis}); it was block 3 (${hash})`,
    ])
    expect(error?.message).toBe(`The database in ${dataDir} has 3 faults. No block was executed again.`)
  })

  it('refuses a damaged write-ahead log with the place and the last complete block, and returns to that block with --repair', async () => {
    const [dataDir, copy] = [join(temporaryFolder(), 'data'), join(temporaryFolder(), 'copy')]
    const node = await createNode({ dataDir, mining: 'manual' })
    await node.request({ method: 'evm_mine' })
    const { hash } = node.engine.queries.head()
    // LevelDB as it is now, and the log as it is two blocks later.
    cpSync(dataDir, copy, { recursive: true })
    await node.request({ method: 'evm_mine' })
    const second = node.engine.queries.head().hash
    await node.request({ method: 'evm_mine' })
    cpSync(join(dataDir, 'journal'), join(copy, 'journal'), { recursive: true })
    await node.close()
    const file = join(copy, 'journal', '0000000001.wal')
    const bytes = readFileSync(file)
    const at = bytes.length - 100
    bytes[at] = (bytes[at] as number) ^ 1
    writeFileSync(file, bytes)
    const { output, error } = await runVerify('--data-dir', copy)
    const [, byte] = /at byte (\d+)/.exec(output) ?? []
    const damage = `he write-ahead log journal/0000000001.wal, at byte ${byte}: a record is damaged; the last block that is whole is 2 (${second})`
    await expect(createNode({ dataDir: copy })).rejects.toThrow(saying(damaged(copy, `t${damage}`)))
    expect(output).toBe(`data directory: t${damage}`)
    expect(error?.message).toBe(`The database in ${copy} has 1 fault. No block was executed again.`)
    const repaired = await runVerify('--data-dir', copy, '--repair')
    expect(repaired.error).toBeUndefined()
    expect(repaired.output.split('\n')).toEqual([
      `T${damage}. The rest is left out; its files are kept as *.damaged.`,
      expect.stringMatching(noFault('regtest', '0 to 2', 2)),
    ])
    expect(readdirSync(join(copy, 'journal'))).toEqual(['0000000001.wal.damaged'])
    const again = await createNode({ dataDir: copy, mining: 'manual' })
    expect(again.engine.queries.blocksAt(1).map((block) => block.hash)).toEqual([hash])
    await again.close()
  })

  it('prints a fault on one line', () => {
    const key: Hex = `0x${'12'.repeat(32)}`
    expect(faultLine({ table: 'pool', key, problem: 'a problem' })).toBe(`pool ${key}: a problem`)
    expect(faultLine({ table: 'heights', key: '7', height: 7, problem: 'b', found: 'x' })).toBe(
      'heights 7: b (block 7; expected another, found x)',
    )
  })
})
