/** Real nats-servers with JetStream: one, or three that form a NATS cluster. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { NATS_SERVER } from './tools.ts'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Resolves when the server takes connections. */
async function launch(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(NATS_SERVER.path, [...args])
  await new Promise<void>((resolve, reject) => {
    let printed = ''
    child.stderr.on('data', (chunk) => {
      printed += chunk
      if (printed.includes('Server is ready')) resolve()
    })
    child.on('close', () => reject(new Error(`nats-server ended: ${printed}`)))
  })
  return child
}

/** A server that can be killed, held and started again with what it has stored. */
export interface NatsServer {
  readonly url: string
  readonly port: number
  kill(): Promise<void>
  /** SIGSTOP, and SIGCONT. */
  hold(): void
  resume(): void
  /** Starts it again after `kill`, with the text of another configuration file where one is given. */
  restart(config?: string): Promise<void>
  /** Kills it and removes its files. */
  remove(): Promise<void>
}

/** Makes a server without starting it. */
function server(port: number, further: readonly string[], config?: string): NatsServer {
  const folder = mkdtempSync(join(tmpdir(), 'nats-'))
  const args = ['-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port), ...further]
  let child: ChildProcess | undefined
  let configured = config
  const start = async (other?: string) => {
    configured = other ?? configured
    const file = join(folder, 'server.conf')
    if (configured !== undefined) writeFileSync(file, configured)
    child = await launch(configured === undefined ? args : [...args, '-c', file])
  }
  const kill = async () => {
    const killed = child
    child = undefined
    if (killed === undefined || killed.exitCode !== null || killed.signalCode !== null) return
    const ended = once(killed, 'close')
    killed.kill('SIGKILL')
    await ended
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    kill,
    hold: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
    restart: start,
    async remove() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts one server on a free port, with the text of a configuration file. */
export async function natsServer(config?: string): Promise<NatsServer> {
  const started = server(await freePort(), [], config)
  await started.restart()
  return started
}

/** Starts three servers that keep copies of each other's streams; `url` names them all. */
export async function natsCluster(): Promise<{
  readonly url: string
  readonly servers: readonly NatsServer[]
}> {
  const ports = await Promise.all(Array.from({ length: 6 }, freePort))
  const routes = ports.slice(3).map((port) => `nats-route://127.0.0.1:${port}`)
  const servers = routes.map((route, index) =>
    server(ports[index] as number, [
      ...['-n', `server-${index}`, '--cluster_name', 'test'],
      ...['--cluster', route.replace('nats-route', 'nats'), '--routes', routes.join(',')],
    ]),
  )
  await Promise.all(servers.map(({ restart }) => restart()))
  await untilCopiesAreKept(servers.map(({ url }) => url))
  return { url: servers.map(({ url }) => url).join(','), servers }
}

/** Servers that have just formed a cluster take seconds until each can hold a copy of a stream. */
async function untilCopiesAreKept(servers: readonly string[]): Promise<void> {
  const name = 'probe'
  for (let attempt = 1; ; attempt++) {
    const connection = await connect({ servers: [...servers] })
    try {
      const manager = await jetstreamManager(connection, { timeout: 3_000 })
      await manager.streams.add({ name, subjects: [name], num_replicas: servers.length })
      await manager.streams.delete(name)
      return
    } catch (error) {
      if (attempt === 10) throw error
    } finally {
      await connection.close()
    }
  }
}
