/** `tandem start`: creates a node, serves it, and closes both in order. */
import { createNode, type Node } from '../node/node.ts'
import { missingPackage } from '../node/observers.ts'
import { isLoopback } from '../options/addresses.ts'
import type { StartedSdk } from '../telemetry/sdk.ts'
import { type Server, serve } from '../transport/server.ts'
import { bannerLines } from './banner.ts'
import { withChaosFile } from './chaos-file.ts'
import { createConsoleReporter } from './console-reporter.ts'
import { createFailureTrees, type FailureTrees } from './failure-trees.ts'
import type { LineWriter, OrderedWriter } from './line-writer.ts'
import { createReadyFile, type ReadyFile } from './ready-file.ts'
import { isPrinted, printsActivity, type Reporter } from './reporter.ts'
import type { Settings } from './settings.ts'
import { keepState, loadAtStart, requireWritable, withGenesisFile } from './state-files.ts'
import { limitHeapGrowth } from './v8-settings.ts'

/** Where the command prints. */
export interface Writers {
  readonly output: LineWriter
  readonly errors: LineWriter
}

/** Where a running node prints. */
export interface NodeWriters extends Writers {
  readonly output: OrderedWriter
  readonly errors: OrderedWriter
}

/** How a command differs from `tandem start`; absent members are as there. */
export interface StartStyle {
  /** Prints what runs, once the port accepts connections. */
  announce?(node: Node, server: Server, output: LineWriter): void
  /** Runs before the port is opened. */
  prepare?(node: Node): void
  /** `announce` warns of an open port. */
  readonly warnsItself?: boolean
  /** Print no call trees of failures. */
  readonly withoutTrees?: boolean
  /** Print no texts of console calls. */
  readonly withoutConsole?: boolean
}

async function createReporter(
  { terminal }: Settings,
  { output, errors }: NodeWriters,
  trees: FailureTrees | undefined,
): Promise<Reporter> {
  if (!terminal.json) return createConsoleReporter(terminal, output, errors, trees)
  // pino is loaded for JSON output only.
  const { createJsonReporter } = await import('./json-reporter.ts')
  return createJsonReporter(terminal, output)
}

function announceReady(
  node: Node,
  server: Server,
  { terminal }: Settings,
  reporter: Reporter,
  output: LineWriter,
) {
  const { dataDir, mining, mixedMining, evm, bitcoin } = node.options
  const federation = bitcoin ? node.options.federation : undefined
  if (!terminal.quiet && !terminal.json && isPrinted('info', terminal)) {
    const parts = {
      engine: node.engine,
      dataDir,
      mining,
      mixedMining,
      evm,
      federation,
      takesOver: node.options.federationTakeover,
      bitcoinRpc: node.bitcoin?.origin ?? server.bitcoinRpcUrl,
      explorer: server.explorerUrl,
    }
    for (const line of bannerLines(parts)) output.write(line)
  }
  reporter.ready({
    url: server.url,
    ws: server.wsUrl,
    ...(server.metricsUrl !== undefined && { metrics: server.metricsUrl }),
    ...(server.ipcPath !== undefined && { ipc: server.ipcPath }),
    chainId: node.engine.config.chainId,
    head: node.engine.queries.head().block.header.number,
    pid: process.pid,
  })
}

/** The warning of a port that is open to everybody; `undefined` for any other. */
export function openPortWarning({ host, unsafeOpen, apiKeys }: Settings['serve']): string | undefined {
  if (host === undefined || isLoopback(host) || unsafeOpen !== true || apiKeys !== undefined) return undefined
  return `listening on ${host}: anyone who reaches the port can use the accounts and move the chain`
}

/** OpenTelemetry's SDK, where the settings ask for it; its code is not loaded otherwise. Throws `invalid-options` without it. */
async function sdkOf({ node }: Settings): Promise<StartedSdk | undefined> {
  if (node.telemetry !== true) return undefined
  const { startSdk } = await import('../telemetry/sdk.ts').catch((error) => {
    throw missingPackage('@opentelemetry/sdk-node', error)
  })
  return startSdk()
}

/** Opens the port, calls `untilStopped`, and reports readiness; closes the node when any of it fails. */
async function open(
  node: Node,
  settings: Settings,
  reporter: Reporter,
  output: LineWriter,
  { prepare, announce, warnsItself = false }: StartStyle,
  ready: ReadyFile | undefined,
  untilStopped: () => Promise<void>,
): Promise<{ readonly server: Server; readonly stopped: Promise<void> }> {
  try {
    await loadAtStart(node, settings.files.state ?? {})
    prepare?.(node)
    const server = await serve(node, settings.serve)
    const stopped = untilStopped()
    await ready?.write(server.url).catch(async (error) => {
      await server.close()
      throw error
    })
    const warning = openPortWarning(settings.serve)
    if (warning !== undefined && !warnsItself) reporter.logger.warn(warning)
    if (announce === undefined) announceReady(node, server, settings, reporter, output)
    else announce(node, server, output)
    return { server, stopped }
  } catch (error) {
    await node.close()
    throw error
  }
}

/**
 * Runs a node until what `untilStopped` gives resolves, then closes sockets and database; `untilStopped` is called once the
 * port is open.
 * Throws `NodeError` and `ListenError` when it cannot start.
 */
export async function start(
  settings: Settings,
  writers: NodeWriters,
  untilStopped: () => Promise<void>,
  style: StartStyle = {},
): Promise<void> {
  await requireWritable(settings.files.state ?? {})
  const sdk = await sdkOf(settings)
  const { readyFile } = settings.terminal
  const ready = readyFile === undefined ? undefined : createReadyFile(readyFile)
  const trees = style.withoutTrees ? undefined : createFailureTrees()
  const reporter = await createReporter(settings, writers, trees)
  // hardhat_setLoggingEnabled, anvil_setLoggingEnabled
  let isEnabled = () => true
  const whileEnabled =
    <A extends readonly unknown[]>(report: (...args: A) => void) =>
    (...args: A) => {
      if (isEnabled()) report(...args)
    }
  const node = await createNode({
    ...(await withChaosFile(await withGenesisFile(settings.node, settings.files.init))),
    logger: reporter.logger,
    // Without a listener the dispatcher does not read the clock.
    onCall: printsActivity(settings.terminal) ? whileEnabled(reporter.call) : undefined,
  })
  const { events } = node.engine
  isEnabled = () => node.engine.dev.isLoggingEnabled()
  events.on('chain', whileEnabled(reporter.chain))
  if (!style.withoutConsole) events.on('console', whileEnabled(reporter.console))
  trees?.attach(node)
  const { server, stopped } = await open(node, settings, reporter, writers.output, style, ready, untilStopped)
  // The live heap of a chain in memory grows with the chain: collecting it more often takes 3 to 4 % more processor time.
  if (node.options.dataDir !== undefined) limitHeapGrowth()
  const { reloadCertificate } = server
  if (reloadCertificate !== undefined) process.on('SIGHUP', reloadCertificate)
  const keeper = keepState(node, settings.files.state ?? {}, (error) =>
    reporter.logger.error('the state file was not written', { error }),
  )
  await stopped
  ready?.remove()
  await server.close()
  try {
    await keeper.end()
  } finally {
    await node.close()
    // The collector may be gone.
    await sdk?.shutdown().catch(() => {})
  }
}
