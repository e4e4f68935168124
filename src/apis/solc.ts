/**
 * Runs `solc` of npm, in the version that is asked for where a project has it, in a process of its own: a compiler that
 * hangs or takes all memory ends alone.
 */
import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { messageOf } from '../errors.ts'

/** What one run may take. */
export interface CompilerLimits {
  readonly timeoutMs: number
  readonly memoryMegabytes: number
  /** Of the output. */
  readonly bytes: number
}

const LIMITS: CompilerLimits = { timeoutMs: 120_000, memoryMegabytes: 2048, bytes: 268_435_456 }

/** Bytes of a page of WebAssembly memory. */
const WASM_PAGE = 65_536

/** Reads the input from stdin, and writes the compiler's version, a line end and its output to stdout. */
const PROGRAM = `
  const chunks = []
  process.stdin.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    const solc = require(process.argv[1])
    const compile = solc.compileStandardWrapper || solc.compile
    process.stdout.write(solc.version() + '\\n' + compile(Buffer.concat(chunks).toString()))
  })`

const Manifest = z.looseObject({ name: z.string(), version: z.string() })

/** Where this package is installed. */
const OWN_FOLDER = dirname(fileURLToPath(import.meta.url))

/** Why a compiler gave no output. */
export class CompilerFailure extends Error {}

/** The output of a run in JSON, not checked, and the version that the compiler states. */
export interface CompilerRun {
  readonly version: string
  readonly output: unknown
}

/** The version of `solc` in a folder, whatever name it is installed under; `undefined` for another package. */
async function versionIn(folder: string): Promise<string | undefined> {
  try {
    const { name, version } = Manifest.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')))
    return name === 'solc' ? version : undefined
  } catch {
    return undefined
  }
}

/** A compiler that is installed. */
interface InstalledCompiler {
  readonly folder: string
  readonly version: string
}

/** The compilers in a `node_modules` above one of the folders, the nearest first. */
async function* compilersAbove(folders: readonly string[]): AsyncGenerator<InstalledCompiler> {
  for (const start of folders) {
    for (let at = resolve(start); ; at = dirname(at)) {
      const modules = join(at, 'node_modules')
      const names = await readdir(modules).catch(() => [])
      for (const name of names.filter((candidate) => candidate.startsWith('solc')).sort()) {
        const folder = join(modules, name)
        const version = await versionIn(folder)
        if (version !== undefined) yield { folder, version }
      }
      if (at === dirname(at)) break
    }
  }
}

/** Where compilers are looked for. */
const searchedFolders = (): readonly string[] => [process.cwd(), OWN_FOLDER]

/**
 * The folder of the npm package `solc` in a version (`0.8.24`) in a `node_modules` above one of the folders. It may have
 * any name that begins with `solc`: `npm install solc-0.8.24@npm:solc@0.8.24` installs several versions beside each other.
 */
export async function findCompiler(
  version: string,
  folders: readonly string[] = searchedFolders(),
): Promise<string | undefined> {
  for await (const compiler of compilersAbove(folders)) {
    if (compiler.version === version) return compiler.folder
  }
  return undefined
}

/** The versions of `solc` that `findCompiler` finds, the newest first. */
export async function installedCompilers(
  folders: readonly string[] = searchedFolders(),
): Promise<readonly string[]> {
  const versions = new Set<string>()
  for await (const { version } of compilersAbove(folders)) versions.add(version)
  return [...versions].sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
}

/** Runs the compiler of a folder until `signal` aborts. Throws `CompilerFailure` that says what it exceeded, or how it ended. */
export function runCompiler(
  folder: string,
  input: string,
  { timeoutMs, memoryMegabytes, bytes }: CompilerLimits = LIMITS,
  signal?: AbortSignal,
): Promise<CompilerRun> {
  const pages = Math.floor((memoryMegabytes * 1_048_576) / WASM_PAGE)
  const flags = [`--max-old-space-size=${memoryMegabytes}`, `--wasm-max-mem-pages=${pages}`]
  // Without the environment of the node, which may hold secrets.
  const child = spawn(process.execPath, [...flags, '-e', PROGRAM, folder], {
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    ...(signal && { signal, killSignal: 'SIGKILL' }),
  })
  return new Promise((resolved, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const fail = (why: string) => {
      child.kill('SIGKILL')
      reject(new CompilerFailure(why))
    }
    const timer = setTimeout(() => fail(`it took longer than ${timeoutMs} ms`), timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > bytes) fail(`its output is longer than ${bytes} bytes`)
      else chunks.push(chunk)
    })
    child.on('error', (error) => fail(messageOf(error)))
    child.on('close', (code) => {
      clearTimeout(timer)
      if (code !== 0) return fail('it ended without output, or needed more memory than it may have')
      const text = Buffer.concat(chunks).toString()
      const end = text.indexOf('\n')
      try {
        resolved({ version: text.slice(0, end), output: JSON.parse(text.slice(end + 1)) })
      } catch {
        fail('its output is not JSON')
      }
    })
    // A compiler that ends early reads no more input.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}
