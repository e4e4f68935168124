/** Nodes of one cluster as processes, which are killed and stopped; and clients that note what was acknowledged. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningCommand, startCommand } from './command.ts'

/** A node process. */
export interface NodeProcess extends RunningCommand {
  readonly dataDir: string
  /** Starts the node again on its data directory, after it ended. */
  again(): Promise<NodeProcess>
}

/** The body of `/readyz`. */
export interface Readiness {
  readonly status: string
  readonly head: number
  readonly role: 'leader' | 'follower'
  readonly term: number
  readonly lag: number
}

/** Nodes of a cluster in processes; `remove` kills them and deletes their files. */
export function processCluster(natsUrl: string, clusterName: string, flags: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'))
  const running = new Set<RunningCommand>()

  async function start(name: string, further: readonly string[] = []): Promise<NodeProcess> {
    const dataDir = join(folder, name)
    const where = ['--data-dir', dataDir]
    const args = ['--cluster', natsUrl, '--cluster-name', clusterName, ...where, ...flags, ...further]
    const command = await startCommand(args)
    running.add(command)
    return { ...command, dataDir, again: () => start(name, further) }
  }

  return {
    start,
    async remove() {
      await Promise.all([...running].map((command) => command.end('SIGKILL')))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The readiness page of a node; `undefined` when it does not answer. */
export async function readinessOf({ url }: Pick<NodeProcess, 'url'>): Promise<Readiness | undefined> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) })
    return (await response.json()) as Readiness
  } catch {
    return undefined
  }
}

/** Has LevelDB's log the block of a hash? What was acknowledged comes there a moment later, from the write-ahead log. */
export function hasInDatabase({ dataDir }: NodeProcess, hash: string): boolean {
  const folder = join(dataDir, 'db')
  const bytes = Buffer.from(hash.slice(2), 'hex')
  return readdirSync(folder).some(
    (name) => name.endsWith('.log') && readFileSync(join(folder, name)).includes(bytes),
  )
}

/** The leader among these nodes. */
export async function leaderAmong(nodes: readonly NodeProcess[]): Promise<NodeProcess | undefined> {
  const states = await Promise.all(nodes.map(readinessOf))
  return nodes[states.findIndex((state) => state?.role === 'leader')]
}

/** The error of a JSON-RPC reply. */
export class RpcFailure extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Calls a method over HTTP. Throws `RpcFailure`, and the errors of `fetch` where the node is gone. */
// biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
export async function callAt(url: string, method: string, ...params: unknown[]): Promise<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(15_000),
  })
  const { result, error } = (await response.json()) as {
    result?: unknown
    error?: { code: number; message: string }
  }
  if (error !== undefined) throw new RpcFailure(error.code, error.message)
  return result
}

/**
 * Sends transactions one after another until it is stopped, and notes what was acknowledged. A connection may break while
 * the node is not `expected` to live.
 */
export function startClient(url: () => string, from: string, expected: () => boolean = () => true) {
  const acknowledged: string[] = []
  /** Code and message in place of a hash; of a broken connection to a node that should live as well. */
  const failures: string[] = []
  let lastAt = 0
  let isStopped = false
  const running = (async () => {
    while (!isStopped) {
      const lived = expected()
      try {
        acknowledged.push(await callAt(url(), 'eth_sendTransaction', { from, to: from, value: '0x1' }))
        lastAt = performance.now()
      } catch (error) {
        if (error instanceof RpcFailure) failures.push(`${error.code} ${error.message}`)
        else if (lived && expected()) failures.push(String(error))
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  return {
    acknowledged,
    failures,
    /** `performance.now()` of the last acknowledgement. */
    get lastAt() {
      return lastAt
    },
    async stop() {
      isStopped = true
      await running
    },
  }
}
