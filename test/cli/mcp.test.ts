/** `tandem mcp` over standard input and output, by the MCP SDK's own client. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isTool } from '../../src/mcp/groups.ts'
import { toolName } from '../../src/mcp/method-tool.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { type Agent, agentOf, argumentsOf } from '../support/agent.ts'
import { keyFile } from '../support/api-keys.ts'
import { runCommand } from '../support/command.ts'
import { rpc } from '../support/json-rpc.ts'
import { servedNode } from '../support/served-node.ts'

const TOOLS = METHODS.filter((method) => isTool(method) && method.examples.length > 0)

describe('with a node of its own', () => {
  let agent: Agent
  let url: string
  beforeAll(async () => {
    agent = await agentOf(['--allow', 'all'])
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(agent.client.getInstructions() ?? '')?.[0] ?? ''
  })
  afterAll(() => agent.close())

  it('names the address of the node, where others reach it', async () => {
    expect(await rpc(url, 'eth_chainId')).toBe(await agent.json('call_method', { method: 'eth_chainId' }))
  })

  it.each(TOOLS.map((method) => [method.name, method] as const))('runs %s', async (_, method) => {
    for (const example of method.examples) {
      await rpc(url, 'evm_reset')
      for (const call of example.after ?? []) await rpc(url, call.method, call.params)
      const { texts, isError } = await agent.tool(toolName(method), argumentsOf(method, example))
      expect(isError, texts[0]).toBe(false)
      expect(typeof JSON.parse(texts[0] ?? '')).toBe(typeof example.result)
    }
  })
})

describe('with a running node', () => {
  it('drives it within its groups, and never shows its key', async () => {
    const keys = keyFile()
    const key = await keys.add('agent', { allow: ['eth', 'evm', 'rpc', 'debug'] })
    const served = await servedNode({}, { apiKeys: keys.file })
    const agent = await agentOf(['--url', `${served.url}/${key}`])
    expect(await agent.json('eth_blockNumber')).toBe('0x0')
    expect((await agent.tool('evm_mine')).texts[0]).toBe(
      'evm_mine is in the group test, which is not allowed: start tandem mcp with --allow test.',
    )
    expect(agent.client.getInstructions()).toContain(served.url)
    const shown = [
      agent.client.getInstructions(),
      await agent.client.listTools(),
      await agent.client.listResources(),
      await agent.client.getPrompt({ name: 'explain_failure' }),
    ]
    await served.close()
    shown.push(await agent.tool('eth_blockNumber').then(({ texts }) => texts.join()))
    expect(shown.at(-1)).toContain('No node answers')
    expect(JSON.stringify(shown)).not.toContain(key)
    await agent.close()
    keys.remove()
  })
})

describe('refusals', () => {
  it.each([
    [['--allow', 'everything'], '--allow expects groups of tools: test, peg or all'],
    [['--url', 'http://127.0.0.1:1', '--port', '1'], '--port is for a node of its own'],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(['mcp', ...args])
    expect(stderr).toContain(message)
    expect(stdout).toBe('')
    expect(code).not.toBe(0)
  })
})
