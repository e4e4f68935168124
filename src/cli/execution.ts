/** The program that a command runs beside a node: its start, the signals that it gets, its exit code. */
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { LineWriter } from './line-writer.ts'
import { outliveSignals } from './start-command.ts'

/** Exit codes of shells for a program that does not exist, that cannot run, and the base of those for signals. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126
const SIGNALLED = 128

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const codeOfSignal = (signal: NodeJS.Signals): number => SIGNALLED + constants.signals[signal]

/** The program, from before its start to its end. */
export interface Execution {
  /** Starts it; `env` is added to the environment of this process. */
  launch(env: Readonly<Record<string, string>>): void
  /** Its exit code, 128 + n when signal n ended it. */
  readonly ended: Promise<number>
}

/** The program of a command line, not yet started. */
export function createExecution([program = '', ...args]: readonly string[], errors: LineWriter): Execution {
  let child: ChildProcess | undefined
  let finish: (code: number) => void = () => {}
  const ended = new Promise<number>((resolve) => {
    finish = resolve
  })
  // Until the command runs, a signal ends the start of the node.
  const forward = () => {
    outliveSignals()
    for (const signal of FORWARDED)
      process.on(signal, () => {
        // A terminal sends SIGINT to the command as well: a second one would make it abandon its clean shutdown.
        if (signal !== 'SIGINT' || !process.stdin.isTTY) child?.kill(signal)
      })
  }
  return {
    ended,
    launch(env) {
      forward()
      child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } })
      const running = child
      process.once('exit', () => running.kill())
      running.on('error', (error: NodeJS.ErrnoException) => {
        if (running.pid !== undefined) return
        const isMissing = error.code === 'ENOENT'
        errors.write(
          `tandem: cannot run ${program}: ${isMissing ? 'there is no such program' : error.message}.`,
        )
        finish(isMissing ? NOT_FOUND : NOT_EXECUTABLE)
      })
      running.on('exit', (code, signal) => finish(code ?? codeOfSignal(signal ?? 'SIGTERM')))
    },
  }
}
