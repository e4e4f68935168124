/** The bundle of the commands: what `tandem` and `tandem-anvil` run, in few files, since finding and compiling hundreds takes half a second. */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'rolldown'

/** Where the chunks lie: as deep under the package as the modules do, so that both find its files. */
const CHUNKS = 'command'

/** Native code, which has to lie where its package puts it; and what a library takes if it happens to be there. */
const EXTERNAL = ['classic-level', /^secp256k1(\/|$)/, 'bufferutil', 'utf-8-validate', '@node-rs/xxhash']

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
function notices(): Plugin {
  return {
    name: 'notices',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      const folders = new Set(modules.flatMap((module) => packageOf(module) ?? []))
      const source = [...folders]
        .map(noticeOf)
        .sort()
        .join(`\n\n${'-'.repeat(80)}\n\n`)
      this.emitFile({ type: 'asset', fileName: `${CHUNKS}/THIRD-PARTY-NOTICES.txt`, source: `${source}\n` })
    },
  }
}

/** A build leaves its folder without the chunks of earlier ones, whose names were others. */
function sweep(): Plugin {
  return {
    name: 'sweep',
    writeBundle({ dir = '.' }, bundle) {
      const folder = join(dir, CHUNKS)
      for (const name of readdirSync(folder)) {
        if (!(`${CHUNKS}/${name}` in bundle)) rmSync(join(folder, name))
      }
    },
  }
}

export default defineConfig({
  input: { main: 'src/cli/main.ts', anvil: 'src/cli/anvil.ts' },
  platform: 'node',
  logLevel: 'warn',
  external: EXTERNAL,
  plugins: [notices(), sweep()],
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: 'cli/[name].js',
    chunkFileNames: `${CHUNKS}/[name]-[hash].js`,
    // Blanks are most of what can be saved; with the names kept, the traces of errors can be read.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  },
})
