/** The bundles of the command and of the explorer, looked into rather than run: what each of its parts loads before it does anything. */
import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type OutputChunk, rolldown } from 'rolldown'
import { beforeAll, describe, expect, it } from 'vitest'
import configs from '../../rolldown.config.ts'

const SRC = fileURLToPath(new URL('../../src/', import.meta.url))
/** What only those pay for who use it, and what it is for. */
const LAZY = {
  '@ethereumjs/evm': 'comparing with Ethereum, and `--evm ethereumjs` and `both`',
  '@ethereumjs/trie': 'comparing with Ethereum',
  '@ethereumjs/vm': 'comparing with Ethereum',
  '@ethereumjs/tx': 'comparing with Ethereum',
  '@scure/bip39': 'a mnemonic',
  express: 'pages',
  level: 'a data directory',
  'micro-eth-signer': 'ABIs and typed data',
  pino: 'lines of JSON',
  'prom-client': 'figures',
  'rate-limiter-flexible': 'keys',
  redis: 'keys that nodes share',
}

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
  it('prints its version and its commands with the reader of the command line alone', () => {
    expect(packagesIn(eagerOf('cli/main.ts'))).toEqual(new Set(['commander']))
  })

  it('explains the flags of a node without loading one', () => {
    expect(packagesIn(eagerOf('cli/start-command.ts'))).toEqual(new Set(['commander', 'zod']))
  })

  it('starts a node without what only some nodes need', () => {
    const eager = packagesIn(eagerOf('cli/start.ts'))
    expect([...eager].filter((name) => name in LAZY)).toEqual([])
    expect(eager).toContain('zod')
    expect([...packagesIn(chunks.values())]).toEqual(expect.arrayContaining(Object.keys(LAZY)))
  })

  it('imports a node in process without what only some nodes need', () => {
    const eager = packagesIn(eagerOf('index.ts'))
    expect([...eager].filter((name) => name in LAZY)).toEqual([])
  })

  it('imports nothing from elsewhere but Node itself, native code, and the peer that an export is for', () => {
    const foreign = [...chunks.values()].flatMap((chunk) =>
      [...chunk.imports, ...chunk.dynamicImports]
        .filter((name) => !chunks.has(name) && !isBuiltin(name) && name !== '@node-rs/xxhash')
        .map((name) => `${chunk.name} imports ${name}`),
    )
    expect(foreign.toSorted()).toEqual([
      'runners/ethers imports ethers',
      'runners/viem imports viem',
      'runners/vitest imports vitest',
    ])
  })
})
