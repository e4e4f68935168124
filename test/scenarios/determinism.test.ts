/** A seed and a frozen clock: the same calls lead to the same hashes, in process in memory, and as a command on disk. */
import { computeAddress, decodeRlp, encodeRlp, getCreateAddress, keccak256, toUtf8Bytes } from 'ethers'
import { afterEach, describe, expect, it } from 'vitest'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'
import { type RunningCommand, startCommand } from '../support/command.ts'
import { fixture } from '../support/fixture.ts'
import { rpc } from '../support/json-rpc.ts'
import {
  account,
  accountKey,
  COW_BALANCE,
  putContract,
  putGenesis,
  putRemasc,
} from '../support/local-state.ts'
import { NaiveTrie } from '../support/naive-trie.ts'
import { COW, callsOf } from '../support/noting-chain.ts'
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

/**
 * Hash of a block from its raw header of version 2: element 6 becomes the extension, the elements 17 to 19 go, and of the
 * parent-chain block only its header counts (docs/internals/protocol.md#13-extension, docs/internals/protocol.md#14-encodings).
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
  it('of blocks equal those of the raw headers', () => {
    const [genesis, ...mined] = golden.blocks
    expect(genesis && keccak256(genesis.header)).toBe(genesis?.hash)
    for (const { hash, header } of mined) expect(blockHash(header)).toBe(hash)
    for (const [index, { header }] of mined.entries()) {
      expect((decodeRlp(header) as string[])[0]).toBe(golden.blocks[index]?.hash)
    }
  })

  it('of states equal those of the resulting entries, written by hand', () => {
    // Code that returns ten bytes: creation 53,000; 17 bytes and 5 zero bytes of data at 16 and 4; one word of init code 2;
    // five PUSH1 15, CODECOPY of a word into new memory 9; ten bytes of code at 200.
    const deployment = 53_000n + 17n * 16n + 5n * 4n + 2n + 15n + 9n + 2_000n
    // Two writes into empty cells, four opcodes of 2 and 3 gas.
    const call = 21_000n + 2n * 20_000n + 2n * (2n + 3n)
    const contract = getCreateAddress({ from: COW, nonce: 0 }).toLowerCase() as Hex
    const code = fromHex('0x42600055436001550000')
    // The third signed transaction goes back to the pool with its block, and is mined by the last one. The gas price is 1,
    // that of the unsigned transaction 0; the values are 1 and 2.
    const nonces = [0n, 1n, 2n, 2n, 2n, 2n, 4n]
    const feesAt = [0n, deployment, call, 0n, 0n, 0n, 21_000n]
    let fees = 0n
    for (const [height, { header }] of golden.blocks.entries()) {
      fees += feesAt[height] as bigint
      const trie = new NaiveTrie()
      putGenesis(trie)
      if (height > 0) {
        putRemasc(trie, height, fees)
        putContract(
          trie,
          contract,
          code,
          height < 2
            ? []
            : [
                [0n, 1_700_000_001n],
                [1n, 2n],
              ],
        )
      }
      const sent = height === 6 ? 3n : 0n
      trie.put(accountKey(fromHex(COW)), account(nonces[height] as bigint, COW_BALANCE - fees - sent))
      const receivers = height === 6 ? golden.created : []
      for (const [index, address] of receivers.entries()) {
        trie.put(accountKey(fromHex(address as Hex)), account(0n, BigInt(index + 1)))
      }
      expect((decodeRlp(header) as string[])[3], `block ${height}`).toBe(trie.root())
    }
  })

  it('of transactions equal those of the bytes that ethers signed', () => {
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

  it('repeats subscription and instance ids, and has others with another seed', async () => {
    const ids: unknown[][] = []
    for (const seed of ['a', 'a', 'b']) {
      node = await createNode({ seed, preset: 'hardhat' })
      const call = callsOf(node)
      const instance = () =>
        call<{ instanceId: string }>('hardhat_metadata').then(({ instanceId }) => instanceId)
      const first = [await call('eth_subscribe', 'newHeads'), await instance()]
      await call('hardhat_reset')
      ids.push([...first, await call('eth_subscribe', 'logs', {}), await instance()])
      await node.close()
    }
    expect(ids[0]).toEqual(ids[1])
    const all = [...(ids[0] ?? []), ...(ids[2] ?? [])]
    expect(new Set(all).size).toBe(8)
  })

  it('skips accounts that it made before its restart', async () => {
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
