/** What a shell completes: the commands, their flags and the values of both, read from the commands themselves. */
import type { Argument, Command, Option } from 'commander'
import { SETTINGS } from '../settings.ts'

/** What is completed for a value: names, paths, the programs of the machine, or nothing. */
export type Completed = readonly string[] | 'files' | 'folders' | 'programs' | 'nothing'

/** A flag of a command. */
export interface CompletedFlag {
  /** With dashes: `--port`, and a short one. */
  readonly names: readonly string[]
  readonly description: string
  /** `undefined` where the flag has no value. */
  readonly value: Completed | undefined
}

/** A command and what may follow it. */
export interface CompletedCommand {
  /** Its words after `tandem`, joined by blanks; empty for `tandem` itself. */
  readonly path: string
  readonly description: string
  readonly flags: readonly CompletedFlag[]
  /** Of its arguments. */
  readonly value: Completed
  /** The last words of the commands below it. */
  readonly below: readonly { readonly name: string; readonly description: string }[]
}

/** What is completed for a value that the help names so: `<file>`, `[names...]`. */
function byName(name: string): Completed {
  if (/^<command\.\.\.>$/.test(name)) return 'programs'
  if (/file|path/i.test(name)) return 'files'
  return /dir|folder/i.test(name) ? 'folders' : 'nothing'
}

function valueOfFlag({ flags, argChoices }: Option): Completed {
  const setting = Object.values(SETTINGS).find(({ flag }) => flag === flags)
  return argChoices ?? setting?.choices ?? byName(/[<[].*$/.exec(flags)?.[0] ?? '')
}

function flagOf(option: Option): CompletedFlag {
  const { long, short, description, required, optional } = option
  return {
    names: [long, short].filter((name) => typeof name === 'string'),
    description: description.replace(/ \[TANDEM_\w+\]$/, ''),
    value: required || optional ? valueOfFlag(option) : undefined,
  }
}

function valueOfArgument(argument: Argument | undefined): Completed {
  if (argument === undefined) return 'nothing'
  return argument.argChoices ?? byName(`<${argument.name()}${argument.variadic ? '...' : ''}>`)
}

/** Every command below `command` and itself; `path` is that of `command`. */
export function completedCommands(command: Command, path = ''): CompletedCommand[] {
  const below = command.commands.map((one) => ({ name: one.name(), description: one.description() }))
  // `tandem help <command>` takes the names of the commands beside it.
  const isHelp = command.name() === 'help'
  const names = isHelp ? command.parent?.commands.map((one) => one.name()) : undefined
  const help = { names: ['--help', '-h'], description: 'display help for command', value: undefined }
  return [
    {
      path,
      description: command.description(),
      flags: [...command.options.map(flagOf), help],
      value: names ?? valueOfArgument(command.registeredArguments[0]),
      below,
    },
    ...command.commands.flatMap((one) => completedCommands(one, `${path} ${one.name()}`.trim())),
  ]
}

/** Commands with equal parts: their paths and the part, each part once. */
export function grouped<T>(
  commands: readonly CompletedCommand[],
  part: (command: CompletedCommand) => T | undefined,
): { readonly paths: readonly string[]; readonly part: T }[] {
  const groups = new Map<string, { paths: string[]; part: T }>()
  for (const command of commands) {
    const own = part(command)
    if (own === undefined) continue
    const key = JSON.stringify(own)
    const group = groups.get(key) ?? { paths: [], part: own }
    group.paths.push(command.path)
    groups.set(key, group)
  }
  return [...groups.values()]
}
