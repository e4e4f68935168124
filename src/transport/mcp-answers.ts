/**
 * Answers messages of the Model Context Protocol over HTTP, each by itself: no session is kept between two requests, so
 * nothing outlives a caller, and a restart or another node of a cluster goes unnoticed.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { Logger } from '../logger.ts'
import { Answers } from '../mcp/answers.ts'
import { type AnsweringNode, nodeAccess } from '../mcp/node-access.ts'
import { createMcpServer } from '../mcp/server.ts'
import type { ToolGroup } from '../options/mcp-settings.ts'
import type { Session } from '../rpc/session.ts'
import { packageVersion } from '../store/package-files.ts'

/** The header fields that the protocol reads. */
const FIELDS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id'] as const

const BATCH = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: -32600,
    message: 'Send one message at a time: the protocol has no batches since 2025-06-18',
  },
})

/** The answers of a server to all agents. */
export class AgentAnswers {
  readonly #groups: ReadonlySet<ToolGroup>
  readonly #logger: Logger
  readonly #answers = new Answers()
  readonly #version = packageVersion()

  constructor(groups: ReadonlySet<ToolGroup>, logger: Logger) {
    this.#groups = groups
    this.#logger = logger
  }

  /** The reply to one message about a node; its text is empty where there is nothing to say. */
  async answer(
    node: AnsweringNode,
    session: Session,
    headers: IncomingHttpHeaders,
    body: string,
  ): Promise<{ readonly status: number; readonly text: string }> {
    if (body.trimStart().startsWith('[')) return { status: 400, text: BATCH }
    const access = nodeAccess(node, session, {
      groups: this.#groups,
      answers: this.#answers,
      howToAllow: (group) => `start the node with --mcp-allow ${group}`,
    })
    const server = createMcpServer({ access, version: this.#version, logger: this.#logger })
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    const response = await transport.handleRequest(
      new Request('http://node/mcp', { method: 'POST', headers: fieldsOf(headers), body }),
    )
    const text = await response.text()
    await server.close()
    return { status: response.status, text }
  }
}

function fieldsOf(headers: IncomingHttpHeaders): [string, string][] {
  return FIELDS.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value] satisfies [string, string]] : []
  })
}
