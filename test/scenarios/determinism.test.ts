/** A seed and a frozen clock: the same calls lead to the same hashes, in process in memory, and as a command on disk. */
import { computeAddress, decodeRlp, encodeRlp, keccak256, toUtf8Bytes } from 'ethers'
import { afterEach, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'
import { type RunningCommand, startCommand } from '../support/command.ts'
import { fixture } from '../support/fixture.ts'
import { rpc } from '../support/json-rpc.ts'
import type { Call } from '../support/noting-chain.ts'
import { SEEDED, type SeededRun, seededRun } from '../support/seeded-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const golden = fixture<SeededRun>('determinism/hashes.json')

let node: Node | undefined
let command: RunningCommand | undefined
afterEach(async () => {
  await node?.close()
  if (command !== undefined) await command.end('SIGKILL')
  node = undefined
  command = undefined
})

const callsOf =
  ({ request }: Node): Call =>
  (method, ...params) =>
    request({ method, params })

/**
 * Hash of a block from its raw header of version 2: element 6 becomes the extension, the elements 17 to 19 go, and of the
 * parent-chain block only its header counts (docs/protocol.md#13-extension, docs/protocol.md#14-encodings).
 */
function blockHash(header: string): string {
  const elements = decodeRlp(header) as string[]
  expect(elements).toHaveLength(21)
  const [bloom = '', version = '', edges = '', baseEvent = '', parentHeader = ''] = [6, 17, 18, 19, 20].map(
    (at) => elements[at] as string,
  )
  const extension = encodeRlp([version, keccak256(encodeRlp([keccak256(bloom), baseEvent, edges]))])
  return keccak256(encodeRlp([...elements.slice(0, 6), extension, ...elements.slice(7, 17), parentHeader]))
}

const seeded = (purpose: string, count: number): string =>
  keccak256(toUtf8Bytes(JSON.stringify([SEEDED.seed, purpose, count])))

describe('the golden hashes', () => {
  it('of blocks are those of the raw headers', () => {
    const [genesis, ...mined] = golden.blocks
    expect(genesis && keccak256(genesis.header)).toBe(genesis?.hash)
    for (const { hash, header } of mined) expect(blockHash(header)).toBe(hash)
    for (const [index, { header }] of mined.entries()) {
      expect((decodeRlp(header) as string[])[0]).toBe(golden.blocks[index]?.hash)
    }
  })

  it('of transactions are those of the bytes that ethers signed', () => {
    const signed = golden.transactions.filter(({ raw }) => raw !== undefined)
    expect(signed).toHaveLength(3)
    for (const { hash, raw } of signed) expect(keccak256(raw as string)).toBe(hash)
  })

  it('and ids and accounts follow from the seed, timestamps from the frozen clock', () => {
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    for (const [count, id] of golden.filters.entries()) {
      const text = Buffer.from(id.slice(2), 'hex').toString()
      expect(text).toMatch(uuid)
      // All digits but those of version and variant are the seed's.
      const digits = text.replaceAll('-', '')
      const expected = seeded('filter', count).slice(2, 34)
      const free = (value: string) => value.slice(0, 12) + value.slice(13, 16) + value.slice(17)
      expect(free(digits)).toBe(free(expected))
    }
    expect(golden.created).toEqual(
      golden.created.map((_, count) => computeAddress(seeded('key', count)).toLowerCase()),
    )
    // Genesis, two blocks of one second, the one an hour on, those of the reorganised branch, the last transaction's.
    const frozen = 1_700_000_000
    expect(golden.timestamps).toEqual([
      0,
      frozen,
      frozen + 1,
      ...[0, 1, 2, 3].map((later) => frozen + 3600 + later),
    ])
  })
})

describe('a node with a seed and a frozen clock', () => {
  it('in memory', async () => {
    node = await createNode(SEEDED)
    expect(await seededRun(callsOf(node))).toEqual(golden)
  })

  it('on disk, as a command', async () => {
    command = await startCommand(['--data-dir', temporaryFolder(), '--seed', SEEDED.seed, '--frozen-clock'])
    const { url } = command
    expect(await seededRun((method, ...params) => rpc(url, method, params))).toEqual(golden)
  })

  it('has the same subscriptions and instance ids again, and others with another seed', async () => {
    const ids: unknown[][] = []
    for (const seed of ['a', 'a', 'b']) {
      node = await createNode({ seed, preset: 'hardhat' })
      const call = callsOf(node)
      const instance = () => call('hardhat_metadata').then(({ instanceId }) => instanceId)
      const first = [await call('eth_subscribe', 'newHeads'), await instance()]
      await call('hardhat_reset')
      ids.push([...first, await call('eth_subscribe', 'logs', {}), await instance()])
      await node.close()
    }
    expect(ids[0]).toEqual(ids[1])
    const all = [...(ids[0] ?? []), ...(ids[2] ?? [])]
    expect(new Set(all).size).toBe(8)
  })

  it('passes over accounts that it made before its restart', async () => {
    const dataDir = temporaryFolder()
    const made: unknown[] = []
    for (let run = 0; run < 2; run++) {
      node = await createNode({ seed: 'a', dataDir })
      made.push(await callsOf(node)('personal_newAccount', 'word'))
      await node.close()
    }
    expect(new Set(made).size).toBe(2)
  })
})
