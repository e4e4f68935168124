/**
 * What `tandem start` and `tandem anvil` are within a shell block: the command has to become ready on a free port, to answer
 * at /healthz and to end cleanly when it is stopped.
 */
import { spawn } from 'node:child_process'
import http from 'node:http'
import https from 'node:https'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const [name, ...rest] = process.argv.slice(2)

/** The status of a page, whatever the certificate. */
function statusOf(url) {
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? https.get : http.get
    get(url, { rejectUnauthorized: false }, ({ statusCode }) => resolve(statusCode)).on('error', reject)
  })
}

/** Ports that a block names may be taken on this machine. */
const freePorts = rest.map((arg, i) => (rest[i - 1] === '--metrics-port' ? '0' : arg))

const args = [MAIN, name, ...freePorts, '--port', '0']
const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
child.on('close', (code, signal) => {
  process.exitCode = signal === null ? code : 1
})
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
