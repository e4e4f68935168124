/** Completion scripts in the shells themselves. zsh and fish complete where they are installed. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SETTINGS } from '../../src/cli/settings.ts'
import { runCommand } from '../support/command.ts'
import { describeWith, FISH, ZSH } from '../support/tools.ts'

let dir: string
const scripts = new Map<string, string>()
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'completion-'))
  writeFileSync(join(dir, 'a-file.json'), '{}')
  mkdirSync(join(dir, 'a-folder'))
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await runCommand(['completion', shell])
    expect([code, stderr]).toEqual([0, ''])
    scripts.set(shell, join(dir, `tandem.${shell}`))
    writeFileSync(join(dir, `tandem.${shell}`), stdout)
  }
})
afterAll(() => rmSync(dir, { recursive: true }))

const lines = (text: string) => text.split('\n').filter((line) => line !== '')

/** What bash offers for the last word. */
function bash(...words: string[]): string[] {
  const program = `source ${scripts.get('bash')}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tandem; printf '%s\\n' "\${COMPREPLY[@]}"`
  return lines(
    execFileSync('bash', ['-c', program, 'bash', 'tandem', ...words], { cwd: dir, encoding: 'utf8' }),
  )
}

/** What fish offers for the end of a line, without descriptions. */
function fish(line: string): string[] {
  const program = `source ${scripts.get('fish')}; complete -C ${JSON.stringify(line)}`
  const printed = execFileSync(FISH.path, ['--no-config', '-c', program], { cwd: dir, encoding: 'utf8' })
  return lines(printed).map((each) => each.split('\t')[0] as string)
}

/** What zsh would offer for the last word: its own functions for matches are replaced by ones that print. */
function zsh(...words: string[]): string[] {
  const program = `
    compdef() { : }
    compset() { PREFIX=\${PREFIX#*=} }
    compadd() { shift; print -l -- "$@" }
    _describe() { print -l -- "\${(@P)2%%:*}" }
    _files() { print -l -- files$1 }
    _command_names() { print programs }
    source ${scripts.get('zsh')}
    words=("$@"); CURRENT=$#words; PREFIX=$words[-1]; _tandem`
  const args = ['-f', '-c', program, 'zsh', 'tandem', ...words]
  return lines(execFileSync(ZSH.path, args, { cwd: dir, encoding: 'utf8' }))
}

describe('bash', () => {
  it('registers the function', () => {
    const program = `source ${scripts.get('bash')}; complete -p tandem`
    expect(execFileSync('bash', ['-c', program], { encoding: 'utf8' })).toBe('complete -F _tandem tandem\n')
  })

  it('completes commands, those below them, and the names that help takes', () => {
    expect(bash('st')).toEqual(['start'])
    expect(bash('keys', '')).toEqual(['create', 'list', 'rotate', 'revoke'])
    expect(bash('help', 'dr')).toEqual(['drift'])
    expect(bash('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  })

  it('completes every flag of every setting', () => {
    const offered = bash('start', '--')
    for (const { flag } of Object.values(SETTINGS)) expect(offered).toContain(flag.replace(/ .*/, ''))
    expect(bash('keys', 'create', '--st')).toEqual(['--state-override'])
  })

  it('completes the values of a flag', () => {
    expect(bash('start', '--preset', '')).toEqual(['rsk', 'hardhat', 'anvil'])
    expect(bash('start', '--memory', '--chain', 'test')).toEqual(['testnet', 'testnet2'])
    expect(bash('start', '--preset', '=', 'h')).toEqual(['hardhat'])
    expect(bash('init', '--kind', '')).toEqual(['hardhat', 'foundry', 'viem', 'ethers'])
    expect(bash('start', '--config', 'a-').toSorted()).toEqual(['a-file.json', 'a-folder'])
    expect(bash('start', '--data-dir', 'a-')).toEqual(['a-folder'])
    expect(bash('start', '--predeploy', 'create2,mul')).toEqual(['create2,multicall3'])
    expect(bash('start', '--port', '')).toEqual([])
    expect(bash('start', '--port', '1', '--mem')).toEqual(['--memory'])
  })

  it('completes the programs that a command runs, and the files that one reads', () => {
    expect(bash('exec', '--', 'bas')).toContain('bash')
    expect(bash('load', 'a-f').toSorted()).toEqual(['a-file.json', 'a-folder'])
  })
})

describeWith(ZSH, 'zsh', () => {
  it('completes commands, flags and values', () => {
    expect(zsh('')).toContain('start')
    expect(zsh('keys', '')).toEqual(['create', 'list', 'rotate', 'revoke'])
    expect(zsh('start', '--')).toContain('--create2-deployer')
    expect(zsh('start', '--preset', '')).toEqual(['rsk', 'hardhat', 'anvil'])
    expect(zsh('start', '--preset=')).toEqual(['rsk', 'hardhat', 'anvil'])
    expect(zsh('start', '--config', '')).toEqual(['files'])
    expect(zsh('start', '--data-dir', '')).toEqual(['files-/'])
    expect(zsh('exec', '--', '')).toEqual(['programs'])
  })
})

describeWith(FISH, 'fish', () => {
  it('completes commands, flags and values', () => {
    expect(fish('tandem st')).toContain('start')
    expect(fish('tandem keys ').toSorted()).toEqual(['create', 'list', 'revoke', 'rotate'])
    expect(fish('tandem start --mem')).toContain('--memory')
    expect(fish('tandem start --preset ').toSorted()).toEqual(['anvil', 'hardhat', 'rsk'])
    expect(fish('tandem start --config a-')).toContain('a-file.json')
    expect(fish('tandem start --data-dir a-')).toEqual(['a-folder/'])
  })
})

it('refuses another shell', async () => {
  const { code, stderr } = await runCommand(['completion', 'tcsh'])
  expect(code).toBe(2)
  expect(stderr).toContain('Allowed choices are bash, zsh, fish')
})
