import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, createPool, type Node, type NodeOptions } from '../../src/index.ts'
import { COW } from '../support/noting-chain.ts'

const RECEIVER: Hex = '0x00000000000000000000000000000000000b0b01'

const open: { close(): Promise<void> }[] = []
const folders: string[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

async function started(options: NodeOptions = {}): Promise<Node> {
  const node = await createNode({ bitcoin: true, frozenClock: true, ...options })
  open.push(node)
  return node
}

const call = (node: Node, method: string, ...params: unknown[]) => node.request({ method, params })

/** The heads of both chains, and what the Bridge knows of the other. */
async function heads({ bitcoin, engine }: Node) {
  const status = await bitcoin?.status()
  return [engine.queries.head().hash, status?.bitcoin, status?.bridge, status?.locked]
}

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tandem-peg-'))
  folders.push(folder)
  return folder
}

describe('both chains', () => {
  it('go back together with a snapshot, and with a reset to where they began', async () => {
    const node = await started()
    const first = await heads(node)
    await node.bitcoin?.pegIn(RECEIVER, 1_000_000n)
    const before = await heads(node)
    const id = await call(node, 'evm_snapshot')
    await node.bitcoin?.pegIn(RECEIVER, 2_000_000n)
    expect(await heads(node)).not.toEqual(before)
    expect(await call(node, 'evm_revert', id)).toBe(true)
    expect(await heads(node)).toEqual(before)
    const again = await node.bitcoin?.pegIn(RECEIVER, 3_000_000n)
    expect(again?.status).toBe('registered')
    await call(node, 'evm_reset')
    expect(await heads(node)).toEqual(first)
    expect((await node.bitcoin?.pegIn(RECEIVER, 1_000_000n))?.status).toBe('registered')
  })

  it('are in one directory, with kept snapshots of both', async () => {
    const dataDir = await emptyFolder()
    const node = await started({ dataDir })
    await node.bitcoin?.pegIn(RECEIVER, 1_000_000n)
    const kept = await heads(node)
    await call(node, 'evm_snapshot', 'funded', { keep: true })
    await node.bitcoin?.pegIn(RECEIVER, 2_000_000n)
    const last = await heads(node)
    await node.close()

    const later = await started({ dataDir })
    expect(await heads(later)).toEqual(last)
    expect(await call(later, 'evm_revert', 'funded')).toBe(true)
    expect(await heads(later)).toEqual(kept)
    await later.close()

    const last2 = await started({ dataDir })
    expect(await heads(last2)).toEqual(kept)
    expect((await last2.bitcoin?.pegIn(RECEIVER, 1_000_000n))?.status).toBe('registered')
  })

  it('lose no signed peg-out between them in a restart', async () => {
    const dataDir = await emptyFolder()
    const node = await started({ dataDir, federation: 'manual' })
    await node.bitcoin?.pegIn(RECEIVER, 5_000_000n)
    await node.bitcoin?.pegOut(COW, 1_000_000n, false)
    // Signed, and not broadcast.
    for (let i = 0; i < 5; i++) {
      for (const transaction of (await node.bitcoin?.federation.turn()) ?? []) {
        await node.engine.commands.submit(transaction)
      }
      await call(node, 'evm_mine')
    }
    expect(await node.bitcoin?.status()).toMatchObject({ pegOuts: [], bitcoin: { mempool: 0 } })
    await node.close()

    const later = await started({ dataDir })
    await call(later, 'evm_mine')
    expect(await later.bitcoin?.status()).toMatchObject({ bitcoin: { mempool: 1 } })
  })

  it('are in a state file with history', async () => {
    const node = await started()
    await node.bitcoin?.pegIn(RECEIVER, 1_000_000n)
    const dump = await call(node, 'anvil_dumpState', true)
    const other = await started()
    await other.bitcoin?.mine(7)
    expect(await call(other, 'anvil_loadState', dump)).toBe(true)
    expect(await heads(other)).toEqual(await heads(node))
    expect((await other.bitcoin?.pegIn(RECEIVER, 1_000_000n))?.status).toBe('registered')
  })

  it('begin where the base is in the chains of a pool, and go their own ways', async () => {
    const base = await started()
    await base.bitcoin?.pegIn(RECEIVER, 1_000_000n)
    const before = await heads(base)
    const pool = await createPool({ base })
    open.push(pool)
    const [one, two] = [await pool.chain('one'), await pool.chain('two')]
    await one.bitcoin?.pegIn(RECEIVER, 1_000_000n)
    expect(await heads(base)).toEqual(before)
    expect(await heads(two)).toEqual(before)
    expect((await two.bitcoin?.pegIn(RECEIVER, 5_000_000n))?.status).toBe('registered')
  })

  it('are the same for the same seed and a frozen clock', async () => {
    const run = async () => {
      const node = await started({ seed: 'peg' })
      await node.bitcoin?.pegIn(RECEIVER, 1_000_000n)
      return heads(node)
    }
    expect(await run()).toEqual(await run())
  })
})

describe('the option', () => {
  it.each([
    [{ bitcoin: true, chain: 'testnet' }, /the parent chain of testnet is a public network/],
    [{ bitcoin: true, fork: 'http://127.0.0.1:1' }, /"bitcoin" and "fork" contradict/],
    [{ federation: 'off' }, /"federation" has no effect without the option "bitcoin"/],
  ] satisfies [NodeOptions, RegExp][])('is refused in a sentence: %o', async (options, message) => {
    await expect(createNode(options)).rejects.toThrow(message)
  })
})
