/** Runs of Foundry's `cast`. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { CAST } from './tools.ts'

/** The outcome of a run. */
export interface CastRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Turns off colours and notices. */
const env = { ...process.env, NO_COLOR: '1', FOUNDRY_DISABLE_NIGHTLY_WARNING: '1' }

/** Runs `cast` to its end. */
export function runCast(args: readonly string[]): Promise<CastRun> {
  return new Promise((resolve) =>
    execFile(CAST.path, args, { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    ),
  )
}

/** Starts a `cast` that runs until it is killed. */
export function startCast(args: readonly string[]): ChildProcess {
  return spawn(CAST.path, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
}
