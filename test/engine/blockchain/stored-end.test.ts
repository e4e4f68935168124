/** The check of a stored chain's end at a start, on forks. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'

const folder = mkdtempSync(join(tmpdir(), 'tandem-'))
let upstream: ServedNode
const open: Node[] = []
beforeAll(async () => {
  upstream = await servedNode()
})
afterEach(async () => {
  for (const node of open.splice(0)) await node.close()
})
afterAll(async () => {
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
})

async function fork(dataDir: string): Promise<Node> {
  const node = await createNode({ fork: upstream.url, forkCache: false, dataDir: join(folder, dataDir) })
  open.push(node)
  return node
}

it.each([0, 2])('takes a fork at block %d of its upstream, whose state is not stored', async (height) => {
  while (Number(await upstream.call('eth_blockNumber')) < height) await upstream.call('evm_mine')
  const directory = `at-${height}`
  const first = await fork(directory)
  await first.close()
  const again = await fork(directory)
  expect(await again.request({ method: 'eth_blockNumber' })).toBe(`0x${height}`)
  await again.request({ method: 'evm_mine' })
  await again.close()
  const mined = await fork(directory)
  expect(await mined.request({ method: 'eth_blockNumber' })).toBe(`0x${height + 1}`)
})
