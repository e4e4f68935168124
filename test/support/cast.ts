/** Foundry's `cast`, where it is installed. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** How a run of it ended. */
export interface CastRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function findCast(): string | undefined {
  const packaged = new URL(
    '../../scripts/bench/node_modules/@foundry-rs/cast-linux-amd64/bin/cast',
    import.meta.url,
  )
  if (existsSync(packaged)) return fileURLToPath(packaged)
  try {
    return execFileSync('which', ['cast'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

const path = findCast()

/** Is there one? */
export const hasCast = path !== undefined

/** What a group of tests that need it is called, also when it is passed over. */
export const CAST_TITLE = hasCast ? 'Foundry’s cast' : 'Foundry’s cast: passed over, none is installed'

/** Neither colours nor words about itself. */
const env = { ...process.env, NO_COLOR: '1', FOUNDRY_DISABLE_NIGHTLY_WARNING: '1' }

/** Runs it to its end. */
export function runCast(args: readonly string[]): Promise<CastRun> {
  return new Promise((resolve) =>
    execFile(path ?? '', args, { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    ),
  )
}

/** Starts it, for what goes on until it is killed. */
export function startCast(args: readonly string[]): ChildProcess {
  return spawn(path ?? '', args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
}
