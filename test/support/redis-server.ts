/** A real redis-server. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { REDIS_SERVER } from './tools.ts'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Starts one that keeps nothing on disk; resolves when it takes connections. */
async function launch(port: number): Promise<ChildProcess> {
  const where = ['--port', String(port), '--bind', '127.0.0.1']
  const child = spawn(REDIS_SERVER.path, [...where, '--save', '', '--appendonly', 'no'])
  await new Promise<void>((resolve, reject) => {
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
      if (/ready to accept connections/i.test(printed)) resolve()
    })
    child.on('close', () => reject(new Error(`redis-server ended: ${printed}`)))
  })
  return child
}

/** A server that can be killed, held and started again on its port. */
export async function redisServer() {
  const port = await freePort()
  let child = await launch(port)
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    hold: () => child.kill('SIGSTOP'),
    async restart() {
      await kill()
      child = await launch(port)
    },
  }
}

/** What `redisServer` gives. */
export type RedisServer = Awaited<ReturnType<typeof redisServer>>
