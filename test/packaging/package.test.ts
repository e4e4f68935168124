/**
 * The package as users get it: packed from the sources alone, put into a clean folder, started by npx and compiled
 * against. Its dependencies are links to those of the project, and only to the ones that its manifest names;
 * `npm run test:pack` has npm install them from the registry instead.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { rpc } from '../support/json-rpc.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MODULES = join(ROOT, 'node_modules')
const run = promisify(execFile)

/** A build and an install on a slow machine, milliseconds. */
const PATIENCE_MS = 240_000

const folder = mkdtempSync(join(tmpdir(), 'package-'))
const stage = join(folder, 'stage')
const clean = join(folder, 'clean')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function link(name: string): void {
  const place = join(clean, 'node_modules', name)
  if (existsSync(place)) return
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(join(MODULES, name), place, 'dir')
}

/** Packs what a fresh checkout has, by npm's own rules and scripts. The paths in the tarball. */
async function pack(): Promise<string[]> {
  mkdirSync(stage)
  for (const name of readdirSync(ROOT)) {
    if (/^(node_modules|dist|test|fixtures|\.git|\.tandem|\.build)$/.test(name)) continue
    cpSync(join(ROOT, name), join(stage, name), {
      recursive: true,
      filter: (path) => !/node_modules/.test(path),
    })
  }
  // What must not get out, though it lies about.
  mkdirSync(join(stage, 'dist'))
  writeFileSync(join(stage, 'dist/of-an-older-build.js'), '')
  symlinkSync(MODULES, join(stage, 'node_modules'), 'dir')
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: stage })
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  const { stdout } = await run('tar', ['-tzf', join(folder, tarball as string)])
  return stdout.trim().split('\n')
}

/** Puts the tarball into the clean folder as npm would, with links where npm would load from the registry. */
async function unpack(): Promise<void> {
  const place = join(clean, 'node_modules/tandem')
  mkdirSync(place, { recursive: true })
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  await run('tar', ['-xzf', join(folder, tarball as string), '-C', place, '--strip-components', '1'])
  const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
  for (const name of Object.keys(manifest.dependencies)) link(name)
  mkdirSync(join(clean, 'node_modules/.bin'))
  for (const [name, path] of Object.entries<string>(manifest.bin)) {
    const script = join(place, path)
    await run('chmod', ['+x', script])
    symlinkSync(script, join(clean, 'node_modules/.bin', name))
  }
}

let contents: string[]
beforeAll(async () => {
  contents = await pack()
  mkdirSync(clean)
  writeFileSync(join(clean, 'package.json'), '{ "type": "module", "private": true }')
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  if (process.env.PACK_INSTALL === 'npm')
    await run('npm', ['install', join(folder, tarball as string)], { cwd: clean })
  else await unpack()
}, PATIENCE_MS)

describe('the packed package', () => {
  it('holds the built sources, the command, the genesis files and what a reader needs, and nothing else', () => {
    const built = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [name.replace(/\.ts$/, '.js'), name.replace(/\.ts$/, '.d.ts')])
      .map((name) => `dist/${name}`)
    const genesis = ['regtest', 'devnet', 'testnet', 'mainnet'].map((chain) => `genesis/${chain}.json`)
    const expected = [...built, ...genesis, 'package.json', 'README.md', 'LICENSE']
    const chunk = /^package\/dist\/command\/[\w-]+\.js$/
    const bundled = contents.filter((name) => name.startsWith('package/dist/command/'))
    expect(bundled.filter((name) => !chunk.test(name))).toEqual([
      'package/dist/command/THIRD-PARTY-NOTICES.txt',
    ])
    expect(contents.filter((name) => !bundled.includes(name)).toSorted()).toEqual(
      expected.map((name) => `package/${name}`).toSorted(),
    )
    expect(readFileSync(join(clean, 'node_modules/tandem/dist/index.js'), 'utf8')).not.toContain(
      'sourceMappingURL',
    )
  })

  it('starts by npx, keeps a contract in its directory, and ends as told', async () => {
    const start = async () => {
      const args = ['--no-install', 'tandem', 'start', '--port', '0', '--json', '--log-level', 'error']
      const child = spawn('npx', [...args, '--data-dir', 'chain'], { cwd: clean })
      let errors = ''
      child.stderr.on('data', (chunk) => (errors += chunk))
      const ended = once(child, 'close')
      const line = once(createInterface(child.stdout), 'line')
      const [text] = await Promise.race([line, ended.then(() => Promise.reject(new Error(errors)))])
      const { url, pid } = JSON.parse(text)
      return {
        url: url as string,
        async end() {
          process.kill(pid, 'SIGTERM')
          expect(await ended).toEqual([0, null])
        },
      }
    }
    const first = await start()
    const [from] = (await rpc(first.url, 'eth_accounts')) as unknown as string[]
    const data = `${artifact('Token').bytecode}${'0'.repeat(62)}64`
    const hash = await rpc(first.url, 'eth_sendTransaction', [{ from, data, gas: '0x400000' }])
    await first.end()
    const second = await start()
    const receipt = (await rpc(second.url, 'eth_getTransactionReceipt', [hash])) as unknown as {
      status: string
      contractAddress: string
    }
    expect(receipt.status).toBe('0x1')
    expect(
      (await rpc(second.url, 'eth_getCode', [receipt.contractAddress, 'latest'])).length,
    ).toBeGreaterThan(1000)
    await second.end()
  })

  it('is imported by its name, and by nothing that is inside it', async () => {
    writeFileSync(
      join(clean, 'import.js'),
      `import { createNode } from 'tandem'
      import manifest from 'tandem/package.json' with { type: 'json' }
      const node = await createNode()
      const inside = await import('tandem/dist/node.js').catch(({ code }) => code)
      console.log(JSON.stringify([await node.request({ method: 'eth_chainId' }), manifest.name, inside]))
      await node.close()`,
    )
    const { stdout } = await run(process.execPath, ['--no-warnings', 'import.js'], { cwd: clean })
    expect(JSON.parse(stdout)).toEqual(['0x21', 'tandem', 'ERR_PACKAGE_PATH_NOT_EXPORTED'])
  })

  it('brings types that a TypeScript project compiles against, its declarations checked too', async () => {
    link('@types/node')
    writeFileSync(
      join(clean, 'consumer.ts'),
      `import { createNode, type Hex, type Node, NodeError, type NodeOptions, type Server, serve } from 'tandem'
      const options: NodeOptions = { mining: 'manual', accounts: 3 }
      const node: Node = await createNode(options)
      const server: Server = await serve(node, { port: 0 })
      export const hash: Hex = node.engine.queries.head().hash
      export const sentence = (error: unknown): string => (error instanceof NodeError ? error.kind : server.url)
      // @ts-expect-error: there is no such way of mining
      await createNode({ mining: 'sometimes' })
      // @ts-expect-error: a hash is text
      export const number: number = hash`,
    )
    const flags = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--lib',
      'es2023',
      '--types',
      'node',
    ]
    const compile = [join(MODULES, 'typescript/bin/tsc'), ...flags, '--skipLibCheck', 'false', 'consumer.ts']
    const told = await run(process.execPath, compile, { cwd: clean }).then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout as string,
    )
    // The declarations of libraries are theirs to keep whole.
    const ours = told.split('\n').filter((line) => /^(consumer|node_modules\/tandem\/)/.test(line))
    expect(ours).toEqual([])
  })
})
