/** The completion of zsh: the flags with their descriptions, by `_describe`. */
import { type Completed, type CompletedCommand, grouped } from './model.ts'
import { cases, quoted } from './shell-text.ts'

/** `name:description` as `_describe` takes it. */
function described(name: string, description: string): string {
  return quoted(`${name.replaceAll(':', String.raw`\:`)}:${description}`)
}

function action(value: Completed): string {
  if (typeof value === 'object') return `compadd -- ${value.map(quoted).join(' ')}`
  return { files: '_files', folders: '_files -/', programs: '_command_names -e', nothing: ':' }[value]
}

function commandsOf({ below }: CompletedCommand): string | undefined {
  if (below.length === 0) return undefined
  return `found=(${below.map(({ name, description }) => described(name, description)).join(' ')})`
}

function flagsOf({ flags }: CompletedCommand): string {
  const all = flags.flatMap(({ names, description }) => names.map((name) => described(name, description)))
  return `found=(${all.join(' ')})`
}

function valuesOf({ flags }: CompletedCommand): string | undefined {
  const lines = flags.flatMap(({ names, value }) =>
    value === undefined ? [] : [`${names.map(quoted).join('|')}) todo=${quoted(action(value))};;`],
  )
  return lines.length === 0 ? undefined : `case $2 in ${lines.join(' ')} *) return 1;; esac`
}

/** Walks the words of the line, and offers what fits the last one. */
const WALK = `_tandem() {
  local route='' flag='' word todo
  local -a found known
  known=("\${(@)_tandem_commands}")
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $flag ]]; then flag=''; continue; fi
    if [[ $word == -- ]]; then _command_names -e; return; fi
    if [[ $word == -* ]]; then
      if _tandem_value "$route" "$word"; then flag=$word; fi
    elif (( \${known[(Ie)\${route:+$route }$word]} )); then
      route="\${route:+$route }$word"
    fi
  done
  if [[ -n $flag ]]; then _tandem_value "$route" "$flag"; eval "$todo"; return; fi
  if [[ $PREFIX == --*=* ]]; then
    flag=\${PREFIX%%=*}
    compset -P '*='
    _tandem_value "$route" "$flag" && eval "$todo"
    return
  fi
  if [[ $PREFIX == -* ]]; then _tandem_flags "$route"; _describe flag found; return; fi
  if _tandem_below "$route"; then _describe command found; return; fi
  _tandem_argument "$route"
  if [[ $todo == : ]]; then _tandem_flags "$route"; _describe flag found; else eval "$todo"; fi
}

# Sourced it registers itself; in a folder of fpath it is called.
if [[ $funcstack[1] == _tandem ]]; then _tandem "$@"; else compdef _tandem tandem; fi
`

/** The script. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  const paths = commands.map(({ path }) => path).filter((path) => path !== '')
  return `#compdef tandem
# Completion of tandem for zsh. Written by: tandem completion zsh

# Set found to the commands below the command $1, or to its flags.
_tandem_below() {
  case $1 in
${cases(grouped(commands, commandsOf))}
    *) return 1 ;;
  esac
}
_tandem_flags() {
  case $1 in
${cases(grouped(commands, flagsOf))}
  esac
}

# Sets todo to what completes the flag $2 of the command $1; fails where the flag has no value.
_tandem_value() {
  case $1 in
${cases(grouped(commands, valuesOf))}
    *) return 1 ;;
  esac
}

# Sets todo to what completes an argument of the command $1.
_tandem_argument() {
  case $1 in
${cases(grouped(commands, ({ value }) => `todo=${quoted(action(value))}`))}
  esac
}

typeset -ga _tandem_commands=(${paths.map(quoted).join(' ')})

${WALK}`
}
