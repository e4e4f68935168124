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
import { startCommand } from '../support/command.ts'
import { artifact } from '../support/contracts.ts'
import { brokenLinks } from '../support/doc-links.ts'
import { rpc } from '../support/json-rpc.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MODULES = join(ROOT, 'node_modules')
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const run = promisify(execFile)

/** A build and an install on a slow machine, milliseconds. */
const TIME_LIMIT_MS = 240_000

const folder = mkdtempSync(join(tmpdir(), 'package-'))
const stage = join(folder, 'stage')
const clean = join(folder, 'clean')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function link(name: string, where = clean): void {
  const place = join(where, 'node_modules', name)
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

/** The package's folder among the modules of `where`, with what the tarball holds. */
async function unpackInto(where: string): Promise<string> {
  const place = join(where, 'node_modules/tandem')
  mkdirSync(place, { recursive: true })
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  await run('tar', ['-xzf', join(folder, tarball as string), '-C', place, '--strip-components', '1'])
  return place
}

/** Puts the tarball into the clean folder as npm would, with links where npm would load from the registry. */
async function unpack(): Promise<void> {
  const place = await unpackInto(clean)
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
}, TIME_LIMIT_MS)

describe('the packed package', () => {
  it('holds the built sources, the command, the genesis files and what a reader needs, and nothing else', () => {
    const built = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('ui/'))
      .flatMap((name) => [name.replace(/\.ts$/, '.js'), name.replace(/\.ts$/, '.d.ts')])
      .map((name) => `dist/${name}`)
    const genesis = ['regtest', 'devnet', 'testnet', 'mainnet'].map((chain) => `genesis/${chain}.json`)
    const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.\w+$/.test(name))
      .map((name) => `docs/${name}`)
    const top = ['package.json', 'README.md', 'CONTRIBUTING.md', 'LICENSE']
    const expected = [...built, ...documents, ...genesis, ...top]
    const chunk = /^package\/dist\/chunks\/[\w-]+\.js$/
    const bundled = contents.filter((name) => name.startsWith('package/dist/chunks/'))
    expect(bundled.filter((name) => !chunk.test(name))).toEqual([
      'package/dist/chunks/THIRD-PARTY-NOTICES.txt',
    ])
    // The explorer is there as its bundle alone, whose names carry a hash of their content.
    const explorer = contents.filter((name) => name.startsWith('package/dist/ui/'))
    const named = (name: string) => /^package\/dist\/ui\/[\w-]+-[\w-]{8}\.(js|css|svg)$/.test(name)
    // Each as it is and compressed, but for the licences.
    const plain = explorer.filter((name) => !/\.(br|gz)$/.test(name)).filter((name) => !named(name))
    expect(plain.toSorted()).toEqual([
      'package/dist/ui/THIRD-PARTY-NOTICES.txt',
      'package/dist/ui/index.html',
    ])
    const compressed = explorer.filter((name) => named(name) || name.endsWith('.html'))
    expect(explorer.length).toBe(1 + 3 * compressed.length)
    const others = contents.filter((name) => !bundled.includes(name) && !explorer.includes(name))
    expect(others.toSorted()).toEqual(expected.map((name) => `package/${name}`).toSorted())
    expect(readFileSync(join(clean, 'node_modules/tandem/dist/index.js'), 'utf8')).not.toContain(
      'sourceMappingURL',
    )
  })

  it('holds all that its documents link to', () => {
    const place = join(clean, 'node_modules/tandem')
    const pages = contents
      .map((name) => name.replace(/^package\//, ''))
      .filter((name) => name.endsWith('.md'))
      .map((name) => [name, readFileSync(join(place, name), 'utf8')] as const)
    expect(brokenLinks(new Map(pages), (path) => existsSync(join(place, path)))).toEqual([])
  })

  it('starts by npx, keeps a contract in its directory, and ends at SIGTERM', async () => {
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

  it('brings the whole command along: beside the tarball it needs only the native database', async () => {
    const bare = join(folder, 'bare')
    const place = await unpackInto(bare)
    link('classic-level', bare)
    const main = join(place, manifest.bin.tandem)
    const tandem = (...args: string[]) =>
      run(process.execPath, [main, ...args], { cwd: bare }).catch(
        (error: { stdout: string; stderr: string }) => error,
      )
    const key = (await tandem('keys', 'create', '--api-keys', 'keys.json', '--name', 'me')).stdout.trim()
    const guarded = ['--memory', '--api-keys', 'keys.json']
    expect((await tandem('start', ...guarded, '--redis', 'redis://127.0.0.1:1')).stderr).toMatch(/redis/i)
    expect((await tandem('methods')).stdout).toContain('eth_call')

    const mnemonic = 'test test test test test test test test test test test junk'
    const node = await startCommand(['--data-dir', 'chain', '--mnemonic', mnemonic], { main, cwd: bare })
    const [from] = (await rpc(node.url, 'eth_accounts')) as unknown as string[]
    expect(from).toBe('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266')
    const data = `${artifact('Token').bytecode}${'0'.repeat(62)}64`
    const hash = (await rpc(node.url, 'eth_sendTransaction', [{ from, data, gas: '0x400000' }])) as string
    expect((await tandem('trace', hash, '--url', node.url)).stdout).toContain('succeeded')
    expect((await tandem('drift', hash, '--url', node.url)).stdout).toContain('gas used')
    const typed = {
      domain: { name: 'it' },
      types: { EIP712Domain: [{ name: 'name', type: 'string' }], Word: [{ name: 'word', type: 'string' }] },
      primaryType: 'Word',
      message: { word: 'yes' },
    }
    expect(await rpc(node.url, 'eth_signTypedData_v4', [from, typed])).toMatch(/^0x[0-9a-f]{130}$/)
    expect(await (await fetch(`${node.url}/metrics`)).text()).toContain('tandem_head_height 1')
    expect(await node.end('SIGTERM')).toBe(0)

    const hosted = await startCommand(guarded, { main, cwd: bare })
    expect(await rpc(`${hosted.url}/${key}`, 'eth_blockNumber')).toBe('0x0')
    expect(await hosted.end('SIGTERM')).toBe(0)
  })

  it('goes on answering when a part that it loads late is missing', async () => {
    const torn = join(folder, 'torn')
    const place = await unpackInto(torn)
    const chunks = join(place, 'dist/chunks')
    const [app] = readdirSync(chunks).filter((name) => /^http-app-/.test(name))
    rmSync(join(chunks, app as string))
    const node = await startCommand(['--memory'], { main: join(place, manifest.bin.tandem), cwd: torn })
    expect((await fetch(`${node.url}/healthz`)).status).toBe(500)
    expect(await rpc(node.url, 'eth_blockNumber')).toBe('0x0')
    expect(node.output()).toContain('the Express app cannot be loaded')
    expect(await node.end('SIGTERM')).toBe(0)
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
    const errors = await run(process.execPath, compile, { cwd: clean }).then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout as string,
    )
    // Those of the libraries that they reach must be whole too, without types that only this project installs.
    expect(errors).toBe('')
  })
})
