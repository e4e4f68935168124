/** A node without a Bitcoin chain loads none of its code. */
import { expect, it } from 'vitest'
import { linesOf } from '../support/loaded-texts.ts'

const TEXTS = { peg: 'the peg has no chain yet', chain: 'bad-txns-oversize', rpc: 'TestBlockValidity failed' }

/** Runs a node without one, calls the Bridge and the methods of the peg, then one with a Bitcoin chain. */
const PROGRAM = `
  const run = async (options) => {
    const node = await tandem.createNode(options)
    const server = await tandem.serve(node, { port: 0, ...(options.bitcoin && { bitcoinRpcPort: 0 }) })
    const [from] = await node.request({ method: 'eth_accounts' })
    const to = '0x0000000000000000000000000000000001000006'
    await node.request({ method: 'eth_sendTransaction', params: [{ from, to, value: '0x1', gas: '0x186a0' }] })
    await node.request({ method: 'btc_status' }).catch(() => {})
    for (const page of ['readyz', 'metrics']) await fetch(server.url + '/' + page)
    await server.close()
    await node.close()
  }
  await run({})
  process._rawDebug('with a Bitcoin chain')
  await run({ bitcoin: true })`

it('loads the code of the peg only for a node with the option "bitcoin"', async () => {
  const lines = (await linesOf(PROGRAM, TEXTS)).filter((line) => line !== '')
  expect(lines[0]).toBe('with a Bitcoin chain')
  expect(new Set(lines.slice(1))).toEqual(new Set(Object.keys(TEXTS).map((name) => `loaded ${name}`)))
})
