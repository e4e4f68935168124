/** Real nats-servers with JetStream: one, or three that form a NATS cluster. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NATS_SERVER } from './tools.ts'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Resolves when the server takes connections and its JetStream is ready. */
async function launch(args: readonly string[], isReady: RegExp): Promise<ChildProcess> {
  const child = spawn(NATS_SERVER.path, [...args])
  await new Promise<void>((resolve, reject) => {
    let printed = ''
    child.stderr.on('data', (chunk) => {
      printed += chunk
      if (isReady.test(printed)) resolve()
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
  /** Starts it again after `kill`. */
  restart(): Promise<void>
  /** Kills it and removes its files. */
  remove(): Promise<void>
}

async function server(port: number, further: readonly string[], isReady: RegExp): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'nats-'))
  const args = ['-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port), ...further]
  let child: ChildProcess | undefined
  const start = async () => {
    child = await launch(args, isReady)
  }
  const kill = async () => {
    const killed = child
    child = undefined
    if (killed === undefined || killed.exitCode !== null || killed.signalCode !== null) return
    const ended = once(killed, 'close')
    killed.kill('SIGKILL')
    await ended
  }
  if (further.length === 0) await start()
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

/** Starts one server on a free port. */
export async function natsServer(): Promise<NatsServer> {
  return server(await freePort(), [], /Server is ready/)
}

/** Starts three servers that keep copies of each other's streams; `url` names them all. */
export async function natsCluster(): Promise<{
  readonly url: string
  readonly servers: readonly NatsServer[]
}> {
  const ports = await Promise.all(Array.from({ length: 6 }, freePort))
  const routes = ports.slice(3).map((port) => `nats-route://127.0.0.1:${port}`)
  const servers = await Promise.all(
    routes.map((route, index) =>
      server(
        ports[index] as number,
        [
          ...['-n', `server-${index}`, '--cluster_name', 'test'],
          ...['--cluster', route.replace('nats-route', 'nats'), '--routes', routes.join(',')],
        ],
        /JetStream cluster new metadata leader|JetStream cluster recovered state|Self is new JetStream cluster metadata leader/,
      ),
    ),
  )
  await Promise.all(servers.map(({ restart }) => restart()))
  return { url: servers.map(({ url }) => url).join(','), servers }
}
