/** The container image, read rather than built: what it copies is there, and what it promises is what the node does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { SETTINGS, variableOf } from '../../src/cli/settings.ts'
import { runCommand, startCommand } from '../support/command.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8')
const MANIFEST = JSON.parse(read('package.json'))

interface Instruction {
  readonly name: string
  readonly words: readonly string[]
}

/** The instructions of a Dockerfile: comments gone, continued lines joined, JSON forms read. */
function instructions(text: string): Instruction[] {
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) as unknown as [string, string, string]
      const list = /\[.*\]$/.exec(rest)?.[0]
      return { name, words: list === undefined ? rest.split(/\s+/) : JSON.parse(list) }
    })
}

const all = instructions(read('Dockerfile'))
const second = all.findLastIndex(({ name }) => name === 'FROM')
const build = all.slice(0, second)
const image = all.slice(second)
const named = (name: string, stage = image) =>
  stage.filter((one) => one.name === name).map(({ words }) => words)
const copied = (stage: readonly Instruction[]) =>
  stage
    .filter(({ name, words }) => name === 'COPY' && !words[0]?.startsWith('--from='))
    .flatMap(({ words }) => words.slice(0, -1))
const environment = Object.fromEntries(
  named('ENV')
    .flat()
    .map((pair) => pair.split('=') as [string, string]),
)

describe('the image', () => {
  it('copies existing files, and the build context contains only those', () => {
    const lines = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(lines[0]).toBe('*')
    const letIn = lines.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
    // Of the documents, what the package leaves out; the last line that fits a path decides.
    const leftOut = MANIFEST.files.flatMap((name: string) => (name.startsWith('!') ? [name.slice(1)] : []))
    expect(lines.slice(1 + letIn.length)).toEqual(leftOut)
    expect(new Set(letIn)).toEqual(new Set([...copied(build), ...copied(image)]))
    for (const name of letIn) expect(existsSync(join(ROOT, name)), name).toBe(true)
  })

  it('builds with existing scripts, and contains the files of the package', () => {
    const steps = named('RUN', build).map((words) => words.join(' '))
    const scripts = steps.flatMap((step) => [...step.matchAll(/npm run (\S+)/g)].map(([, script]) => script))
    expect(scripts.length).toBeGreaterThan(0)
    for (const script of scripts) expect(MANIFEST.scripts).toHaveProperty([script as string])
    const taken = named('COPY').flatMap((words) =>
      words[0]?.startsWith('--from=') ? words.slice(-1) : words.slice(0, -1),
    )
    const runs = MANIFEST.files.filter((name: string) => !name.startsWith('!'))
    expect(taken).toEqual(expect.arrayContaining([...runs, 'package.json', 'node_modules']))
  })

  it('runs the command as an unprivileged user, on a supported Node.js', () => {
    const last = image.map(({ name }) => name)
    expect(named('USER')).toEqual([['node']])
    expect(last.lastIndexOf('RUN')).toBeLessThan(last.indexOf('USER'))
    expect(named('ENTRYPOINT')).toEqual([['node', `/app/${MANIFEST.bin.tandem}`]])
    expect(named('WORKDIR')).toEqual([['/app']])
    const [from] = named('FROM')
    // The build runs on the platform of the machine, and the image on that of its user.
    expect(named('FROM', build)).toEqual([['--platform=$BUILDPLATFORM', from?.[0], 'AS', 'build']])
    expect(Number(/^node:(\d+)-slim$/.exec(from?.[0] ?? '')?.[1])).toBe(
      Number(/\d+/.exec(MANIFEST.engines.node)?.[0]),
    )
  })

  it('sets variables that the node knows, and keeps the chain in its volume', () => {
    const known = Object.values(SETTINGS).map(({ flag }) => variableOf(flag))
    const given = Object.keys(environment).filter((name) => name.startsWith('TANDEM_'))
    expect(given.length).toBeGreaterThan(0)
    expect(known).toEqual(expect.arrayContaining(given))
    expect(named('VOLUME')).toEqual([[environment.TANDEM_DATA_DIR]])
    expect(named('EXPOSE')).toEqual([[environment.TANDEM_PORT]])
  })

  it('does not open the node to everybody by default', async () => {
    const { code, stderr } = await runCommand(named('CMD')[0] ?? [], environment)
    expect(code).toBe(2)
    expect(stderr).toMatch(/^tandem: .*--unsafe-open.*\n$/)
  })

  it('distinguishes a running node from a stopped one', async () => {
    const [, ...check] = named('HEALTHCHECK')[0] ?? []
    const script = check.join(' ').replace('/app/', ROOT)
    const ask = async (port: string, more: Record<string, string> = {}) => {
      const child = spawn(process.execPath, [script], { env: { ...process.env, TANDEM_PORT: port, ...more } })
      let printed = ''
      child.stderr.on('data', (chunk) => {
        printed += chunk
      })
      const [code] = await once(child, 'close')
      return { code, printed }
    }
    const tls = (name: string) => join(ROOT, `fixtures/tls/first.${name}.pem`)
    const guarded = await startCommand(['--memory', '--tls-cert', tls('cert'), '--tls-key', tls('key')])
    const itsPort = new URL(guarded.url).port
    expect(await ask(itsPort, { TANDEM_TLS_CERT: tls('cert') })).toEqual({ code: 0, printed: '' })
    expect((await ask(itsPort)).code).toBe(1)
    await guarded.end('SIGTERM')
    const node = await startCommand(['--memory'])
    const { port } = new URL(node.url)
    expect(await ask(port)).toEqual({ code: 0, printed: '' })
    await node.end('SIGTERM')
    const dead = await ask(port)
    expect(dead.code).toBe(1)
    expect(dead.printed).toMatch(/^The node on port \d+ is not well: .*\n$/)
  })
})
