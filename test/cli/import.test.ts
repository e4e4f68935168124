/** tandem import and export: the reference node's blocks in, refusals of changed ones, the same bytes out. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Block, decodeBlock, encodeBlock, transactionsRoot, unclesHash } from '../../src/chain/block.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { type Header, hashForMergedMining, headerHash } from '../../src/chain/header.ts'
import { fillExportCommand } from '../../src/cli/export.ts'
import { fillImportCommand } from '../../src/cli/import.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { createNode } from '../../src/index.ts'
import { runFilled } from '../support/commands.ts'
import { mineHeader } from '../support/mined-header.ts'
import { referenceBlocks, referenceHead, rlpFile } from '../support/reference-files.ts'
import { servedNode } from '../support/served-node.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const config = CHAINS.regtest
const WRONG: Hex = `0x${'77'.repeat(32)}`

const runImport = (...args: string[]) => runFilled(fillImportCommand, args)
const runExport = (...args: string[]) => runFilled(fillExportCommand, args)

/** The last line of an import; its speed varies. */
function imported(blocks: string, height: number, hash: Hex): RegExp {
  const escaped = blocks.replace('(', '\\(')
  return new RegExp(
    `^Imported ${escaped} there already\\): [\\d.,]+ blocks/s, [\\d.,]+ Mgas/s\\. The head is block ${height} \\(${hash}\\)\\.$`,
  )
}

/** The head of a data directory, and the root of its state. */
async function headOf(dataDir: string) {
  const node = await createNode({ dataDir, mining: 'manual' })
  const { hash, postState } = node.engine.queries.head()
  await node.close()
  return { hash, postState }
}

describe('tandem import', () => {
  it.each(['uncles', 'rpc-chain', 'bridge'])(
    'takes the chain %s to the reference node’s head and state, and once only',
    async (name) => {
      const folder = temporaryFolder()
      const [file, dataDir] = [rlpFile(folder, referenceBlocks(name)), join(folder, 'data')]
      const { hash, number, stateRoot } = referenceHead(name)
      const first = await runImport(file, '--data-dir', dataDir)
      expect(first.error).toBeUndefined()
      const { length } = referenceBlocks(name)
      expect(first.output).toMatch(imported(`${length} blocks (0 were`, number, hash))
      expect(await headOf(dataDir)).toEqual({ hash, postState: stateRoot })
      const second = await runImport(file, '--data-dir', dataDir)
      expect(second.output).toMatch(imported(`0 blocks (${length} were`, number, hash))
      expect(await headOf(dataDir)).toEqual({ hash, postState: stateRoot })
    },
  )

  it('takes lines of hex, of JSON strings and of objects, and continues where it stopped', async () => {
    const folder = temporaryFolder()
    const blocks = referenceBlocks('rpc-chain')
    const lines = blocks.map((raw, i) =>
      i % 3 === 0 ? raw : i % 3 === 1 ? JSON.stringify(raw) : JSON.stringify({ number: i, raw }),
    )
    const [file, dataDir] = [join(folder, 'blocks.jsonl'), join(folder, 'data')]
    writeFileSync(file, `${lines.slice(0, 9).join('\n')}\n`)
    const ninth = decodeBlock(fromHex(blocks[8] as Hex), config).header
    expect((await runImport(file, '--data-dir', dataDir)).output).toMatch(
      imported('9 blocks (0 were', ninth.number, headerHash(ninth, config)),
    )
    writeFileSync(file, `${lines.join('\r\n')}\n\n`)
    const { output } = await runImport(file, '--data-dir', dataDir)
    const { hash, number } = referenceHead('rpc-chain')
    expect(output).toMatch(imported(`${blocks.length - 9} blocks (9 were`, number, hash))
    expect((await headOf(dataDir)).hash).toBe(hash)
  })

  it('takes a chain with a custom genesis, given by the same flags', async () => {
    const folder = temporaryFolder()
    const [file, copy] = [join(folder, 'blocks'), join(folder, 'copy')]
    const genesis = ['--account-balance', '5', '--genesis-time', '1700000000']
    const node = await createNode({
      dataDir: join(folder, 'data'),
      mining: 'manual',
      accountBalance: '5',
      genesisTime: 1_700_000_000,
    })
    await node.request({ method: 'evm_mine' })
    const { hash } = node.engine.queries.head()
    await node.close()
    await runExport(file, '--data-dir', join(folder, 'data'))
    const other = ['--data-dir', join(folder, 'other')]
    expect((await runImport(file, ...other)).error).toMatchObject({ data: { rule: 'genesis', height: 0 } })
    const { error, output } = await runImport(file, '--data-dir', copy, ...genesis)
    expect(error).toBeUndefined()
    expect(output).toMatch(imported('1 block (1 was', 1, hash))
  })

  it('refuses a directory and a running node at once', async () => {
    const both = ['--data-dir', temporaryFolder(), '--url', 'http://127.0.0.1:1']
    for (const { error } of [await runImport('/dev/null', ...both), await runExport('-', ...both)]) {
      expect(error?.message).toBe('The chain is in --data-dir or at --url, not in both.')
    }
  })

  it('refuses another genesis, a truncated file and an invalid block, with its place', async () => {
    const folder = temporaryFolder()
    const blocks = referenceBlocks('rpc-chain')
    const file = join(folder, 'blocks')
    const dataDir = ['--data-dir', join(folder, 'data')]
    const bytes = concat(...blocks.slice(0, 2).map(fromHex))
    writeFileSync(file, bytes.subarray(0, -1))
    const place = (blocks[0] as Hex).length / 2 - 1
    expect((await runImport(file, ...dataDir)).error?.message).toBe(
      `The block at byte ${place} is cut off at the end of the input. Imported before it: 1 block; ` +
        `the head is block 1 (${(await headOf(join(folder, 'data'))).hash}).`,
    )
    const kept = `Imported before it: 0 blocks; the head is block 1 (${(await headOf(join(folder, 'data'))).hash}).`
    writeFileSync(file, 'blocks: none\n')
    expect((await runImport(file, ...dataDir)).error?.message).toBe(
      `There is no raw block in line 1: expected a hex string, or an object with one as "raw". ${kept}`,
    )
    writeFileSync(file, '0xc0\n')
    expect((await runImport(file, ...dataDir)).error?.message).toBe(
      `The block (in line 1) is invalid: its bytes are not those of a block: a block begins with its header. ${kept}`,
    )
    expect((await runImport(join(folder, 'none'), ...dataDir)).error).toMatchObject({
      kind: 'invalid-options',
    })
    expect((await runExport(file, '--chain', 'regtest', ...dataDir, '--to', '0')).error).toBeUndefined()
    const testnet = ['--chain', 'testnet', '--data-dir', join(folder, 'testnet')]
    expect((await runImport(file, ...testnet)).error).toMatchObject({
      data: {
        rule: 'genesis',
        height: 0,
        // docs/internals/protocol.md#19-test-vectors, G5 and G6
        expected: '0xcabb7fbe88cd6d922042a32ffc08ce8b1fbb37d650b9d4e7dbfe2a7469adfa42',
        found: '0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe',
      },
    })
  })
})

describe('an invalid block', () => {
  const blocks = referenceBlocks('uncles')
  const decoded = blocks.map((raw) => decodeBlock(fromHex(raw), config))
  /** The first block with an uncle, and how many of the file stand before it. */
  const at = decoded.findIndex(({ uncles }) => uncles.length > 0)
  const original = decoded[at] as Block
  const { header } = original

  function mined(changes: Partial<Header>): Header {
    return mineHeader({ ...header, ...changes }, config, { time: 0 })
  }

  const otherExtraData = { ...header, extraData: Uint8Array.of(1) }
  const changedHash = hashForMergedMining(otherExtraData, config)
  const otherUncles = unclesHash([{ ...(original.uncles[0] as Header), gasUsed: 5n }], config)

  it.each<[string, () => Block, string, { rule: string; expected?: unknown; found?: unknown }]>([
    [
      'state root',
      () => ({ ...original, header: mined({ stateRoot: WRONG }) }),
      `stateRoot must be ${header.stateRoot}, not ${WRONG}.`,
      { rule: 'stateRoot', expected: header.stateRoot, found: WRONG },
    ],
    [
      'receipts root',
      () => ({ ...original, header: mined({ receiptsRoot: WRONG }) }),
      `receiptsRoot is not that of the receipts. Expected ${header.receiptsRoot}, found ${WRONG}.`,
      { rule: 'receiptsRoot', expected: header.receiptsRoot, found: WRONG },
    ],
    [
      'gas used',
      () => ({ ...original, header: mined({ gasUsed: header.gasUsed + 1n }) }),
      `gasUsed must be ${header.gasUsed}, not ${header.gasUsed + 1n}.`,
      { rule: 'gasUsed', expected: `${header.gasUsed}`, found: `${header.gasUsed + 1n}` },
    ],
    [
      'fees',
      () => ({ ...original, header: mined({ paidFees: header.paidFees + 1n }) }),
      `paidFees must be ${header.paidFees}, not ${header.paidFees + 1n}.`,
      { rule: 'paidFees', expected: `${header.paidFees}`, found: `${header.paidFees + 1n}` },
    ],
    [
      'transactions root',
      () => ({ ...original, header: mined({ transactionsRoot: WRONG }) }),
      `transactionsRoot is not that of the transactions. Expected ${header.transactionsRoot}, found ${WRONG}.`,
      { rule: 'transactionsRoot', expected: transactionsRoot(original.transactions), found: WRONG },
    ],
    [
      'proof of work',
      () => ({ ...original, header: otherExtraData }),
      `The coinbase transaction does not commit to this block. Expected ${changedHash}, found ${hashForMergedMining(header, config)}.`,
      { rule: 'proofOfWork', expected: changedHash, found: hashForMergedMining(header, config) },
    ],
    [
      'uncle',
      () => ({ ...original, uncles: [{ ...(original.uncles[0] as Header), gasUsed: 5n }] }),
      `unclesHash is not that of the uncles. Expected ${otherUncles}, found ${header.unclesHash}.`,
      { rule: 'unclesHash', found: header.unclesHash },
    ],
    [
      'uncle that is an ancestor',
      () => {
        const parent = decoded.find(({ header: { number } }) => number === header.number - 1) as Block
        const uncles = [parent.header]
        return { ...original, uncles, header: mined({ unclesHash: unclesHash(uncles, config) }) }
      },
      `uncle ${header.parentHash} is an ancestor.`,
      { rule: 'uncles' },
    ],
    [
      'parent',
      () => ({ ...original, header: mined({ parentHash: WRONG }) }),
      `the parent ${WRONG} is unknown. Expected ${header.parentHash}, found ${WRONG}.`,
      { rule: 'parentHash', found: WRONG },
    ],
  ])(
    'of another %s stops the import there, with the rule and both values',
    async (_, change, words, broken) => {
      const folder = temporaryFolder()
      const dataDir = join(folder, 'data')
      const changed = toHex(encodeBlock(change(), config))
      const file = rlpFile(folder, [...blocks.slice(0, at), changed, ...blocks.slice(at + 1)])
      const { output, error } = await runImport(file, '--data-dir', dataDir)
      expect(output).toBe('')
      expect(error).toMatchObject({ kind: 'invalid-block', data: { height: header.number, ...broken } })
      const before = await createNode({ mining: 'manual' })
      for (const block of decoded.slice(0, at)) await before.engine.commands.importBlock(block)
      const { hash, block } = before.engine.queries.head()
      await before.close()
      const start = blocks.slice(0, at).reduce((sum, raw) => sum + raw.length / 2 - 1, 0)
      expect(error?.message).toBe(
        `Block ${header.number} (at byte ${start}) is invalid by the rule ${broken.rule}: ${words} ` +
          `Imported before it: ${at} blocks; the head is block ${block.header.number} (${hash}).`,
      )
      expect((await headOf(dataDir)).hash).toBe(hash)
    },
  )

  it('with a timestamp in the future is refused where the network has that rule', async () => {
    const folder = temporaryFolder()
    const dataDir = ['--chain', 'testnet', '--data-dir', join(folder, 'data')]
    const genesis = join(folder, 'genesis.rlp')
    expect((await runImport('/dev/null', ...dataDir)).error).toBeUndefined()
    await runExport(genesis, ...dataDir)
    const first = decodeBlock(readFileSync(genesis), CHAINS.testnet).header
    const parentHash: Hex = '0xcabb7fbe88cd6d922042a32ffc08ce8b1fbb37d650b9d4e7dbfe2a7469adfa42'
    const { verbatim: _verbatim, ...fields } = first
    const late = { ...fields, parentHash, number: 1, timestamp: 99_999_999_999 }
    const file = rlpFile(folder, [
      toHex(encodeBlock({ ...original, uncles: [], header: late }, CHAINS.testnet)),
    ])
    expect((await runImport(file, ...dataDir)).error).toMatchObject({
      data: {
        rule: 'timestamp',
        height: 1,
        expected: expect.stringMatching(/^at most \d+$/),
        found: '99999999999',
      },
    })
  })
})

describe('tandem export', () => {
  it('writes the input of import in both forms, and replaces files atomically', async () => {
    const folder = temporaryFolder()
    const [file, dataDir] = [rlpFile(folder, referenceBlocks('rpc-chain')), join(folder, 'data')]
    await runImport(file, '--data-dir', dataDir)
    const { hash, number } = referenceHead('rpc-chain')
    const [rlp, lines] = [join(folder, 'out.rlp'), join(folder, 'out.jsonl')]
    const { output } = await runExport(rlp, '--data-dir', dataDir)
    expect(output).toBe(`Exported blocks 0 to ${number} to ${rlp}.`)
    await runExport(lines, '--data-dir', dataDir, '--from', '1')
    const rows = readFileSync(lines, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows.map((row) => row.number)).toEqual(Array.from({ length: number }, (_, i) => i + 1))
    expect(rows.at(-1).hash).toBe(hash)
    // The canonical blocks of the reference node, byte for byte.
    for (const { raw } of rows) expect(referenceBlocks('rpc-chain')).toContain(raw)
    for (const exported of [rlp, lines]) {
      const copy = join(folder, `copy-${readdirSync(folder).length}`)
      expect((await runImport(exported, '--data-dir', copy)).error).toBeUndefined()
      expect((await headOf(copy)).hash).toBe(hash)
    }
    expect((await runExport(rlp, '--data-dir', dataDir, '--to', '99')).error?.message).toBe(
      `There are blocks 0 to ${number}, not 0 to 99.`,
    )
    expect((await runExport(rlp, '--data-dir', join(folder, 'nothing'))).error).toMatchObject({
      kind: 'database',
    })
  })

  it('reads from a running node and imports into one', async () => {
    const folder = temporaryFolder()
    const blocks = referenceBlocks('rpc-chain')
    const served = await servedNode({ mining: 'manual' })
    const { error, output } = await runImport(rlpFile(folder, blocks), '--url', served.url)
    expect(error).toBeUndefined()
    const { hash, number } = referenceHead('rpc-chain')
    expect(output).toMatch(imported(`${blocks.length} blocks (0 were`, number, hash))
    expect(await served.call('eth_getBlockByNumber', 'latest', false)).toMatchObject({ hash })
    const file = join(folder, 'out.rlp')
    expect((await runExport(file, '--url', served.url)).output).toBe(
      `Exported blocks 0 to ${number} to ${file}.`,
    )
    expect((await runImport(file, '--url', served.url)).output).toMatch(
      imported(`0 blocks (${number + 1} were`, number, hash),
    )
    const wrong = decodeBlock(fromHex(blocks.at(-1) as Hex), config)
    const header = mineHeader({ ...wrong.header, stateRoot: WRONG }, config, { time: 0 })
    const refused = rlpFile(folder, [toHex(encodeBlock({ ...wrong, header }, config))])
    expect((await runImport(refused, '--url', served.url)).error).toMatchObject({
      data: { rule: 'stateRoot', height: header.number, expected: wrong.header.stateRoot, found: WRONG },
    })
    await served.close()
  })
})
