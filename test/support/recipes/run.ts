/** Runs a recipe of the documents against a new node. */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Interface } from 'ethers'
import { artifact } from '../contracts.ts'
import { rpc } from '../json-rpc.ts'
import { servedNode } from '../served-node.ts'
import { CAST } from '../tools.ts'
import { checkedJavaScript, checkedShell, outputPattern } from './expectations.ts'
import type { Recipe } from './markdown.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MAIN = join(ROOT, 'dist/cli/main.js')
const COMMAND = fileURLToPath(new URL('command.mjs', import.meta.url))
const CHECK = fileURLToPath(new URL('check.mjs', import.meta.url))
/** Packages that a block may import. */
const PACKAGES = ['ethers', 'viem', 'web3', 'express']
const ARTIFACTS = ['Shop', 'Stock', 'Token']
const FIRST_ACCOUNT = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
/** Where a program is looked for: `cast` may be among the bench's packages, the rest is on the path. */
const PROGRAM_FOLDERS = [
  ...(CAST.isThere ? [dirname(CAST.path)] : []),
  ...(process.env.PATH ?? '').split(delimiter),
]
/** Milliseconds after which a block counts as hanging. */
const PATIENCE_MS = 55_000

/** The output and exit of a program. */
interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The node that answers where a block names `http://127.0.0.1:4444`. */
interface Target {
  readonly url: string
  /** Ends it; what `tandem start` has printed, '' for a node in this process. */
  end(): Promise<string>
}

function execute(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Outcome> {
  const child = spawn(program, args, { cwd, env, timeout: PATIENCE_MS, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

/** `tandem start` on a free port, its output without colours. */
function startTerminal(flags: readonly string[], cwd: string): Promise<Target> {
  const args = [MAIN, 'start', '--memory', '--port', '0', ...flags]
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, NO_COLOR: '1' } })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  let printed = ''
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk
      const url = /^Ready on (\S+)/m.exec(printed)?.[1]
      if (url === undefined) return
      resolve({
        url,
        async end() {
          child.kill('SIGTERM')
          await ended
          return printed
        },
      })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    void ended.then(() => reject(new Error(`tandem start has ended: ${printed}`)))
  })
}

async function startTarget({ directive }: Recipe, cwd: string): Promise<Target> {
  if (directive.command !== undefined) return startTerminal(directive.command, cwd)
  // On a busy machine a scrypt may take longer than the usual limit.
  const served = await servedNode({ rpcTimeoutMs: 0, ...directive.node }, directive.serve)
  return {
    url: served.url,
    async end() {
      await served.close()
      return ''
    },
  }
}

/** Deploys the shop and buys more than there is. The variables that name both. */
async function sellOut(url: string): Promise<Record<string, string>> {
  const shop = artifact('Shop')
  const send = (fields: object) => rpc(url, 'eth_sendTransaction', [{ from: FIRST_ACCOUNT, ...fields }])
  const hash = await send({ data: shop.bytecode, gas: '0x100000' })
  const receipt: unknown = await rpc(url, 'eth_getTransactionReceipt', [hash])
  const { contractAddress: to } = receipt as { contractAddress: string }
  const data = new Interface(shop.abi).encodeFunctionData('buy', [7, 4])
  await send({ to, data, value: '0x16345785d8a0000', gas: '0x30d40' }).catch(() => undefined)
  const block: unknown = await rpc(url, 'eth_getBlockByNumber', ['latest', false])
  const [failed = ''] = (block as { transactions: string[] }).transactions
  return { SHOP: to, HASH: failed }
}

/** `tandem` within a shell block: `trace` and `drift` ask the node of the recipe. */
const TANDEM = `command=$1
case $command in
  start | anvil) exec "${process.execPath}" "${COMMAND}" "$@" ;;
  trace | drift) shift && exec "${process.execPath}" "${MAIN}" $command --url "$RECIPE_URL" "$@" ;;
  *) exec "${process.execPath}" "${MAIN}" "$@" ;;
esac`

/** A project folder as a user has it: packages, artifacts, and commands on the path. */
function makeFolder(files: Recipe['files']): string {
  const folder = mkdtempSync(join(tmpdir(), 'recipe-'))
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  symlinkSync(ROOT, join(modules, 'tandem'), 'dir')
  for (const name of PACKAGES) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'dir')
  for (const name of ARTIFACTS) {
    mkdirSync(join(folder, 'out', `${name}.sol`), { recursive: true })
    copyFileSync(join(ROOT, `fixtures/contracts/${name}.json`), join(folder, `out/${name}.sol/${name}.json`))
  }
  mkdirSync(join(folder, 'scripts'))
  symlinkSync(join(ROOT, 'scripts/miner.mjs'), join(folder, 'scripts/miner.mjs'))
  const commands = {
    tandem: TANDEM,
    npx: '[ "$1" = tandem ] && shift && exec tandem "$@"',
    npm: '[ "$1" = start ] && shift && { [ "$1" != -- ] || shift; } && exec tandem start "$@"',
  }
  mkdirSync(join(folder, 'bin'))
  for (const [name, script] of Object.entries(commands)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, 'bin', name), 0o755)
  }
  copyFileSync(CHECK, join(folder, 'recipe-check.mjs'))
  for (const [name, text] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), `${text}\n`)
  }
  return folder
}

/** The programs of a recipe that this machine does not have. */
export function missingPrograms({ directive }: Recipe): string[] {
  const isThere = (name: string) => PROGRAM_FOLDERS.some((folder) => existsSync(join(folder, name)))
  return directive.needs.filter((name) => !isThere(name))
}

/** Puts the node's own address where a block has the usual one. */
function addressed(code: string, url: string): string {
  return code
    .replaceAll('http://127.0.0.1:4444', url)
    .replaceAll('ws://127.0.0.1:4444', url.replace(/^http/, 'ws'))
    .replaceAll('http://localhost:4444', url)
}

/** Runs a recipe to its end. Throws with its output when it fails or prints something unexpected. */
export async function runRecipe(recipe: Recipe): Promise<void> {
  const { directive, expected } = recipe
  const folder = makeFolder(recipe.files)
  try {
    const target = await startTarget(recipe, folder)
    let outcome: Outcome
    let terminal: string
    try {
      const env: NodeJS.ProcessEnv = {
        ...process.env,
        ...(directive.shop && (await sellOut(target.url))),
        NO_COLOR: '1',
        NODE_NO_WARNINGS: '1',
        PATH: [join(folder, 'bin'), ...PROGRAM_FOLDERS].join(delimiter),
        RECIPE_URL: target.url,
      }
      const code = addressed(recipe.code, target.url)
      const isShell = directive.how === 'sh'
      const script = join(folder, isShell ? 'recipe.sh' : 'recipe.mjs')
      writeFileSync(script, isShell ? checkedShell(code) : checkedJavaScript(code))
      outcome = await execute(isShell ? 'bash' : process.execPath, [script], folder, env)
    } finally {
      terminal = await target.end()
    }
    const { code, stdout, stderr } = outcome
    const printed = `\n${stdout}${stderr}`
    if (code !== 0) throw new Error(`ended with ${code}:${printed}`)
    if (!directive.errors && /"error":\s*\{\s*"code"/.test(stdout)) throw new Error(`was refused:${printed}`)
    for (const { where, text } of expected) {
      const actual = (where === 'stdout' ? stdout : terminal).replaceAll('\r\n', '\n')
      if (!outputPattern(text).test(actual)) throw new Error(`expected\n${text}\nbut ${where} is\n${actual}`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
