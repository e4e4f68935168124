/** The strict decoders of scripts/languages in Python, which Debian has; `npm run test:languages` runs those in Go too. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createNode, type NodeOptions, serve } from '../../src/index.ts'
import { describeWith, PYTHON } from '../support/tools.ts'

const FOLDER = fileURLToPath(new URL('../../scripts/languages', import.meta.url))

/** Runs the decoders on a node; what they refused. */
function refusedAt(url: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const run = spawn(PYTHON.path, ['web3py.py', url], { cwd: FOLDER })
    let output = ''
    for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    run.on('error', reject)
    run.on('close', (code) => {
      const refused = output.split('\n').filter((line) => line !== '' && !line.startsWith('ok '))
      resolve(code === 0 || refused.length > 0 ? refused : [`exit code ${code}`])
    })
  })
}

/** A node with transfers, a creation, logs and a failed transaction. */
async function exampleNode(options: NodeOptions) {
  const node = await createNode({ minedReverts: 'hash', ...options })
  const call = (method: string, ...params: unknown[]) => node.request({ method, params })
  const [from, to] = z.array(z.string()).parse(await call('eth_accounts'))
  const send = (fields: object) => call('eth_sendTransaction', { from, gas: '0x30d40', ...fields })
  await send({ to, value: '0x1' })
  const creation = await send({ data: '0x600a600c600039600a6000f3600760206000a1600160005500' })
  const { contractAddress } = z
    .looseObject({ contractAddress: z.string() })
    .parse(await call('eth_getTransactionReceipt', creation))
  await send({ to: contractAddress })
  await send({ data: '0x60006000fd' })
  await call('evm_mine')
  return node
}

describeWith(PYTHON, "web3.py's decoders", () => {
  it.each([{}, { preset: 'hardhat' }] satisfies NodeOptions[])(
    'accept every answer of a node with %j',
    async (options) => {
      const node = await exampleNode(options)
      const server = await serve(node, { port: 0 })
      expect(await refusedAt(server.url)).toEqual([])
      await server.close()
      await node.close()
    },
  )

  it('refuse a missing member, another form of a number and a hash of another length', async () => {
    const node = await exampleNode({})
    const damage = (text: string, isBlockOfHashes: boolean) => {
      if (isBlockOfHashes) return text.replaceAll(/"parentHash":"0x../g, '"parentHash":"0x')
      return text.replaceAll('"status":"0x1"', '"status":"1"').replaceAll('"logIndex"', '"index"')
    }
    const damaging = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { method, params } = JSON.parse(Buffer.concat(chunks).toString())
      const result = await node.request({ method, params })
      response.end(damage(JSON.stringify({ jsonrpc: '2.0', id: 1, result }), params[1] === false))
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => damaging.once('listening', resolve))
    const refused = await refusedAt(`http://127.0.0.1:${(damaging.address() as AddressInfo).port}`)
    damaging.close()
    damaging.closeAllConnections()
    await node.close()
    expect(refused.filter((line) => line.includes("receipt.status: no number: '1'")).length).toBeGreaterThan(
      0,
    )
    expect(refused.filter((line) => line.includes('block.parentHash: 31 bytes')).length).toBeGreaterThan(0)
    expect(refused.filter((line) => line.includes('log lacks logIndex')).length).toBeGreaterThan(0)
  })
})

describe('an empty block under a preset', () => {
  it('has the root of no transactions, which go-ethereum compares with the list', async () => {
    const node = await createNode({ preset: 'anvil' })
    await node.request({ method: 'evm_mine' })
    const block = await node.request({ method: 'eth_getBlockByNumber', params: ['latest', true] })
    expect(block).toMatchObject({
      transactions: [],
      transactionsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
    })
    await node.close()
  })
})
