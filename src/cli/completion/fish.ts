/** The completion of fish: one line for each command and flag. */
import type { Completed, CompletedCommand, CompletedFlag } from './model.ts'

/** A word in single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

function action(value: Completed): string {
  if (typeof value === 'object') return `-x -a ${quoted(value.join(' '))}`
  const folders = '(__fish_complete_directories)'
  const programs = '(__fish_complete_command)'
  return {
    files: '-r -F',
    folders: `-x -a ${quoted(folders)}`,
    programs: `-x -a ${quoted(programs)}`,
    nothing: '-x',
  }[value]
}

function flagLine(condition: string, { names, description, value }: CompletedFlag): string {
  const spelled = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  const takes = value === undefined ? '' : ` ${action(value)}`
  return `complete -c tandem ${condition} ${spelled.join(' ')}${takes} -d ${quoted(description)}`
}

function commandLines({ path, flags, value, below }: CompletedCommand): string[] {
  const condition = `-n ${quoted(`__tandem_at ${quoted(path)}`)}`
  return [
    ...below.map(
      ({ name, description }) =>
        `complete -c tandem ${condition} -a ${quoted(name)} -d ${quoted(description)}`,
    ),
    ...flags.map((flag) => flagLine(condition, flag)),
    ...(value === 'nothing'
      ? []
      : [`complete -c tandem ${condition} ${action(value).replace(/^-[rx] /, '')}`]),
  ]
}

/** The script. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const paths = commands.map(({ path }) => path).filter((path) => path !== '')
  return `# Completion of tandem for fish. Written by: tandem completion fish

# Is the command that the words before the cursor name the one with these words?
function __tandem_at
  set -l route ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$route $word")
    if contains -- $next ${paths.map(quoted).join(' ')}
      set route $next
    end
  end
  test "$route" = "$argv[1]"
end

complete -c tandem -f
${commands.flatMap(commandLines).join('\n')}
`
}
