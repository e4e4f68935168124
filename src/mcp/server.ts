/** The MCP server of one caller: tools, resources and prompts, by the SDK's server (spec 2025-06-18 and later). */
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { NodeError } from '../errors.ts'
import { type Logger, silentLogger } from '../logger.ts'
import type { Access } from './access.ts'
import { Prompts } from './prompts.ts'
import { Resources } from './resources.ts'
import { Tools } from './tools.ts'

/** What a server is made of. */
export interface McpParts {
  readonly access: Access
  readonly version: string
  /** Where the node answers JSON-RPC, without secrets; absent where it is not known. */
  readonly address?: string | undefined
  readonly logger?: Logger | undefined
}

function instructions({ access: { groups }, address }: McpParts): string {
  const at = address === undefined ? '' : ` Its JSON-RPC is at ${address}.`
  return (
    `A node of a merge-mined, EVM-compatible chain (Rootstock).${at} Open groups of tools: ${[...groups].join(', ')}. ` +
    'Quantities are hex with 0x, amounts wei. Methods that are not tools: find_methods, then call_method. ' +
    'Long answers are cut and end with a cursor for read_more. Guides: the resources tandem://docs/….'
  )
}

/** Makes the server of one caller; connect it to a transport. */
export function createMcpServer(parts: McpParts): Server {
  const { access, version, logger = silentLogger } = parts
  const tools = new Tools(access)
  const names = new Set(tools.methods.map(({ name }) => name))
  const resources = new Resources(access, names)
  const prompts = new Prompts(access, names)
  const server = new Server(
    { name: 'tandem', title: 'Tandem', version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: instructions(parts) },
  )

  /** An error of ours says no more than a node would. */
  async function answered<T>(run: () => T | Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (error instanceof NodeError) throw new McpError(ErrorCode.InvalidParams, error.message)
      logger.error('a request of an agent failed unexpectedly', { error })
      throw new McpError(ErrorCode.InternalError, 'Internal server error')
    }
  }

  server.setRequestHandler(ListToolsRequestSchema, () => answered(() => ({ tools: tools.list() })))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    answered(() => tools.run(params.name, params.arguments ?? {})),
  )
  server.setRequestHandler(ListResourcesRequestSchema, () =>
    answered(async () => ({ resources: await resources.list() })),
  )
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () =>
    answered(() => ({ resourceTemplates: resources.templates() })),
  )
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) =>
    answered(() => resources.read(params.uri)),
  )
  server.setRequestHandler(ListPromptsRequestSchema, () => answered(() => ({ prompts: [...prompts.list()] })))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) =>
    answered(() => prompts.get(params.name, params.arguments)),
  )
  return server
}
