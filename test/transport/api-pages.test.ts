import { afterEach, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/node/node.ts'
import { type Server, serve } from '../../src/transport/server.ts'
import { keyFile } from '../support/api-keys.ts'

const BOB = '0x00000000000000000000000000000000000000b0'
const BALANCE = `module=account&action=balance&address=${BOB}`

let node: Node
let server: Server
afterEach(async () => {
  await server.close()
  await node.close()
})

describe('the pages of APIs', () => {
  it('leave JSON-RPC at the same path as it is', async () => {
    node = await createNode()
    server = await serve(node, { port: 0 })
    const reply = await fetch(`${server.url}/api`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":[]}',
    })
    expect(await reply.json()).toEqual({ jsonrpc: '2.0', id: 7, result: '0x21' })
    expect(await (await fetch(`${server.url}/api?${BALANCE}`)).json()).toMatchObject({ result: '0' })
    const chains = (await (await fetch(`${server.url}/v2/chainlist`)).json()) as { result: object[] }
    expect(chains.result).toEqual([
      expect.objectContaining({ chainid: '33', apiurl: `${server.url}/v2/api?chainid=33` }),
    ])
  })

  it('refuse foreign hosts and origins', async () => {
    node = await createNode()
    server = await serve(node, { port: 0 })
    const reply = await fetch(`${server.url}/api?${BALANCE}`, { headers: { Origin: 'https://evil.example' } })
    expect(reply.status).toBe(403)
  })

  it('can be turned off, and are off under the hosted profile', async () => {
    node = await createNode({ profile: 'hosted' })
    server = await serve(node, { port: 0, unsafeOpen: true })
    expect((await fetch(`${server.url}/api?${BALANCE}`)).status).not.toBe(200)
    await server.close()
    server = await serve(node, { port: 0, unsafeOpen: true, explorerApi: true })
    expect(await (await fetch(`${server.url}/api?${BALANCE}`)).json()).toMatchObject({ result: '0' })
    await server.close()
    await node.close()
    node = await createNode()
    server = await serve(node, { port: 0, explorerApi: false })
    expect((await fetch(`${server.url}/api?${BALANCE}`)).status).not.toBe(200)
  })

  it('take the key of a gateway in the path or as apikey, and its limits', async () => {
    const keys = keyFile()
    try {
      const open = await keys.add('all', { allow: ['explorer', 'eth'] })
      const other = await keys.add('reader', { allow: ['eth'] })
      node = await createNode()
      server = await serve(node, { port: 0, apiKeys: keys.file })
      const get = async (path: string) => {
        const reply = await fetch(`${server.url}${path}`)
        return { status: reply.status, ...((await reply.json()) as object) }
      }
      expect(await get(`/${open}/api?${BALANCE}`)).toMatchObject({ status: '1', result: '0' })
      expect(await get(`/api?${BALANCE}&apikey=${open}`)).toMatchObject({ status: '1' })
      const form = new URLSearchParams(`${BALANCE}&apikey=${open}`)
      const posted = await fetch(`${server.url}/api`, { method: 'POST', body: form })
      expect(await posted.json()).toMatchObject({ status: '1' })
      for (const path of [
        `/api?${BALANCE}`,
        `/api?${BALANCE}&apikey=no`,
        `/no/api?${BALANCE}`,
        `/${other}/api?${BALANCE}`,
      ]) {
        expect(await get(path)).toMatchObject({ message: 'NOTOK', result: 'Invalid API Key' })
      }
    } finally {
      keys.remove()
    }
  })
})
