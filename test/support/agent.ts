/** The MCP SDK's own client, and the arguments of tools out of the methods' examples. */

import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { AnyMethod, Example } from '../../src/rpc/method.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** An agent that is connected to a server. */
export interface Agent {
  readonly client: Client
  /** The texts of a tool's answer, and whether it is a refusal. */
  tool(name: string, args?: Record<string, unknown>): Promise<{ texts: string[]; isError: boolean }>
  /** The answer as JSON. Throws its text where the tool refuses. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are what the tests look into
  json(name: string, args?: Record<string, unknown>): Promise<any>
  close(): Promise<void>
}

async function connected(transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport as Parameters<Client['connect']>[0])

  async function tool(name: string, args: Record<string, unknown> = {}) {
    const { content, isError = false } = (await client.callTool({ name, arguments: args })) as CallToolResult
    return { texts: content.map((one) => (one.type === 'text' ? one.text : '')), isError }
  }
  return {
    client,
    tool,
    async json(name, args) {
      const { texts, isError } = await tool(name, args)
      if (isError) throw new Error(texts.join('\n'))
      return JSON.parse(texts[0] ?? '')
    },
    close: () => client.close(),
  }
}

/** Connects over HTTP; `path` is `/mcp` or one with a key. */
export function agentAt(url: string, path = '/mcp'): Promise<Agent> {
  return connected(new StreamableHTTPClientTransport(new URL(path, url)))
}

/** Starts `tandem mcp` and connects to it. */
export function agentOf(args: readonly string[], env: Record<string, string> = {}): Promise<Agent> {
  const command = { command: process.execPath, args: [MAIN, 'mcp', ...args] }
  return connected(
    new StdioClientTransport({
      ...command,
      env: { ...(process.env as Record<string, string>), ...env },
      stderr: 'ignore',
    }),
  )
}

/** The arguments by name that the parameters of an example stand for. */
export function argumentsOf(
  { params }: AnyMethod,
  example: Pick<Example, 'params'>,
): Record<string, unknown> {
  return Object.fromEntries(example.params.map((value, at) => [params[at]?.name ?? String(at), value]))
}
