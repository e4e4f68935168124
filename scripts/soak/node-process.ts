/** The node as a process of its own: started from the built command, measured from outside, killed. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { INSPECTOR_LINES, inspectorOf } from './heap.ts'

/** The folder of the project, wherever the compiled script is in it; `bench:growth` copies package.json beside the scripts. */
export const ROOT: string = (() => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package-lock.json'))) folder = dirname(folder)
  return folder
})()

const MAIN = join(ROOT, 'dist/cli/main.js')

/** A process that was started. */
export interface Started {
  readonly pid: number
  /** Where it answers, once it does. Rejects with its output when it ends before. */
  readonly ready: Promise<{ readonly url: string; readonly ws: string }>
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
  signal(name: NodeJS.Signals): void
  /** Its output on standard error. */
  errorOutput(): string
  /** Where its inspector listens, if it was started with one. */
  inspector(): string | undefined
}

/** Starts `tandem start` on a free port, with flags of Node.js itself if any are given. */
export function launch(args: readonly string[], runtime: readonly string[] = []): Started {
  const quiet = ['--port', '0', '--json', '--log-level', 'error']
  const child = spawn(process.execPath, [...runtime, MAIN, 'start', ...quiet, ...args], { cwd: ROOT })
  let errorOutput = ''
  child.stderr.on('data', (chunk) => {
    errorOutput += chunk
  })
  const ended = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  const ready = new Promise<{ url: string; ws: string }>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.includes('"ready":true')) resolve(JSON.parse(line))
      else errorOutput += `${line}\n`
    })
    void ended.then((how) => reject(new Error(`ended with ${how}: ${errorOutput.trim()}`)))
  })
  // A process that is killed while it starts is not waited for.
  ready.catch(() => {})
  return {
    pid: child.pid as number,
    ready,
    ended,
    signal: (name) => void child.kill(name),
    errorOutput: () => errorOutput.replace(INSPECTOR_LINES, ''),
    inspector: () => inspectorOf(errorOutput),
  }
}

/** Memory of a process that is in use (resident), bytes; nothing when it is gone. */
export function residentBytes(pid: number): number | undefined {
  try {
    const status = `/proc/${pid}/status`
    const kilobytes = existsSync('/proc/self/status')
      ? /VmRSS:\s+(\d+) kB/.exec(readFileSync(status, 'utf8'))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    return undefined
  }
}
