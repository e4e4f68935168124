/** `tandem mcp`: tools for agents (Model Context Protocol) over standard input and output, on a node of its own or a running one. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { NodeError } from '../errors.ts'
import { type Logger, silentLogger } from '../logger.ts'
import type { Access } from '../mcp/access.ts'
import { Answers } from '../mcp/answers.ts'
import { nodeAccess } from '../mcp/node-access.ts'
import { createNodeCaller } from '../mcp/node-caller.ts'
import { createMcpServer } from '../mcp/server.ts'
import { groupsAllowed, MCP_SETTINGS, type ToolGroup } from '../options/mcp-settings.ts'
import { checkSetting } from '../options/setting.ts'
import { METHODS } from '../rpc/methods/index.ts'
import { openSession } from '../rpc/session.ts'
import { packageVersion } from '../store/package-files.ts'
import { BESIDE_COMMAND } from './beside-node.ts'
import { createRemote } from './remote.ts'
import { hidden } from './secrets.ts'
import { typedFlags } from './setting-flags.ts'
import { readSettings, type TypedFlags } from './settings.ts'
import type { NodeWriters } from './start.ts'
import { addStartFlags, endAtSignal, loadStart, untilSignal } from './start-command.ts'

const URL_FLAG = 'url'
const ALLOW_FLAG = 'allow'

const EXAMPLES = `
Examples:
  tandem mcp                               a chain in memory that agents can read
  tandem mcp --allow test                  and change
  tandem mcp --url http://127.0.0.1:4444   a running node`

const Discovered = z.object({ methods: z.array(z.object({ name: z.string() })) })

/** The groups that the flag allows. Throws `invalid-options`. */
function groupsOf(typed: string | true | undefined): ReadonlySet<ToolGroup> {
  const { mcpAllow } = MCP_SETTINGS
  const text = typed === undefined || typed === true ? '' : typed
  const groups = checkSetting(mcpAllow, mcpAllow.fromText(text), `--${ALLOW_FLAG}`)
  return groupsAllowed(z.array(z.string()).parse(groups))
}

const howToAllow = (group: ToolGroup) => `start tandem mcp with --${ALLOW_FLAG} ${group}`

/** Serves the standard streams until the agent closes them. */
async function serveStandardStreams(
  access: Access,
  address: string | undefined,
  logger: Logger,
): Promise<void> {
  const server = createMcpServer({ access, version: packageVersion(), address, logger })
  const closed = new Promise<void>((resolve) => {
    for (const event of ['end', 'close'] as const) process.stdin.once(event, resolve)
    // An agent that is gone reads no more.
    process.stdout.once('error', () => resolve())
  })
  await server.connect(new StdioServerTransport())
  await closed
  await server.close()
}

/** Drives a running node. Throws `NodeError` when none answers. */
async function serveRemote(url: string, groups: ReadonlySet<ToolGroup>): Promise<void> {
  const remote = createRemote(url)
  const { methods } = await remote.call('rpc.discover', [true], Discovered)
  const names = new Set(methods.map(({ name }) => name))
  const access: Access = {
    node: createNodeCaller((text) => remote.exchange(text)),
    methods: METHODS.filter(({ name }) => names.has(name)),
    groups,
    answers: new Answers(),
    owner: '',
    howToAllow,
  }
  await serveStandardStreams(access, remote.shown, silentLogger)
}

/** Runs a node and serves it until the agent is gone, or a signal comes. */
async function serveOwn(
  flags: TypedFlags,
  groups: ReadonlySet<ToolGroup>,
  errors: NodeWriters['errors'],
): Promise<void> {
  endAtSignal()
  const settings = readSettings(flags, process.env, BESIDE_COMMAND)
  const start = await loadStart()
  let isGone = () => {}
  const gone = new Promise<void>((resolve) => {
    isGone = resolve
  })
  // Standard output belongs to the protocol.
  await start(settings, { output: errors, errors }, () => Promise.race([gone, untilSignal()]), {
    announce({ dispatcher, options }, { url }) {
      const answers = new Answers()
      const access = nodeAccess(dispatcher, openSession('mcp'), { groups, answers, howToAllow })
      const { logger = silentLogger } = options
      serveStandardStreams(access, url, logger).then(isGone, (error) => {
        logger.error('the agent is not served any more', { error })
        isGone()
      })
    },
  })
}

/** Fills in the command. Its action throws `NodeError` and `ListenError`. */
export function fillMcpCommand(command: Command, { errors }: NodeWriters): void {
  addStartFlags(command)
  command.optionsGroup('Agents:')
  command
    .addOption(hidden(new Option(`--${URL_FLAG} <url>`, 'a running node, in place of one of its own')))
    .option(
      `--${ALLOW_FLAG} <groups>`,
      'groups of tools beside those that change nothing (read, simulate, trace): test, peg or all',
    )
    .addHelpText('after', EXAMPLES)
    .allowExcessArguments(false)
    .action(async () => {
      const { url, allow, ...rest }: Record<string, string | true> = Object.fromEntries(typedFlags(command))
      const groups = groupsOf(allow)
      if (typeof url !== 'string') return serveOwn(new Map(Object.entries(rest)), groups, errors)
      const [other] = Object.keys(rest)
      if (other === undefined) return serveRemote(url, groups)
      throw new NodeError(
        'invalid-options',
        `--${other} is for a node of its own, and --${URL_FLAG} names a running one.`,
      )
    })
}
