/** `tandem completion`: prints the script with which a shell completes commands, flags and their values. */
import { Argument, type Command } from 'commander'
import { bashCompletion } from './completion/bash.ts'
import { fishCompletion } from './completion/fish.ts'
import { type CompletedCommand, completedCommands } from './completion/model.ts'
import { zshCompletion } from './completion/zsh.ts'
import type { Writers } from './start.ts'

const SHELLS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

const EXAMPLES = `
Examples:
  tandem completion bash > ~/.local/share/bash-completion/completions/tandem
  tandem completion zsh > ~/.zfunc/_tandem                  with fpath+=~/.zfunc before compinit in ~/.zshrc
  tandem completion fish > ~/.config/fish/completions/tandem.fish
  source <(tandem completion bash)                          in this shell only`

/** Fills in the command; `fillOthers` adds the flags of all other commands. */
export function fillCompletionCommand(
  command: Command,
  { output }: Writers,
  fillOthers: () => Promise<void>,
): void {
  command
    .addArgument(new Argument('<shell>', 'the shell that completes').choices(Object.keys(SHELLS)))
    .addHelpText('after', EXAMPLES)
    .allowExcessArguments(false)
    .action(async (shell: string) => {
      await fillOthers()
      const commands = completedCommands(command.parent ?? command)
      output.write((SHELLS[shell]?.(commands) ?? '').trimEnd())
    })
}
