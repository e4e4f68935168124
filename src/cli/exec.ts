/** `tandem exec`: runs a command beside a node of its own, which ends with it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Command } from 'commander'
import type { LineWriter } from './line-writer.ts'
import { typedFlags } from './setting-flags.ts'
import { readSettings, URL_VARIABLE } from './settings.ts'
import type { NodeWriters } from './start.ts'
import { addStartFlags, endAtSignal, outliveSignals } from './start-command.ts'

/**
 * What differs from `tandem start` unless it is set: the chain is in memory, the port is free, standard output belongs
 * to the command.
 */
export const EXEC_DEFAULTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['memory', true],
  ['port', 0],
  ['logLevel', 'warn'],
])

/** Exit codes of shells for a program that does not exist, that cannot run, and the base of those for signals. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126
const SIGNALLED = 128

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const codeOfSignal = (signal: NodeJS.Signals): number => SIGNALLED + constants.signals[signal]

/** The command, from before its start to its end. */
export interface Execution {
  /** Starts it; `env` is added to the environment of this process. */
  launch(env: Readonly<Record<string, string>>): void
  /** Its exit code, 128 + n when signal n ended it. */
  readonly ended: Promise<number>
}

/** Prepares a command; `errors` gets why it cannot run. */
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

const EXAMPLES = `
Examples:
  tandem exec -- npm test                  RPC_URL names the node
  tandem exec --seed ci -- npx hardhat test --network localhost`

/**
 * Fills in the command. Its action sets the exit code of the process to that of the command, and throws `NodeError` and
 * `ListenError` when the node cannot start.
 */
export function fillExecCommand(command: Command, { errors }: NodeWriters): void {
  addStartFlags(command)
  command
    .argument('<command...>', 'after --: the program to run and its arguments')
    .usage('[flags of start] -- <command...>')
    .addHelpText('after', EXAMPLES)
    .action(async (words: readonly string[]) => {
      endAtSignal()
      const execution = createExecution(words, errors)
      const settings = readSettings(typedFlags(command), process.env, EXEC_DEFAULTS)
      const { start } = await import('./start.ts')
      let exitCode: number | undefined
      const stopped = execution.ended.then((code) => {
        exitCode = code
      })
      // Standard output belongs to the command.
      await start(settings, { output: errors, errors }, () => stopped, {
        announce(_node, { url }) {
          execution.launch({ RPC_URL: url, [URL_VARIABLE]: url })
        },
      })
      process.exitCode = exitCode
    })
}
