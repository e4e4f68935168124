/** `tandem start`: creates a node, serves it, and closes both in order. */
import { createNode, type Node } from '../node.ts'
import { serve } from '../transport/server.ts'
import { bannerLines } from './banner.ts'
import { createConsoleReporter } from './console-reporter.ts'
import { createFailureTrees, type FailureTrees } from './failure-trees.ts'
import type { LineWriter, OrderedWriter } from './line-writer.ts'
import { isPrinted, printsActivity, type Reporter } from './reporter.ts'
import type { Settings } from './settings.ts'

/** Where the command prints. */
export interface Writers {
  readonly output: LineWriter
  readonly errors: LineWriter
}

/** Where a running node prints. */
export interface NodeWriters extends Writers {
  readonly output: OrderedWriter
}

async function createReporter(
  { terminal }: Settings,
  { output, errors }: NodeWriters,
  trees: FailureTrees,
): Promise<Reporter> {
  if (!terminal.json) return createConsoleReporter(terminal, output, errors, trees)
  // pino is loaded for JSON output only.
  const { createJsonReporter } = await import('./json-reporter.ts')
  return createJsonReporter(terminal, output)
}

/** Opens the port and reports it; closes the node when that fails. */
async function open(node: Node, settings: Settings, reporter: Reporter, output: LineWriter) {
  try {
    const server = await serve(node, settings.serve)
    const { quiet, json } = settings.terminal
    const { dataDir, mining } = node.options
    if (!quiet && !json && isPrinted('info', settings.terminal)) {
      for (const line of bannerLines({ engine: node.engine, dataDir, mining })) output.write(line)
    }
    reporter.ready({
      url: server.url,
      ws: server.wsUrl,
      ...(server.metricsUrl !== undefined && { metrics: server.metricsUrl }),
      chainId: node.engine.config.chainId,
      head: node.engine.queries.head().block.header.number,
      pid: process.pid,
    })
    return server
  } catch (error) {
    await node.close()
    throw error
  }
}

/**
 * Runs a node until `stopped` resolves, then closes sockets and database.
 * Throws `NodeError` and `ListenError` when it cannot start.
 */
export async function start(settings: Settings, writers: NodeWriters, stopped: Promise<void>): Promise<void> {
  const trees = createFailureTrees()
  const reporter = await createReporter(settings, writers, trees)
  const node = await createNode({
    ...settings.node,
    logger: reporter.logger,
    // Without a listener the dispatcher does not read the clock.
    onCall: printsActivity(settings.terminal) ? reporter.call : undefined,
  })
  node.engine.events.on('chain', reporter.chain)
  node.engine.events.on('console', reporter.console)
  trees.attach(node.engine)
  const server = await open(node, settings, reporter, writers.output)
  const { reloadCertificate } = server
  if (reloadCertificate !== undefined) process.on('SIGHUP', reloadCertificate)
  await stopped
  await server.close()
  await node.close()
}
