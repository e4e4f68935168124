/**
 * A measure of the machine itself, taken beside all others: calls of a bare server that never changes. A node's latency
 * is judged in its units, so that a machine that gets busy with something else is not taken for a node that gets slow.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { httpCaller, type Timed } from './client.ts'

const SERVER = fileURLToPath(new URL('./yardstick-server.js', import.meta.url))
const REST_MS = 80

/** A started yardstick. */
export interface Yardstick {
  readonly pid: number | undefined
  /** Calls it again and again as long as `running`. */
  measureOn(timed: Timed, running: () => boolean): Promise<void>
}

/** Starts the server in a process of its own. */
export async function startYardstick(): Promise<Yardstick> {
  const child = spawn(process.execPath, [SERVER], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
  const url = `http://127.0.0.1:${String(port).trim()}`
  return {
    pid: child.pid,
    async measureOn(timed, running) {
      const caller = httpCaller(url, timed)
      while (running()) {
        await caller.call('work')
        await pause(REST_MS)
      }
    },
  }
}
