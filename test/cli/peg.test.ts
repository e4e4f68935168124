import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillPegCommand } from '../../src/cli/peg.ts'
import { createNode, type Node, type Server, serve } from '../../src/index.ts'
import { runFilled } from '../support/commands.ts'
import { COW } from '../support/noting-chain.ts'

const RECEIVER = '0x00000000000000000000000000000000000b0b01'

let node: Node
let server: Server
beforeAll(async () => {
  node = await createNode({ bitcoin: true, frozenClock: true })
  server = await serve(node, { port: 0 })
})
afterAll(async () => {
  await server.close()
  await node.close()
})

const run = (...args: string[]) => runFilled(fillPegCommand, [...args, '--url', server.url])

describe('tandem peg', () => {
  it('brings coins in and out, and prints where they are', async () => {
    const incoming = await run('in', '0.5', '--to', RECEIVER)
    expect(incoming.error).toBeUndefined()
    expect(incoming.output).toMatch(
      /^Status {7}registered\nBitcoin {6}[0-9a-f]{64}\nTransaction {2}0x[0-9a-f]{64}$/,
    )
    const outgoing = await run('out', '0.01', '--from', COW, '--no-wait')
    expect(outgoing.output).toMatch(/^Status {7}waiting\nTransaction/)
    const { output } = await run('status')
    expect(output).toMatch(/^Bitcoin {6}height 453, [0-9a-f]{64}, mempool 0\nBridge {7}height 453\n/)
    expect(output).toContain('Locked       0.5 of at most 1000 BTC')
    expect(output).toMatch(/Peg-out {6}requested: 0\.01 BTC to [mn]\w+$/m)
    expect(output).toMatch(/Past {9}peg-in [0-9a-f]{64}, 0\.5 BTC, registered$/)
    const json = await run('status', '--json')
    expect(JSON.parse(json.output)).toMatchObject({ locked: 50_000_000 })
  })

  it('says why coins do not move', async () => {
    expect((await run('in', 'half', '--to', RECEIVER)).error?.message).toMatch(/expects bitcoins .* not half/)
    expect((await run('in', '0.001', '--to', RECEIVER)).error?.message).toMatch(/below the minimum of 500000/)
    expect((await run('out', '0.00001', '--from', COW)).output).toBe(
      `Status       rejected: the amount is below the minimum\nTransaction  ${node.engine.queries.head().block.transactions[0]?.hash}`,
    )
  })
})
