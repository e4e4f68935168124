/** The bundles of the command and of the explorer, looked into rather than run: what each of its parts loads before it does anything. */
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type OutputChunk, rolldown } from 'rolldown'
import { beforeAll, describe, expect, it } from 'vitest'
import configs from '../../rolldown.config.ts'

const SRC = fileURLToPath(new URL('../../src/', import.meta.url))
const MANIFEST = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
)
/** Bundled, and loaded only where a cluster is. */
const CLUSTER = /^@nats-io\//

let chunks: ReadonlyMap<string, OutputChunk>
beforeAll(async () => {
  const [config] = configs
  const bundle = await rolldown(config)
  const { output } = await bundle.generate([config.output].flat()[0])
  await bundle.close()
  chunks = new Map(output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file]] : [])))
})

const packageOf = (module: string): string | undefined =>
  /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1]

function packagesIn(files: Iterable<OutputChunk>): Set<string> {
  return new Set([...files].flatMap(({ moduleIds }) => moduleIds.flatMap((id) => packageOf(id) ?? [])))
}

/** The package that an import names. */
const named = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/** What chunks import from installed packages. */
function installed(files: Iterable<OutputChunk>, kinds: readonly ('imports' | 'dynamicImports')[]): string[] {
  const all = [...files].flatMap((chunk) => kinds.flatMap((kind) => chunk[kind]))
  return [...new Set(all.filter((name) => !chunks.has(name) && !isBuiltin(name)).map(named))].toSorted()
}

/** The chunks that are loaded before a module of ours runs. */
function eagerOf(module: string): Set<OutputChunk> {
  const first = [...chunks.values()].find(({ moduleIds }) => moduleIds.includes(`${SRC}${module}`))
  if (first === undefined) throw new Error(`${module} is not in the bundle`)
  const found = new Set([first])
  for (const chunk of found) {
    for (const name of chunk.imports) {
      const next = chunks.get(name)
      if (next !== undefined) found.add(next)
    }
  }
  return found
}

describe('the bundle', () => {
  it('imports node:http nowhere, whose exports as an ES module load undici', () => {
    const importing = [...chunks.values()].filter(({ imports }) => imports.includes('node:http'))
    expect(importing.map(({ fileName }) => fileName)).toEqual([])
  })

  it('prints its version and its commands by loading only the command line parser', () => {
    expect(packagesIn(eagerOf('cli/main.ts'))).toEqual(new Set(['commander']))
  })

  it('prints the flags of a node without loading the node', () => {
    expect(packagesIn(eagerOf('cli/start-command.ts'))).toEqual(new Set(['commander', 'zod']))
  })

  it.each(['cli/start.ts', 'index.ts'])('does not load optional modules from %s', (module) => {
    const eager = eagerOf(module)
    expect(installed(eager, ['imports'])).toEqual([])
    expect([...packagesIn(eager)].filter((name) => CLUSTER.test(name))).toEqual([])
    expect([...packagesIn(chunks.values())].some((name) => CLUSTER.test(name))).toBe(true)
    // Loaded with --bitcoin.
    const peg = /\/src\/(peg|bitcoin-rpc|bitcoin\/(chain|wallet|interpreter)|transport\/bitcoin)\//
    expect([...eager].flatMap(({ moduleIds }) => moduleIds.filter((id) => peg.test(id)))).toEqual([])
    // Loaded with --chaos, but for the switch.
    const chaos = /\/src\/(chaos\/|transport\/disturbed-)/
    const ofChaos = [...eager].flatMap(({ moduleIds }) => moduleIds.filter((id) => chaos.test(id)))
    expect(ofChaos.map((id) => id.slice(SRC.length))).toEqual(['chaos/switch.ts'])
    // Loaded with --predeploy, but for the names.
    const predeploys = /\/src\/chain\/predeploys\//
    const ofPredeploys = [...eager].flatMap(({ moduleIds }) => moduleIds.filter((id) => predeploys.test(id)))
    expect(ofPredeploys.map((id) => id.slice(SRC.length))).toEqual(['chain/predeploys/names.ts'])
    // Loaded with --mcp and `tandem mcp`, but for the documents, and with --telemetry.
    const agents = /\/src\/(mcp\/|telemetry\/|transport\/mcp-answers)/
    const ofAgents = [...eager].flatMap(({ moduleIds }) => moduleIds.filter((id) => agents.test(id)))
    expect(ofAgents.map((id) => id.slice(SRC.length))).toEqual(['mcp/documents.ts'])
    expect([...packagesIn(eager)].filter((name) => name.startsWith('@modelcontextprotocol/'))).toEqual([])
    // Loaded with a data directory, and with the first session of the debugger.
    const others = /\/src\/(store\/level|engine\/sources\/debugger|debugger\/debug-session)\.ts$/
    expect([...eager].flatMap(({ moduleIds }) => moduleIds.filter((id) => others.test(id)))).toEqual([])
    // Loaded with the first WebSocket, with TLS, and with --fork.
    expect([...packagesIn(eager)]).not.toContain('ws')
    const builtins = new Set([...eager].flatMap(({ imports }) => imports.filter((name) => isBuiltin(name))))
    expect([...builtins].filter((name) => /^node:(https|tls)$/.test(name))).toEqual([])
  })

  it('is in ASCII', () => {
    // V8 keeps any other text as two bytes a character, or decodes it by a slower path.
    const others = [...chunks.values()].filter(({ code }) => /[^\0-\x7f]/.test(code))
    expect(others.map(({ fileName }) => fileName)).toEqual([])
    expect(
      [...chunks.values()].some(({ code }) => code.includes('\\u2014') || code.includes('\\u2026')),
    ).toBe(true)
  })

  it('imports the dependencies in the manifest, and bundles all others', () => {
    const listed = Object.keys({ ...MANIFEST.dependencies, ...MANIFEST.optionalDependencies })
    const peers = Object.keys(MANIFEST.peerDependencies)
    const imported = installed(chunks.values(), ['imports', 'dynamicImports'])
    expect(imported.filter((name) => !peers.includes(name))).toEqual(
      // Required, where it is there.
      listed.filter((name) => name !== 'secp256k1').toSorted(),
    )
    const bundled = packagesIn(chunks.values())
    expect(listed.filter((name) => bundled.has(name))).toEqual([])
    const ofChunks = (name: string) =>
      [...chunks.values()].filter((chunk) =>
        [...chunk.imports, ...chunk.dynamicImports].some((one) => named(one) === name),
      )
    expect(peers.flatMap((name) => ofChunks(name).map((chunk) => [name, chunk.name]))).toEqual([
      ['@opentelemetry/api', 'sdk'],
      ['@opentelemetry/api', 'telemetry'],
      ['@opentelemetry/api-logs', 'telemetry'],
      ['@opentelemetry/sdk-node', 'sdk'],
      ['ethers', 'runners/ethers'],
      ['viem', 'runners/viem'],
      ['vitest', 'runners/vitest'],
    ])
  })
})
