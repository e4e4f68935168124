/** Starts and stops the processes of the nodes under comparison. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from './client.mjs'
import { ownMemory, processorTime, residentMemory } from './measure.mjs'
import { NODES } from './nodes.mjs'

/** How often a starting node is asked, ms. */
const POLL_MS = 2

/** How often the processor time of a node is read beside its measurements, ms, so that few threads end unseen. */
const WATCH_MS = 100

/** Processes that run, and their folders: an end of the bench by a signal ends them too. */
const running = new Map()
process.once('exit', () => {
  for (const [child, folder] of running) {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

/** A free TCP port. */
export async function freePort() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Asks until the node answers; throws when its process ends first. */
async function firstAnswer(name, client, child) {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode}`)
    }
    try {
      return await client.call('eth_blockNumber')
    } catch {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
}

/**
 * Starts a node in a folder of its own and waits for its first answer.
 * @param {string} name of `NODES`
 * @param {object} [options]
 * @param {boolean} [options.traces] it will be asked for struct logs, which one node has to note as it runs
 * @param {string[]} [options.nodeFlags] of Node.js, for a node that runs on it
 * @param {object} [options.node] a record like those of `NODES`; it may name the folder that it runs in, as `cwd`
 * @param {number} [options.port] a free one unless it is given
 */
export async function start(name, options = {}) {
  const { traces = false, nodeFlags = [], node = NODES[name], port = await freePort() } = options
  const folder = mkdtempSync(join(tmpdir(), `bench-${name}-`))
  const args = [
    ...(node.file ? [...nodeFlags, node.file] : []),
    ...node.args(port, folder),
    ...(traces ? (node.tracing ?? []) : []),
  ]
  const began = performance.now()
  const child = spawn(node.command, args.map(String), {
    cwd: node.cwd ?? folder,
    stdio: 'ignore',
    env: { ...process.env, ...node.env },
  })
  running.set(child, folder)
  const cpuMs = processorTime(child.pid)
  const watching = setInterval(cpuMs, WATCH_MS)
  const client = (node.client ?? createClient)(port)

  async function stop() {
    clearInterval(watching)
    client.close()
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    running.delete(child)
    rmSync(folder, { recursive: true, force: true })
  }

  try {
    await firstAnswer(name, client, child)
    const startMs = performance.now() - began
    const startCpuMs = cpuMs()
    await node.ready?.(client)
    return {
      name,
      client,
      /** Wall and processor time from the start of the process to its first answer. */
      startMs,
      startCpuMs,
      automine: (on) => node.automine(client, on),
      mine: (count) => node.mine(client, count),
      cpuMs,
      memoryMb: () => residentMemory(child.pid),
      ownMemoryMb: () => ownMemory(child.pid),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
