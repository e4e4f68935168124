/**
 * The bundles of the commands, of the package's exports and of the explorer. What `tandem` and an importer run lies in
 * few files, since finding and compiling hundreds takes half a second.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import {
  type ChunkingContext,
  type CodeSplittingGroup,
  defineConfig,
  type OutputBundle,
  type Plugin,
} from 'rolldown'

/** Where the chunks lie: as deep under the package as the modules do, so that both find its files. */
const CHUNKS = 'chunks'

const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8'))

/**
 * What stays outside: the packages that an installation brings (dependencies) or an importer has (peers). All else that
 * the code imports is bundled and so a development dependency: what every start of a node loads, and `@nats-io`, one of whose
 * packages makes npm warn on Node.js 20. A start with the former outside as well takes 480 ms of processor time in place of
 * 345 (`ws` alone 100 more, `zod` 75), and 85 MB of memory in place of 77.
 */
const LISTED = Object.keys({
  ...MANIFEST.dependencies,
  ...MANIFEST.optionalDependencies,
  ...MANIFEST.peerDependencies,
})

/** What a bundled library takes if it happens to be there. */
const TAKEN_IF_THERE = ['bufferutil', 'utf-8-validate']

/** The entries of the package: the commands, and every file that `exports` in package.json names. */
const ENTRIES = {
  'cli/main': 'src/cli/main.ts',
  'cli/anvil': 'src/cli/anvil.ts',
  index: 'src/index.ts',
  ...Object.fromEntries(
    ['ethers', 'jest', 'mocha', 'node-test', 'viem', 'vitest'].map((name) => [
      `runners/${name}`,
      `src/runners/${name}.ts`,
    ]),
  ),
}

/** The folder of the package that a module is of; `undefined` for our own, and for what the bundler made up. */
function packageOf(module: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.[0]
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  const head = `${name} ${version} (${license})\nhttps://www.npmjs.com/package/${name}/v/${version}`
  return [head, ...texts].join('\n\n')
}

/** Licences ask that their text goes along with the code: a file beside the bundle holds those of all that is in it. */
function notices(folder: string): Plugin {
  return {
    name: 'notices',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      const packages = new Set(modules.flatMap((module) => packageOf(module) ?? []))
      const source = [...packages]
        .map(noticeOf)
        .sort()
        .join(`\n\n${'-'.repeat(80)}\n\n`)
      this.emitFile({
        type: 'asset',
        fileName: join(folder, 'THIRD-PARTY-NOTICES.txt'),
        source: `${source}\n`,
      })
    },
  }
}

/** A build leaves its folder without the chunks of earlier ones, whose names were others. */
function sweep(within: string): Plugin {
  return {
    name: 'sweep',
    writeBundle({ dir = '.' }, bundle) {
      const folder = join(dir, within)
      for (const name of readdirSync(folder)) {
        if (!(join(within, name) in bundle)) rmSync(join(folder, name))
      }
    },
  }
}

/**
 * Writes characters beyond ASCII as escapes: V8 keeps a file with any beyond Latin-1 as two bytes a character, which takes
 * longer to decode and to parse.
 */
function ascii(): Plugin {
  return {
    name: 'ascii',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== 'chunk') continue
        file.code = file.code.replace(
          /[^\0-\x7f]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        )
      }
    },
  }
}

/** A chunk and those that it needs to run, by file name. */
function withImports(bundle: OutputBundle, fileName: string, found: Set<string> = new Set()): Set<string> {
  const chunk = bundle[fileName]
  if (chunk?.type !== 'chunk' || found.has(fileName)) return found
  found.add(fileName)
  for (const name of chunk.imports) withImports(bundle, name, found)
  return found
}

/** The chunk that a module begins. */
function chunkOf(bundle: OutputBundle, module: string): string {
  const chunk = Object.values(bundle).find(
    (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith(`/${module}`),
  )
  if (chunk === undefined) throw new Error(`No chunk begins with ${module}`)
  return chunk.fileName
}

/** Styles without comments and without the blanks around lines. */
function shortened(css: string): string {
  return css
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s*\n\s*/g, '\n')
    .trim()
}

/**
 * The files of the explorer that no module imports: its icon, its styles in one file, and the page that names them. The
 * first file of styles is in the page itself, so that the page is painted before anything else has come. The page also
 * names the scripts of the overview, so that a browser asks for all of them at once.
 */
function page(folder: string): Plugin {
  return {
    name: 'page',
    generateBundle(_options, bundle) {
      const emit = (name: string, source: string) =>
        this.getFileName(this.emitFile({ type: 'asset', name, source }))
      const [first, ...styles] = readdirSync(join(folder, 'styles'))
        .sort()
        .map((name) => shortened(readFileSync(join(folder, 'styles', name), 'utf8')))
      const script = chunkOf(bundle, 'ui/main.ts')
      const scripts = ['ui/start.tsx', 'ui/pages/overview.tsx'].flatMap((module) => [
        ...withImports(bundle, chunkOf(bundle, module)),
      ])
      const preloads = [...new Set(scripts)].filter((name) => name !== script)
      const parts: Readonly<Record<string, string>> = {
        script: `ui/${script}`,
        first: first ?? '',
        style: `ui/${emit('style.css', styles.join('\n'))}`,
        icon: `ui/${emit('icon.svg', readFileSync(join(folder, 'icon.svg'), 'utf8'))}`,
        preloads: preloads.map((name) => `<link rel="modulepreload" href="ui/${name}">`).join('\n'),
      }
      const html = readFileSync(join(folder, 'index.html'), 'utf8')
      const source = html.replace(/(?:\/\*)?\{(\w+)\}(?:\*\/)?/g, (_, name) => parts[name] ?? '')
      this.emitFile({ type: 'asset', fileName: 'index.html', source })
    },
  }
}

/** Writes each file of a folder a second and third time, compressed for browsers that take it so. */
function compressed(within: string): Plugin {
  return {
    name: 'compressed',
    writeBundle({ dir = '.' }) {
      const folder = join(dir, within)
      for (const name of readdirSync(folder)) {
        if (!/\.(js|css|html|svg)$/.test(name)) continue
        const bytes = readFileSync(join(folder, name))
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes))
        writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
      }
    },
  }
}

/** Is a module imported by another, directly? */
const isImportedBy = (importer: RegExp, module: string, context: ChunkingContext): boolean =>
  context.getModuleInfo(module)?.importers.some((name) => importer.test(name)) ?? false

/**
 * What every start of a node loads, in four files instead of one for each set of commands that share something: finding,
 * reading and linking some seventy files took a fifth of the start. A group holds what its modules import as well. The
 * command's first module is in none, since what it awaits imports the first group. The debug adapter needs the third, and
 * would load the whole node otherwise, which doubles its start.
 */
const START_GROUPS: CodeSplittingGroup[] = [
  {
    debugName: 'command',
    name: (module, context) => (isImportedBy(/\/src\/cli\/main\.ts$/, module, context) ? 'command' : null),
    priority: 4,
  },
  { name: 'settings', test: /\/src\/cli\/start-command\.ts$/, priority: 3 },
  { name: 'answers', test: /\/src\/rpc\/wire\/debugger-answers\.ts$/, priority: 2 },
  { name: 'node', test: /\/src\/index\.ts$/, priority: 1 },
]

const node = defineConfig({
  input: ENTRIES,
  platform: 'node',
  logLevel: 'warn',
  external: [...LISTED.map((name) => new RegExp(`^${name}(/|$)`)), ...TAKEN_IF_THERE],
  // Of modules in place of CommonJS only what is used is kept: of hash-wasm two of 22 algorithms.
  resolve: { mainFields: ['module', 'main'] },
  plugins: [notices(CHUNKS), sweep(CHUNKS), ascii()],
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `${CHUNKS}/[name]-[hash].js`,
    codeSplitting: { groups: START_GROUPS },
    // Blanks are most of what can be saved, then names of local variables and of private members; with the names of functions,
    // of classes and of what a module declares kept, the traces of errors can be read.
    minify: {
      compress: false,
      mangle: { toplevel: false, keepNames: true },
      codegen: { removeWhitespace: true },
    },
  },
})

/** What the pages that write calls share: the encoder. */
const OF_CALLS = /\/node_modules\/|\/src\/ui\/abi\.ts$/
/** What the pages that show messages share: call trees, changes of state, events. */
const OF_MESSAGES = /\/src\/ui\/(trace\.ts|components\/(call-tree|event-table|state-changes)\.tsx)$/
/** Libraries that every page runs on. */
const OF_ALL = /\/node_modules\/(preact|@preact)\//

/** What two pages need is one file, not one for each set of pages; the first page loads only the first group. */
const EXPLORER_GROUPS: CodeSplittingGroup[] = [
  {
    name: 'shared',
    minShareCount: 2,
    test: (module) => OF_ALL.test(module) || !(OF_CALLS.test(module) || OF_MESSAGES.test(module)),
    priority: 2,
  },
  { name: 'messages', minShareCount: 2, test: OF_MESSAGES, priority: 1 },
  { name: 'calls', minShareCount: 2 },
]

const explorer = defineConfig({
  input: 'src/ui/main.ts',
  platform: 'browser',
  logLevel: 'warn',
  transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [notices(''), page('src/ui'), sweep(''), compressed('')],
  // Compressing takes most of the time that this build takes.
  checks: { bundlerTimings: false },
  output: {
    dir: 'dist/ui',
    format: 'esm',
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    assetFileNames: '[name]-[hash][extname]',
    minify: true,
    codeSplitting: { groups: EXPLORER_GROUPS },
  },
})

const configs = [node, explorer] as const

export default configs
