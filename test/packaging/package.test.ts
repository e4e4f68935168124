/**
 * The packages as users get them: packed from the sources alone, installed by npm into a clean project, started by npx and
 * compiled against. npm asks a registry on this machine that has what this checkout installed; `npm run test:pack` has it
 * ask the public one instead.
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
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCommand } from '../support/command.ts'
import { artifact } from '../support/contracts.ts'
import { brokenLinks } from '../support/doc-links.ts'
import {
  CONTAINER_COMMAND,
  CONTAINER_PROGRAM,
  CONTAINER_REQUESTS,
  writeFakeTestcontainers,
} from '../support/fake-testcontainers.ts'
import { rpc } from '../support/json-rpc.ts'
import { type Registry, startRegistry } from '../support/registry.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MODULES = join(ROOT, 'node_modules')
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const run = promisify(execFile)

/** A build and an install on a slow machine, milliseconds. */
const TIME_LIMIT_MS = 240_000
/**
 * Largest package, bytes: packed, and as it lies on a disk. The protocol of agents is 0.29 MB of that, and the codes of
 * predeployed contracts 0.18 MB.
 */
const PACKED_LIMIT = 1_800_000
const UNPACKED_LIMIT = 6_000_000
/** In the place of Hardhat, which the plugin has to find, and of which it loads no module outside of Hardhat. */
const HARDHAT = { name: 'hardhat', version: '3.0.0' }

const folder = mkdtempSync(join(tmpdir(), 'package-'))
const stage = join(folder, 'stage')
const clean = join(folder, 'clean')
const place = join(clean, 'node_modules/tandem')
const main = join(place, manifest.bin.tandem)
let registry: Registry
afterAll(async () => {
  await registry?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What `npm pack --json` prints. */
interface Packed {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

async function npmPack(cwd: string): Promise<Packed> {
  const { stdout } = await run('npm', ['pack', '--silent', '--json', '--pack-destination', folder], { cwd })
  return JSON.parse(stdout.slice(stdout.search(/^\[/m)))[0]
}

/** Packs what a fresh checkout has, by npm's own rules and scripts. */
async function pack(): Promise<Packed> {
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
  return npmPack(stage)
}

/** Without the settings of npm on this machine. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)))
}

let packed: Packed
let contents: string[]
/** What npm printed while it installed. */
let installed: { readonly stdout: string; readonly stderr: string }
beforeAll(async () => {
  const [node, plugin, containers, sources] = await Promise.all([
    pack(),
    npmPack(join(ROOT, 'packages/hardhat-tandem')),
    npmPack(join(ROOT, 'packages/testcontainers-tandem')),
    npmPack(join(ROOT, 'packages/tandem-predeploys')),
  ])
  packed = node
  contents = packed.files.map(({ path }) => path)
  mkdirSync(clean)
  writeFileSync(join(clean, 'package.json'), '{ "type": "module", "private": true }')
  const hardhat = join(folder, 'hardhat')
  mkdirSync(hardhat)
  writeFileSync(join(hardhat, 'package.json'), JSON.stringify(HARDHAT))
  const testcontainers = join(folder, 'testcontainers')
  writeFakeTestcontainers(testcontainers)
  registry = await startRegistry(ROOT, [hardhat, testcontainers])
  const local = ['--registry', registry.url, '--cache', join(folder, 'cache'), '--prefer-dedupe']
  const from = process.env.PACK_INSTALL === 'npm' ? [] : local
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', ...from]
  const archives = [node, plugin, containers, sources].map(({ filename }) => join(folder, filename))
  installed = await run('npm', ['install', ...flags, ...archives], {
    cwd: clean,
    env: { ...withoutSettings(process.env), npm_config_userconfig: join(folder, 'no-npmrc') },
  })
}, TIME_LIMIT_MS)

describe('the packed package', () => {
  it('contains the bundles, the declarations, the genesis files and the documents, and nothing else', () => {
    const genesis = ['regtest', 'devnet', 'testnet', 'mainnet'].map((chain) => `genesis/${chain}.json`)
    const bundles = Object.values<string | { default: string }>(manifest.exports)
      .filter((entry) => typeof entry === 'object')
      .map((entry) => entry.default.replace('./', ''))
    const commands = Object.values<string>(manifest.bin)
    const top = ['package.json', 'README.md', 'LICENSE']
    const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(md|svg|json)$/.test(name) && !name.startsWith('internals/'))
      .map((name) => `docs/${name}`)
    const chunk = /^dist\/chunks\/[\w-]+\.js$/
    const bundled = contents.filter((name) => name.startsWith('dist/chunks/'))
    expect(bundled.filter((name) => !chunk.test(name))).toEqual(['dist/chunks/THIRD-PARTY-NOTICES.txt'])
    // The explorer is there as its bundle alone, whose names carry a hash of their content.
    const explorer = contents.filter((name) => name.startsWith('dist/ui/'))
    const named = (name: string) => /^dist\/ui\/[\w-]+-[\w-]{8}\.(js|css|svg)$/.test(name)
    // Each as it is and compressed, but for the licences.
    const plain = explorer.filter((name) => !/\.(br|gz)$/.test(name)).filter((name) => !named(name))
    expect(plain.toSorted()).toEqual(['dist/ui/THIRD-PARTY-NOTICES.txt', 'dist/ui/index.html'])
    const compressed = explorer.filter((name) => named(name) || name.endsWith('.html'))
    expect(explorer.length).toBe(1 + 3 * compressed.length)
    const declarations = contents.filter((name) => name.endsWith('.d.ts'))
    const sorted = new Set([...bundled, ...explorer, ...declarations])
    const others = contents.filter((name) => !sorted.has(name))
    expect(others.toSorted()).toEqual([...bundles, ...commands, ...documents, ...genesis, ...top].toSorted())
    expect(readFileSync(join(place, 'dist/index.js'), 'utf8')).not.toContain('sourceMappingURL')
  })

  it('is small', () => {
    expect(packed.size).toBeLessThan(PACKED_LIMIT)
    expect(packed.unpackedSize).toBeLessThan(UNPACKED_LIMIT)
  })

  it('is installed, with the plugin for Hardhat, without a warning of npm', () => {
    expect(installed.stderr.split('\n').filter((line) => /warn|error/i.test(line))).toEqual([])
    const { dependencies } = JSON.parse(readFileSync(join(clean, 'package.json'), 'utf8'))
    expect(Object.keys(dependencies)).toEqual([
      'hardhat-tandem',
      'tandem',
      'tandem-predeploys',
      'testcontainers-tandem',
    ])
  })

  it('describes a container of its image, with flags that the command has', async () => {
    writeFileSync(join(clean, 'container.js'), CONTAINER_PROGRAM)
    const { stdout } = await run(process.execPath, ['container.js'], { cwd: clean })
    const { asked, urls } = JSON.parse(stdout)
    expect(asked).toEqual([...CONTAINER_REQUESTS, ['withCommand', CONTAINER_COMMAND]])
    expect(urls).toEqual(['http://127.0.0.9:44444', 'ws://127.0.0.9:44444'])
    const node = await startCommand(CONTAINER_COMMAND.slice(1), { main, cwd: folder })
    expect(await node.end('SIGTERM')).toBe(0)
  })

  it('depends only on packages that support all its Node.js releases and are not deprecated', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
    const used = Object.entries<{
      dev?: boolean
      peer?: boolean
      deprecated?: string
      engines?: { node?: string }
    }>(packages).filter(([, { dev, peer }]) => !dev && !peer)
    const refused = used.filter(([, { engines }]) => {
      const takes = (release: number) =>
        (engines?.node ?? '>=0').split('||').some((range) => {
          const [, sign, major, minor] = /^\s*(>=|\^)?\s*(\d+)(?:\.(\d+))?[.\dx]*\s*$/.exec(range) ?? []
          if (major === undefined) throw new Error(`cannot read the range ${range}`)
          const least = Number(major) + Number(minor ?? 0) / 100
          return release >= least && (sign === '>=' || Math.floor(release) === Number(major))
        })
      return ![20.19, 22, 24, 26].every(takes)
    })
    expect(refused).toEqual([])
    expect(used.filter(([, { deprecated }]) => deprecated !== undefined)).toEqual([])
  })

  it('contains all files that its documents link to, except pictures and maintainer documents', () => {
    const pages = contents
      .filter((name) => name.endsWith('.md'))
      .map((name) => [name, readFileSync(join(place, name), 'utf8')] as const)
    const left = brokenLinks(new Map(pages), (path) => existsSync(join(place, path)))
    const expected = /^(\.\.\/)*((docs\/)?(internals\/.*|images\/.*\.png)|CONTRIBUTING\.md.*)$/
    expect(left.filter(({ cited }) => !expected.test(cited))).toEqual([])
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

  it('runs each part of the command in a folder of its own', async () => {
    const bare = join(folder, 'bare')
    mkdirSync(bare)
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

  it('continues to answer when a module that it loads on demand is missing', async () => {
    const torn = join(clean, 'node_modules/torn')
    cpSync(place, torn, { recursive: true })
    const chunks = join(torn, 'dist/chunks')
    const [router] = readdirSync(chunks).filter((name) => /^router-/.test(name))
    rmSync(join(chunks, router as string))
    const node = await startCommand(['--memory'], { main: join(torn, manifest.bin.tandem), cwd: folder })
    expect((await fetch(`${node.url}/healthz`)).status).toBe(500)
    expect(await rpc(node.url, 'eth_blockNumber')).toBe('0x0')
    expect(node.output()).toContain('the Express router cannot be loaded')
    expect(await node.end('SIGTERM')).toBe(0)
  })

  it('is imported by its name, not by internal paths, and finds the package of sources', async () => {
    writeFileSync(
      join(clean, 'import.js'),
      `import { createNode } from 'tandem'
      import manifest from 'tandem/package.json' with { type: 'json' }
      const node = await createNode({ predeploy: ['permit2'] })
      const permit2 = { method: 'evm_sourcesAt', params: ['0x000000000022d473030f116ddee9f6b43ac78ba3'] }
      const inside = await import('tandem/dist/node.js').catch(({ code }) => code)
      console.log(JSON.stringify([(await node.request(permit2)).file, manifest.name, inside]))
      await node.close()`,
    )
    const { stdout } = await run(process.execPath, ['--no-warnings', 'import.js'], { cwd: clean })
    expect(JSON.parse(stdout)).toEqual(['src/Permit2.sol', 'tandem', 'ERR_PACKAGE_PATH_NOT_EXPORTED'])
  })

  it('has types that a TypeScript project compiles against without skipLibCheck', async () => {
    mkdirSync(join(clean, 'node_modules/@types'))
    symlinkSync(join(MODULES, '@types/node'), join(clean, 'node_modules/@types/node'), 'dir')
    if (!existsSync(join(clean, 'node_modules/undici-types')))
      symlinkSync(join(MODULES, 'undici-types'), join(clean, 'node_modules/undici-types'), 'dir')
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

  it('declares its types only from its own and its peers’ declarations', () => {
    const declared = contents
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => readFileSync(join(place, name), 'utf8'))
    const from = declared.flatMap((text) =>
      [...text.matchAll(/from '([^'.][^']*)'/g)].map(([, name]) => name as string),
    )
    expect([...new Set(from.filter((name) => !isBuiltin(name)))].toSorted()).toEqual([
      'ethers',
      'viem',
      'vitest',
    ])
  })
})

describe('the packed plugin for Hardhat', () => {
  it('accepts later releases of the node', () => {
    const { peerDependencies } = JSON.parse(
      readFileSync(join(clean, 'node_modules/hardhat-tandem/package.json'), 'utf8'),
    )
    expect(peerDependencies.tandem).toBe(`^${manifest.version}`)
  })

  it('gives each connection of Hardhat 3 a node of the installed package', async () => {
    writeFileSync(
      join(clean, 'plugin.js'),
      `import { tandem } from 'hardhat-tandem/3'
      const hooks = async (name) => (await tandem.hookHandlers[name]()).default()
      const { extendUserConfig, resolveUserConfig } = await hooks('config')
      const user = await extendUserConfig({ tandem: { chainId: 4242 } }, async (config) => config)
      const config = await resolveUserConfig(user, undefined, async () => user)
      const { newConnection, closeConnection } = await hooks('network')
      const context = { config: { ...config, paths: { artifacts: 'no-artifacts' } } }
      const connection = await newConnection(context, async () => ({ url: await config.networks.tandem.url.getUrl() }))
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(connection.url, { method: 'POST', headers, body })
      console.log((await answer.json()).result)
      await closeConnection(context, connection, async () => {})`,
    )
    const { stdout } = await run(process.execPath, ['plugin.js'], { cwd: clean })
    expect(stdout).toBe('0x1092\n')
  })
})
