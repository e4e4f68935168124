/** Programs of the suites: Tandem by either command, and tools that run to their end. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const HERE = fileURLToPath(new URL('.', import.meta.url))
const ROOT = join(HERE, '../..')

/** The command `tandem`. */
export const TANDEM = join(ROOT, 'dist/cli/main.js')

/** The command `tandem-anvil`. */
export const TANDEM_ANVIL = join(ROOT, 'dist/cli/anvil.js')

const READY = /Ready on (http:\S+)|Listening on (\S+:\d+)/

/** The folder of recordings, where sessions are recorded, and their files. */
let recordings
const recorded = []

/** Records the sessions of nodes that are started from now on into a folder. */
export function recordSessions(folder) {
  recordings = folder
}

/** The recordings since the last call. */
export function takeRecordings() {
  return recorded.splice(0)
}

/** The variable that makes the next node record. */
function recording() {
  if (recordings === undefined) return {}
  const file = join(recordings, `${randomUUID()}.jsonl`)
  recorded.push(file)
  return { TANDEM_RECORD: file }
}

/**
 * Repeats a recording on a new node.
 * @returns {Promise<string | undefined>} what differs; `undefined` where all is equal
 */
export async function differenceOf(file) {
  const { code, stdout, stderr } = await run(process.execPath, [TANDEM, 'replay', file])
  return code === 0 ? undefined : `${stdout}${stderr}`
}

async function startProgram(args, { env, ...options } = {}) {
  const child = spawn(process.execPath, args, {
    ...options,
    env: { ...process.env, ...env, ...recording() },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const url = await new Promise((resolve, reject) => {
    const read = (chunk) => {
      text += chunk
      const [, http, socket] = READY.exec(text) ?? []
      if (http !== undefined || socket !== undefined) resolve(http ?? `http://${socket}`)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`the node ended with ${code}:\n${text}`)))
  })
  return {
    url,
    async stop() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Starts `tandem start` in memory on a free port; flags follow, and options of the process may stand before them. */
export function startTandem(first, ...rest) {
  const [options, flags] =
    typeof first === 'object' ? [first, rest] : [{}, first === undefined ? [] : [first, ...rest]]
  return startProgram([TANDEM, 'start', '--memory', '--port', '0', ...flags], options)
}

/** Starts `tandem start` on a data directory; flags follow. */
export function startTandemOn(folder, ...flags) {
  return startProgram([TANDEM, 'start', '--data-dir', folder, ...flags])
}

/** Starts `tandem anvil` on a free port; `tandem start` with its preset where sessions are recorded, since that command records none. */
export function startTandemAnvil() {
  return recordings === undefined
    ? startProgram([TANDEM_ANVIL, '--port', '0'])
    : startTandem('--preset', 'anvil')
}

/** A port that nothing listens on. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Calls one method over HTTP, which chaos leaves alone. Throws the error member of the reply. */
export async function rpc(url, method, ...params) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Tandem-Chaos': 'off' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = await response.json()
  if (error !== undefined) throw Object.assign(new Error(error.message), error)
  return result
}

/**
 * Runs a program to its end.
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
export async function run(program, args, { cwd, env = {}, timeout = 300_000 } = {}) {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

/** Runs a program that has to succeed, for its standard output. */
export async function output(program, args, options) {
  const { code, stdout, stderr } = await run(program, args, options)
  if (code !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${code}:\n${stdout}${stderr}`)
  return stdout.trim()
}

/** A new temporary folder for the time of a function. */
export async function withFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-tools-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A program of the installed packages. */
export const installed = (path) => join(HERE, 'node_modules', path)
