/** The command as a child process: started, called, killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** A started command. */
export interface RunningCommand {
  readonly url: string
  readonly wsUrl: string
  readonly child: ChildProcess
  /** Its output so far. */
  output(): string
  /** Sends a signal and waits for the end; the exit code, or the signal's name. */
  end(signal: NodeJS.Signals): Promise<number | string>
}

/** The outcome of a command that ended by itself. */
export interface EndedCommand {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command to its end. */
export function runCommand(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): Promise<EndedCommand> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env }, cwd })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

/**
 * Starts `tandem start` with `--json` on a free port, and waits for its line of readiness. `main` is another
 * build of it than the project's own, `env` are variables beside those of this process.
 */
export function startCommand(
  args: readonly string[],
  { main = MAIN, cwd, env }: { main?: string; cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<RunningCommand> {
  const quietly = ['--json', '--log-level', 'error', '--port', '0']
  const child = spawn(process.execPath, [main, 'start', ...quietly, ...args], {
    cwd,
    env: { ...process.env, ...env },
  })
  let printed = ''
  const ended = new Promise<number | string>((resolve) =>
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown')),
  )
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => (printed += chunk))
    child.stdout.on('data', (chunk) => {
      printed += chunk
      const line = printed.split('\n').find((text) => text.includes('"ready":true'))
      if (line === undefined) return
      const { url, ws } = JSON.parse(line)
      resolve({
        url,
        wsUrl: ws,
        child,
        output: () => printed,
        end(signal) {
          child.kill(signal)
          return ended
        },
      })
    })
    ended.then((how) => reject(new Error(`the command ended with ${how}: ${printed}`)))
  })
}
