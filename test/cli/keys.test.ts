/** `tandem keys` as an operator types it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillKeysCommand } from '../../src/cli/keys.ts'
import { hashOfKey } from '../../src/transport/keys/api-key.ts'
import { runCommand } from '../support/command.ts'

let dir: string
let file: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'keys-command-'))
  file = join(dir, 'keys.json')
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Runs the command in this process; what it printed, or the sentence that it ends with. */
async function keys(...args: string[]) {
  const printed = { stdout: '', stderr: '' }
  const writerTo = (stream: keyof typeof printed) => ({
    write(line: string) {
      printed[stream] += `${line}\n`
    },
    flush: async () => {},
  })
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  fillKeysCommand(program.command('keys'), { output: writerTo('stdout'), errors: writerTo('stderr') })
  await program.parseAsync(['keys', ...args], { from: 'user' })
  return printed
}

describe('tandem keys', () => {
  it('makes, lists, rotates and revokes keys, and shows each key once', async () => {
    const options = ['--name', 'ci', '--allow', 'eth,net,web3', '--state-override', '--rate', '50/s']
    const made = await keys('create', '--api-keys', file, ...options, '--quota', '25000/day')
    expect(made).toMatchObject({ stdout: expect.stringMatching(/^tandem_[\w-]{43}\n$/) })
    const first = made.stdout.trim()
    expect(made.stderr).not.toContain(first)
    const kept = readFileSync(file, 'utf8')
    expect(kept).not.toContain(first)
    expect(kept).toContain(hashOfKey(first).toString('hex'))

    const rotated = await keys('rotate', '--api-keys', file, 'ci', '--grace', '30min')
    expect(rotated).toMatchObject({ stdout: expect.stringMatching(/^tandem_[\w-]{43}\n$/) })
    const listed = await keys('list', '--api-keys', file)
    expect(listed.stdout).toMatch(
      /^name +allow +override +rate +quota +created +state\nci +eth,net,web3 +yes +50\/s +25000\/day +\S+ +active; the one before until \S+\n$/,
    )
    for (const key of [first, rotated.stdout.trim()]) {
      expect(listed.stdout).not.toContain(hashOfKey(key).toString('hex'))
    }

    expect(await keys('revoke', '--api-keys', file, 'ci')).toMatchObject({ stderr: '' })
    const json = await keys('list', '--json', '--api-keys', file)
    expect(JSON.parse(json.stdout)).toEqual([
      {
        name: 'ci',
        created: expect.any(String),
        allow: ['eth', 'net', 'web3'],
        stateOverride: true,
        rate: '50/s',
        quota: '25000/day',
        revoked: expect.any(String),
      },
    ])
  })

  it('allows a key to read the metrics page', async () => {
    const pages = join(dir, 'pages.json')
    await keys('create', '--api-keys', pages, '--name', 'prometheus', '--allow', 'metrics')
    expect((await keys('list', '--api-keys', pages)).stdout).toMatch(/\nprometheus +metrics +no /)
  })

  it('keeps the keys of two concurrent commands', async () => {
    const shared = join(dir, 'shared.json')
    const names = ['a', 'b', 'c']
    const made = await Promise.all(
      names.map((name) => runCommand(['keys', 'create', '--name', name], { TANDEM_API_KEYS: shared })),
    )
    expect(made.map(({ code }) => code)).toEqual([0, 0, 0])
    const listed = await keys('list', '--api-keys', shared, '--json')
    expect(
      JSON.parse(listed.stdout)
        .map(({ name }: { name: string }) => name)
        .sort(),
    ).toEqual(names)
  })

  it.each([
    [['frobnicate'], 'Name a command: tandem keys create, list, rotate or revoke.'],
    [[], 'Name a command: tandem keys create, list, rotate or revoke.'],
    [['create', '--name', 'x'], 'Name the file that holds the keys: --api-keys <file>.'],
    [['create', '--api-keys', 'k'], "required option '--name <name>' not specified"],
    [
      ['create', '--api-keys', 'k', '--name', 'x', '--allow', 'eht'],
      '--allow names "eht", and there is no such method or namespace.',
    ],
    [
      ['create', '--api-keys', 'k', '--name', 'x', '--rate', 'fast'],
      "The key's rate is malformed: expected calls in a second, minute or hour, such as 50/s, 1000/min or 9000/h.",
    ],
    [
      ['rotate', '--api-keys', 'k', 'x', '--grace', 'soon'],
      '--grace expects a time such as 0s, 30min, 1h or 7d, at most 21d, not "soon".',
    ],
  ])('%j ends with a message', async (args, sentence) => {
    await expect(keys(...args)).rejects.toThrow(sentence)
  })
})
