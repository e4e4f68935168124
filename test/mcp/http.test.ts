/** Tools, resources and prompts at `/mcp`, by the MCP SDK's own client over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve } from '../../src/index.ts'
import { groupOf, isTool } from '../../src/mcp/groups.ts'
import { toolName } from '../../src/mcp/method-tool.ts'
import { READING_GROUPS } from '../../src/options/mcp-settings.ts'
import type { AnyMethod } from '../../src/rpc/method.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { type Agent, agentAt, argumentsOf } from '../support/agent.ts'
import { type KeyFileOfTest, keyFile } from '../support/api-keys.ts'
import { DebuggerCase } from '../support/debugger-cases.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const ACCOUNT = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const TOOLS = METHODS.filter(isTool)
const withExample = TOOLS.filter(({ examples }) => examples.length > 0)

/** Runs the examples of a method by its tool on a fresh node. */
async function runExamples(method: AnyMethod): Promise<void> {
  for (const example of method.examples) {
    const served = await servedNode({}, { mcp: true, mcpAllow: ['all'] })
    const agent = await agentAt(served.url)
    try {
      for (const call of example.after ?? []) await served.node.request(call)
      const answer = await agent.json(toolName(method), argumentsOf(method, example))
      if (example.varies) expect(typeof answer).toBe(typeof example.result)
      else expect(answer).toEqual(JSON.parse(JSON.stringify(example.result)))
    } finally {
      await agent.close()
      await served.close()
    }
  }
}

describe('the tools over HTTP', () => {
  it.each(withExample.map((method) => [method.name, method] as const))('%s', (_, method) =>
    runExamples(method),
  )

  it('of the peg, and those whose arguments only an earlier answer gives', async () => {
    const served = await servedNode({ bitcoin: true }, { mcp: true, mcpAllow: ['all'] })
    const agent = await agentAt(served.url)
    const without = new Set(TOOLS.filter(({ examples }) => examples.length === 0).map(({ name }) => name))
    const run = (name: string, args?: Record<string, unknown>) => {
      without.delete(name)
      return agent.json(name, args)
    }
    const before = await agent.json('evm_snapshot')
    await agent.json('hardhat_setBalance', { address: ACCOUNT, balance: '0x10' })
    expect(JSON.stringify(await run('evm_diff', { before }))).toContain(ACCOUNT)
    await agent.json('evm_revert', { snapshot: before })
    const { address } = (await run('btc_status')).active
    const { bitcoinTransaction: hash, status } = await run('btc_pegIn', {
      address: ACCOUNT,
      satoshi: 1_000_000,
    })
    expect(status).toBe('registered')
    expect(JSON.stringify(await run('btc_transaction', { hash }))).toContain(address)
    expect(await run('btc_mine', { blocks: 2 })).toHaveLength(2)
    await run('fed_updateBridge')
    await run('btc_flush')
    expect(await run('btc_pegOut', { from: ACCOUNT, satoshi: 500_000 })).toMatchObject({ status: 'released' })
    await run('btc_faucet', { address, satoshi: 100_000 })
    const agreement = `0x${'11'.repeat(32)}`
    await run('btc_flyoverAddress', { agreement, user: address, contract: ACCOUNT, provider: address })
    expect(await run('btc_reorg', { depth: 1 })).toHaveLength(2)
    expect([...without]).toEqual([])
    await agent.close()
    await served.close()
  })

  it('are the same list of methods at every request, with schemas, hints and three for all else', async () => {
    const served = await servedNode({}, { mcp: true, mcpAllow: ['test'] })
    const agent = await agentAt(served.url)
    const { tools } = await agent.client.listTools()
    const expected = TOOLS.filter((method) => [...READING_GROUPS, 'test'].includes(groupOf(method) ?? ''))
    expect(tools.map(({ name }) => name)).toEqual([
      ...expected.map(toolName),
      'find_methods',
      'call_method',
      'read_more',
    ])
    const of = (name: string) => tools.find((tool) => tool.name === name)
    expect(of('eth_getBalance')).toMatchObject({
      inputSchema: { type: 'object', required: ['address'], properties: { block: { default: 'latest' } } },
      annotations: { readOnlyHint: true },
    })
    expect(of('evm_reset')?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true })
    expect(of('evm_mine')?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false })
    // What an agent has to read before it begins.
    expect(JSON.stringify(tools).length).toBeLessThan(64_000)
    await agent.close()
    await served.close()
  })
})

describe('an agent', () => {
  let served: ServedNode
  let agent: Agent
  beforeAll(async () => {
    served = await servedNode({}, { mcp: true })
    agent = await agentAt(served.url)
  })
  afterAll(async () => {
    await agent.close()
    await served.close()
  })

  it('may change nothing unless it is allowed, by no way', async () => {
    const { tools } = await agent.client.listTools()
    expect(tools.map(({ name }) => name)).not.toContain('evm_mine')
    const refused =
      'evm_mine is in the group test, which is not allowed: start the node with --mcp-allow test.'
    expect(await agent.tool('evm_mine')).toEqual({ texts: [refused], isError: true })
    expect(await agent.tool('call_method', { method: 'evm_mine' })).toEqual({
      texts: [refused],
      isError: true,
    })
    expect((await agent.tool('call_method', { method: 'eth_sign' })).texts[0]).toContain('group test')
    expect(await agent.json('eth_blockNumber')).toBe('0x0')
  })

  it('never gets methods of secrets', async () => {
    const texts = async (method: string) => (await agent.tool('call_method', { method })).texts
    for (const { name } of METHODS.filter((method) => groupOf(method) === undefined)) {
      const [text] = await texts(name)
      expect(text, name).toMatch(/is not for agents|There is no method/)
    }
    const found = await agent.tool('find_methods', { words: 'private key' })
    expect(found.texts[0]).toBe('No method that you may call has these words.')
  })

  it('finds methods that are no tools, and calls them', async () => {
    const [found = ''] = (await agent.tool('find_methods', { words: 'getProof' })).texts
    expect(found).toMatch(/^eth_getProof\(address, storageKeys, block\): .+\n\{"type":"object"/)
    const args = { address: ACCOUNT, storageKeys: [], block: 'latest' }
    const proof = await agent.json('call_method', { method: 'eth_getProof', arguments: args })
    expect(proof).toMatchObject({ address: ACCOUNT })
  })

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['eth_getBalance', {}, /^eth_getBalance needs the argument address: it takes address, block\.$/],
    [
      'eth_getBalance',
      { adress: ACCOUNT },
      /^eth_getBalance has no argument adress: it takes address, block\.$/,
    ],
    ['eth_getBalance', { address: '0x1' }, /"code":-32602/],
    ['eth_getBlockByNumber', { block: 'newest' }, /"code":-32602/],
    ['call_method', {}, /^Invalid method: /],
    ['call_method', { method: 'eth_nothing' }, /^There is no method eth_nothing: search by find_methods\.$/],
    ['call_method', { method: 'eth_chainId', arguments: [] }, /^Invalid arguments: /],
    ['read_more', { cursor: 'x' }, /^The cursor is not known/],
    ['read_more', { cursor: 'x', length: 1 }, /^Invalid length: /],
  ])('reads what is wrong: %s %j', async (name, args, message) => {
    const { texts, isError } = await agent.tool(name, args)
    expect(texts[0]).toMatch(message)
    expect(isError).toBe(true)
  })

  it('is refused tools, resources and prompts that do not exist', async () => {
    await expect(agent.client.callTool({ name: 'no_tool' })).rejects.toThrow('There is no tool no_tool.')
    for (const uri of [
      'tandem://nothing',
      'tandem://docs/../package.json',
      `tandem://contracts/${ACCOUNT}`,
    ]) {
      await expect(agent.client.readResource({ uri }), uri).rejects.toThrow('There is no resource')
    }
    await expect(agent.client.getPrompt({ name: 'no_prompt' })).rejects.toThrow(
      'There is no prompt no_prompt.',
    )
    const bad = { name: 'explain_failure', arguments: { transaction: '0x12' } }
    await expect(agent.client.getPrompt(bad)).rejects.toThrow('Invalid transaction')
    await expect(agent.client.getPrompt({ name: 'what_changed' })).rejects.toThrow('one of both')
  })

  it('reads a long answer in parts that are the whole answer', async () => {
    await served.call('hardhat_setCode', ACCOUNT, `0x${'5b'.repeat(20_000)}`)
    const whole = JSON.stringify(await served.call('eth_getCode', ACCOUNT, 'latest'))
    let { texts } = await agent.tool('eth_getCode', { address: ACCOUNT, block: 'latest' })
    let read = texts[0] ?? ''
    expect(read).toHaveLength(20_000)
    while (texts[1] !== undefined) {
      const cursor = /cursor (\S+)$/.exec(texts[1])?.[1]
      texts = (await agent.tool('read_more', { cursor, length: 9_000 })).texts
      read += texts[0]
    }
    expect(read).toBe(whole)
  })
})

describe('resources and prompts', () => {
  it('show contracts, sources and the stack of what failed', async () => {
    const of = await DebuggerCase.open('Old-0.8.35')
    const { address } = await of.deploy(5, `0x${'12'.repeat(32)}`)
    const failing = Object.keys(of.interface.fragments).length > 0
    expect(failing).toBe(true)
    const server = await serve(of.node, { port: 0, mcp: true })
    const agent = await agentAt(server.url)
    const text = async (uri: string) => {
      const [first] = (await agent.client.readResource({ uri })).contents
      return first !== undefined && 'text' in first ? first.text : ''
    }
    const contract = JSON.parse(await text(`tandem://contracts/${address}`))
    expect(contract).toMatchObject({ address, name: 'Old' })
    expect(await text(contract.sources[0])).toContain('contract Old')
    const hash = await of.send({ to: address, data: '0x12345678' })
    const [failure] = JSON.parse(await text('tandem://failures'))
    expect(failure).toMatchObject({ transactionHash: hash })
    expect(failure.stackTrace.length).toBeGreaterThan(0)
    const prompt = await agent.client.getPrompt({ name: 'explain_failure', arguments: { transaction: hash } })
    expect(JSON.stringify(prompt)).toContain('Old.sol')
    const last = await agent.client.getPrompt({ name: 'explain_failure' })
    expect(JSON.stringify(last)).toContain(hash)
    const changed = await agent.client.getPrompt({ name: 'what_changed', arguments: { transaction: hash } })
    expect(JSON.stringify(changed)).toContain('State before and after')
    const { resources } = await agent.client.listResources()
    const uris = resources.map(({ uri }) => uri)
    expect(uris).toContain('tandem://failures')
    expect(uris).toContain('tandem://docs/docs/guides/agents.md')
    expect(await text('tandem://docs/docs/guides/agents.md')).toContain('# Agents')
    await agent.close()
    await server.close()
    await of.node.close()
  })
})

describe('keys', () => {
  let keys: KeyFileOfTest
  let served: ServedNode
  const key: Record<string, string> = {}
  beforeAll(async () => {
    keys = keyFile()
    for (const name of ['reader', 'one', 'other']) key[name] = await keys.add(name)
    key.tester = await keys.add('tester', { allow: ['evm'] })
    key.limited = await keys.add('limited', { quota: '3/day' })
    served = await servedNode({}, { mcp: true, mcpAllow: ['all'], apiKeys: keys.file })
  })
  afterAll(async () => {
    await served.close()
    keys.remove()
  })

  it('open what they open of JSON-RPC', async () => {
    const agent = await agentAt(served.url, `/${key.reader}/mcp`)
    const { tools } = await agent.client.listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toContain('eth_getBalance')
    expect(names).not.toContain('evm_mine')
    await expect(agent.client.callTool({ name: 'evm_mine' })).rejects.toThrow('There is no tool evm_mine.')
    await agent.close()
    const tester = await agentAt(served.url, `/${key.tester}/mcp`)
    expect((await tester.tool('evm_mine')).isError).toBe(false)
    await tester.close()
  })

  it('are needed, and limit', async () => {
    await expect(agentAt(served.url)).rejects.toThrow()
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) {
      const { status } = await served.post(
        '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        ACCEPT,
        `/${key.limited}/mcp`,
      )
      statuses.push(status)
    }
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  it("do not read each other's answers", async () => {
    const first = await agentAt(served.url, `/${key.one}/mcp`)
    const second = await agentAt(served.url, `/${key.other}/mcp`)
    const { texts } = await first.tool('call_method', { method: 'rpc.discover', length: 1000 })
    const cursor = /cursor (\S+)$/.exec(texts[1] ?? '')?.[1]
    expect((await second.tool('read_more', { cursor })).isError).toBe(true)
    expect((await first.tool('read_more', { cursor })).isError).toBe(false)
    await first.close()
    await second.close()
  })
})

describe('the chains of a pool', () => {
  it('have tools of their own, and are made by the first that calls a method', async () => {
    const served = await servedNode({}, { mcp: true, mcpAllow: ['test'], pool: 1 })
    const agent = await agentAt(served.url, '/c/one/mcp')
    const { tools } = await agent.client.listTools()
    expect(tools.map(({ name }) => name)).toContain('evm_mine')
    await agent.json('evm_mine')
    expect(await agent.json('eth_blockNumber')).toBe('0x1')
    expect(await served.call('eth_blockNumber')).toBe('0x0')
    const full = await agentAt(served.url, '/c/two/mcp')
    expect(await full.tool('eth_blockNumber')).toEqual({
      texts: [expect.stringContaining('drop one with DELETE /c/<name>')],
      isError: true,
    })
    const message = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    for (const path of ['/c/-/mcp', '/c/one/two/mcp', '/c/mcp'])
      expect((await served.post(message, ACCEPT, path)).body.result, path).not.toEqual({})
    await Promise.all([agent.close(), full.close()])
    await served.close()
  })

  it('have none unless they are turned on', async () => {
    const served = await servedNode({}, { pool: 1 })
    await expect(agentAt(served.url, '/c/one/mcp')).rejects.toThrow()
    await served.close()
  })

  it('need the key behind the name', async () => {
    const keys = keyFile()
    const key = await keys.add('reader')
    const served = await servedNode({}, { mcp: true, pool: 1, apiKeys: keys.file })
    await expect(agentAt(served.url, '/c/one/mcp')).rejects.toThrow()
    const agent = await agentAt(served.url, `/c/one/${key}/mcp`)
    expect(await agent.json('eth_blockNumber')).toBe('0x0')
    await agent.close()
    await served.close()
    keys.remove()
  })
})

const ACCEPT = { Accept: 'application/json, text/event-stream' }

describe('requests that are no messages of the protocol', () => {
  let served: ServedNode
  beforeAll(async () => {
    served = await servedNode({}, { mcp: true })
  })
  afterAll(() => served.close())

  const status = async (body: string, headers: Record<string, string> = ACCEPT) =>
    (
      await fetch(new URL('/mcp', served.url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body,
      })
    ).status

  it('are refused by their status', async () => {
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    expect(await status(ping)).toBe(200)
    expect(await status(`[${ping}]`)).toBe(400)
    expect(await status('{')).toBe(400)
    expect(await status(`${'['.repeat(5000)}`)).toBe(400)
    expect(await status(`{"a":${'['.repeat(5000)}`)).toBe(400)
    expect(await status(ping, { ...ACCEPT, 'Content-Type': 'text/plain' })).toBe(415)
    expect(await status(ping, { ...ACCEPT, Origin: 'https://elsewhere.example' })).toBe(403)
    expect(await status(' '.repeat(6_000_000))).toBe(413)
    expect((await fetch(new URL('/mcp', served.url))).status).toBe(405)
  })

  it('reach JSON-RPC where the setting is off', async () => {
    const plain = await servedNode()
    const { body } = await plain.post('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}', {}, '/mcp')
    expect(body.result).toBe('0x21')
    await plain.close()
  })
})
