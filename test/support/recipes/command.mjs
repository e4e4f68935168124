/**
 * What `tandem` is within a shell block. `tandem start` or `tandem anvil` has to become ready on a free port, to answer at
 * /healthz and to end cleanly when it is stopped; `trace` and `drift` ask the node of the recipe; the rest is the command
 * itself.
 */
import { spawn } from 'node:child_process'
import http from 'node:http'
import https from 'node:https'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const [name, ...rest] = process.argv.slice(2)

function run(args, stdio) {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio })
  child.on('close', (code, signal) => {
    process.exitCode = signal === null ? code : 1
  })
  return child
}

/** The status of a page, whatever the certificate. */
function statusOf(url) {
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? https.get : http.get
    get(url, { rejectUnauthorized: false }, ({ statusCode }) => resolve(statusCode)).on('error', reject)
  })
}

/** Ports that a block names may be taken on this machine. */
const freePorts = rest.map((arg, i) => (rest[i - 1] === '--metrics-port' ? '0' : arg))

if (name === 'start' || name === 'anvil') {
  const child = run([name, ...freePorts, '--port', '0'], ['ignore', 'pipe', 'inherit'])
  let printed = ''
  let isReady = false
  child.stdout.on('data', async (chunk) => {
    process.stdout.write(chunk)
    printed += chunk
    const [, scheme = 'http', port] =
      /(?:Ready on |"url":"|Listening on )(?:(https?):\/\/)?[^\s"]*:(\d+)/.exec(printed) ?? []
    if (port === undefined || isReady) return
    isReady = true
    const status = await statusOf(new URL(`${scheme}://127.0.0.1:${port}/healthz`))
    if (status === 200) child.kill('SIGTERM')
    else child.kill('SIGKILL')
  })
} else if (name === 'trace' || name === 'drift') {
  run([name, '--url', process.env.RECIPE_URL, ...rest], 'inherit')
} else run([name, ...rest], 'inherit')
