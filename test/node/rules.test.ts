/**
 * Rules by name on a whole node. What a rule changes is taken from its text: PUSH0 exists since RSKIP-398, a byte of call
 * data costs 68 gas before RSKIP-400 and 16 since, RSKIP-351 changes the header and its hash.
 */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'
import { configOfStored } from '../../src/store/identity.ts'
import { openStoreForReading } from '../../src/store/level.ts'

const nodes: Node[] = []
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()))
})

async function start(options: NodeOptions): Promise<Node> {
  const node = await createNode({ mining: 'manual', ...options })
  nodes.push(node)
  return node
}

const ask = (node: Node, method: string, ...params: unknown[]): Promise<unknown> =>
  node.request({ method, params })
const intrinsic = (node: Node) =>
  ask(node, 'eth_estimateGas', { to: `0x${'11'.repeat(20)}`, data: '0x01' }, 'latest')
/** PUSH0, PUSH0, RETURN. */
const push0 = (node: Node) => ask(node, 'eth_call', { data: '0x5f5ff3', gas: '0x186a0' }, 'latest')

describe('a node', () => {
  it('executes by its rules, from their heights on', async () => {
    const node = await start({ activate: ['rskip400@3'], strictCalls: true, deactivate: ['rskip398'] })
    await expect(push0(node)).rejects.toThrow('invalid opcode')
    expect(await intrinsic(node)).toBe(`0x${(21_068).toString(16)}`)
    for (let n = 0; n < 3; n++) await ask(node, 'evm_mine')
    expect(await intrinsic(node)).toBe(`0x${(21_016).toString(16)}`)
    expect(await push0(await start({ strictCalls: true }))).toBe('0x')
  })

  it('makes headers by its rules', async () => {
    const block = async (options: NodeOptions) => {
      const node = await start({ frozenClock: true, seed: 'rules', ...options })
      await ask(node, 'evm_mine')
      return (await ask(node, 'eth_getBlockByNumber', '0x1', false)) as { hash: string; stateRoot: string }
    }
    const [usual, earlier, same] = await Promise.all([
      block({}),
      block({ deactivate: ['rskip351'] }),
      block({ rules: 'next' }),
    ])
    expect(earlier.stateRoot).toBe(usual.stateRoot)
    expect(earlier.hash).not.toBe(usual.hash)
    expect(same.hash).toBe(usual.hash)
  })

  it('names its rules in rpc.discover and among its figures', async () => {
    const node = await start({ rules: 'vetiver900' })
    const rules = { rskip535: null, rskip559: null }
    expect(await ask(node, 'rpc.discover')).toMatchObject({ info: { 'x-rules': rules } })
    expect(await node.health()).toMatchObject({ rules })
    expect(await ask(await start({}), 'rpc.discover')).not.toHaveProperty('info.x-rules')
  })

  it('refuses names that are not known', async () => {
    await expect(start({ rules: 'vetiver' })).rejects.toThrow('the nearest is vetiver900')
    await expect(start({ activate: ['rskip1'] })).rejects.toThrow(
      'Option "activate": "rskip1" is no rule or upgrade that this version knows; the nearest is ',
    )
    await expect(start({ rules: { rskip398: -1 } })).rejects.toThrow('Option "rules" expects')
  })
})

describe('rules kept with a chain', () => {
  it('are checked when its directory is opened', async () => {
    const dataDir = join(mkdtempSync(join(tmpdir(), 'rules-')), 'data')
    const rules = { rskip398: 2 }
    const node = await start({ dataDir, rules })
    await ask(node, 'evm_mine')
    await node.close()
    expect(JSON.parse(readFileSync(join(dataDir, 'tandem.json'), 'utf8'))).toMatchObject({ rules })
    const { identity, store } = await openStoreForReading(dataDir)
    await store.close()
    expect(configOfStored(identity).ruleHeights).toMatchObject({ rskip398: 2, rskip400: 0 })
    await expect(start({ dataDir, rules: {} })).rejects.toThrow(
      `holds a chain with rskip398 from block 2, and the options ask for no other rules than its network: ` +
        `start with --rules '{"rskip398":2}' to continue it, or choose another directory.`,
    )
    await expect(start({ dataDir, rules: 'next' })).rejects.toThrow('to continue it')
    const continued = await start({ dataDir })
    expect(await continued.health()).toMatchObject({ rules, head: 1 })
    await continued.close()
    const again = await start({ dataDir, activate: ['rskip398@2'] })
    expect(await ask(again, 'eth_blockNumber')).toBe('0x1')
  })

  it('of a preset are those of a new chain: one that was made without them goes on without them', async () => {
    const dataDir = join(mkdtempSync(join(tmpdir(), 'rules-')), 'data')
    const first = await start({ dataDir, preset: 'anvil', rules: {} })
    await first.close()
    const continued = await start({ dataDir, preset: 'anvil' })
    expect((await continued.health())?.rules).toBeUndefined()
    const fresh = await start({ preset: 'anvil' })
    expect((await fresh.health())?.rules).toMatchObject({ rskip546: 0 })
  })

  it('are in state files: a chain loads where they are the same, accounts anywhere', async () => {
    const [from, other, equal] = await Promise.all([
      start({ deactivate: ['rskip398'] }),
      start({}),
      start({ rules: { rskip398: null } }),
    ])
    await ask(from, 'evm_mine')
    const whole = await ask(from, 'evm_dumpState', true)
    await expect(ask(other, 'evm_loadState', whole)).rejects.toThrow(
      'The chain of the state file has rskip398 never, and this one no other rules than its network: ' +
        'start the node with the same rules (--rules), or dump the state without history.',
    )
    await ask(equal, 'evm_loadState', whole)
    expect(await ask(equal, 'eth_blockNumber')).toBe('0x1')
    await ask(other, 'evm_loadState', await ask(from, 'evm_dumpState', false))
  })
})
