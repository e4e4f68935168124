#!/usr/bin/env node
/** The command: reads its arguments, runs, and ends with a sentence and an exit code. */
import { readFileSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import { NodeError } from '../errors.ts'
import { fallbackWords, type Setting } from '../options/setting.ts'
import { ListenError } from '../transport/listen.ts'
import { addDriftCommand } from './drift.ts'
import { addKeysCommand } from './keys.ts'
import { createLineWriter } from './line-writer.ts'
import { addMethodsCommand } from './methods.ts'
import { shownCommandLine } from './secrets.ts'
import { CONFIG_FLAG, flagName, readSettings, SETTINGS, type TypedFlags, variableOf } from './settings.ts'
import { start } from './start.ts'
import { addTraceCommand } from './trace.ts'

/** Ended as asked, could not start or broke, was called wrongly. */
const EXIT = { done: 0, failed: 1, misused: 2 } as const

const output = createLineWriter(process.stdout)
const errors = createLineWriter(process.stderr)

async function end(code: number): Promise<never> {
  await Promise.all([output.flush(), errors.flush()])
  process.exit(code)
}

/** Says one line on standard error and ends. */
function fail(message: string, code: number): Promise<never> {
  errors.write(`tandem: ${message.replace(/\s*\n\s*/g, ' ')}`)
  return end(code)
}

/** Resolves at the first signal; the second ends the process at once. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let count = 0
    const onSignal = () => {
      count++
      if (count > 1) process.exit(EXIT.failed)
      resolve()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}

function helpOf(setting: Setting<unknown, unknown>): string {
  const { help, fallback, fallbackText, flag } = setting
  const says = fallbackText !== undefined || typeof fallback !== 'boolean'
  const words = says ? `${help} (default: ${fallbackWords(setting)})` : help
  return `${words} [${variableOf(flag)}]`
}

/** Declares the flags; they hand over text, since settings from every source are checked in one place. */
function startCommand(): Command {
  const command = new Command('start').description('start a node and serve it over HTTP and WebSocket')
  command.option(CONFIG_FLAG.flag, `${CONFIG_FLAG.help} [${variableOf(CONFIG_FLAG.flag)}]`)
  for (const setting of Object.values(SETTINGS)) {
    command.addOption(new Option(setting.flag, helpOf(setting)))
  }
  return command.allowExcessArguments(false).action(async (_values, self: Command) => {
    const flags = new Map<string, string | true>()
    for (const option of self.options) {
      const name = option.attributeName()
      if (self.getOptionValueSource(name) !== 'cli') continue
      const value: unknown = self.getOptionValue(name)
      flags.set(flagName(option.long ?? ''), typeof value === 'string' ? value : true)
    }
    await run(flags)
  })
}

async function run(flags: TypedFlags): Promise<void> {
  const stopped = untilSignal()
  await start(readSettings(flags, process.env), { output, errors }, stopped)
}

function program(): Command {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const command = new Command('tandem')
    .description('A whole node of a merge-mined, EVM-compatible chain in one process')
    .version(version)
    .exitOverride()
    // What commander would print is said by `fail`, in a line.
    .configureOutput({ writeErr: () => {} })
  const child = startCommand()
  command.addCommand(child.copyInheritedSettings(command))
  addKeysCommand(command, { output, errors })
  addMethodsCommand(command, { output, errors })
  addTraceCommand(command, { output, errors })
  addDriftCommand(command, { output, errors })
  return command
}

process.on('uncaughtException', (error) => {
  void fail(`unexpected failure: ${error instanceof Error ? error.message : String(error)}`, EXIT.failed)
})

const title = shownCommandLine(process.argv)
if (title !== undefined) process.title = title

try {
  await program().parseAsync()
  await end(EXIT.done)
} catch (error) {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) await end(EXIT.done)
    const words = error.code === 'commander.help' ? 'Say what to do: tandem start.' : error.message
    await fail(words.replace(/^error: /, ''), EXIT.misused)
  }
  if (error instanceof NodeError) {
    await fail(error.message, error.kind === 'invalid-options' ? EXIT.misused : EXIT.failed)
  }
  const message = error instanceof Error ? error.message : String(error)
  await fail(error instanceof ListenError ? message : `cannot start: ${message}`, EXIT.failed)
}
