/** The completion of bash: a function that walks the words of the line and offers what fits. */
import { type Completed, type CompletedCommand, grouped } from './model.ts'
import { cases, quoted } from './shell-text.ts'

function completion(value: Completed): string {
  if (typeof value === 'object') return `names ${value.map(quoted).join(' ')}`
  return value
}

function wordsOf({ below, flags }: CompletedCommand): string {
  const names = [...below.map(({ name }) => name), ...flags.flatMap(({ names }) => names)]
  return `_tandem_print ${names.map(quoted).join(' ')}`
}

/** A `case` on the flags of a command that have a value. */
function valuesOf({ flags }: CompletedCommand): string | undefined {
  const lines = flags.flatMap(({ names, value }) =>
    value === undefined ? [] : [`${names.map(quoted).join('|')}) _tandem_print ${completion(value)};;`],
  )
  return lines.length === 0 ? undefined : `case $2 in ${lines.join(' ')} *) return 1;; esac`
}

/** Walks the words of the line, and offers what fits the last one. */
const WALK = `# Sets COMPREPLY to what fits $2 of the completed value whose words follow.
_tandem_offer() {
  local current=$1 IFS=$'\\n'
  shift
  case $1 in
    names)
      shift
      # The last one of a list.
      local before=
      if [[ $current == *,* ]]; then before=\${current%,*},; fi
      COMPREPLY=($(compgen -P "$before" -W "$*" -- "\${current##*,}"))
      ;;
    files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")) ;;
    folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$current")) ;;
    programs) COMPREPLY=($(compgen -c -- "$current")) ;;
  esac
}

_tandem() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= flag= word value i IFS=$'\\n'
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # bash gives --flag=value as three words.
    if [[ $word == = ]]; then continue; fi
    if [[ -n $flag ]]; then flag=; continue; fi
    if [[ $word == -- ]]; then
      _tandem_offer "$current" programs
      return
    fi
    if [[ $word == -* ]]; then
      if _tandem_value "$path" "$word" >/dev/null; then flag=$word; fi
    elif _tandem_is_command "\${path:+$path }$word"; then
      path="\${path:+$path }$word"
    fi
  done
  if [[ $current == = ]]; then current=; fi
  if [[ -n $flag ]]; then
    value=($(_tandem_value "$path" "$flag"))
    _tandem_offer "$current" "\${value[@]}"
    return
  fi
  value=($(_tandem_words "$path"))
  if [[ $current != -* ]]; then
    local argument own=()
    for word in "\${value[@]}"; do [[ $word == -* ]] || own+=("$word"); done
    argument=($(_tandem_argument "$path"))
    if ((\${#own[@]} > 0)); then _tandem_offer "$current" names "\${own[@]}"
    elif [[ \${argument[0]} != nothing ]]; then _tandem_offer "$current" "\${argument[@]}"
    else _tandem_offer "$current" names "\${value[@]}"
    fi
    return
  fi
  _tandem_offer "$current" names "\${value[@]}"
}

complete -F _tandem tandem
`

/** The script. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const paths = commands.map(({ path }) => path).filter((path) => path !== '')
  return `# Completion of tandem for bash. Written by: tandem completion bash
_tandem_print() { printf '%s\\n' "$@"; }

# The commands below the command $1, and its flags.
_tandem_words() {
  case $1 in
${cases(grouped(commands, wordsOf))}
  esac
}

# What is completed for the flag $2 of the command $1; fails where the flag has no value.
_tandem_value() {
  case $1 in
${cases(grouped(commands, valuesOf))}
    *) return 1 ;;
  esac
}

# What is completed for an argument of the command $1.
_tandem_argument() {
  case $1 in
${cases(grouped(commands, ({ value }) => `_tandem_print ${completion(value)}`))}
  esac
}

_tandem_is_command() {
  case $1 in
    ${paths.map(quoted).join('|')}) return 0 ;;
    *) return 1 ;;
  esac
}

${WALK}`
}
