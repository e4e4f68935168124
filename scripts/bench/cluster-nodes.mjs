/** Processes of a cluster for the benchmarks, and calls of their methods. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { freePort } from './start.mjs'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
/** Processor time in /proc is counted in these, milliseconds. */
const TICK_MS = 10

/** Processor time of a process so far, milliseconds. */
export function cpuMs({ pid }) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

export async function startNats(folder) {
  const port = await freePort()
  const child = spawn('nats-server', ['-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port)], {
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  })
  await new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => String(chunk).includes('Server is ready') && resolve())
    child.on('error', reject)
  })
  return { child, url: `nats://127.0.0.1:${port}` }
}

export async function startNode(args) {
  const quiet = ['--memory', '--json', '--log-level', 'error', '--port', '0', '--max-batch', '1000']
  const child = spawn(process.execPath, [MAIN, 'start', ...quiet, ...args])
  let printed = ''
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      printed += chunk
      const line = printed.split('\n').find((text) => text.includes('"ready":true'))
      if (line !== undefined) resolve({ child, ...JSON.parse(line) })
    })
    child.on('close', (code) => reject(new Error(`a node ended with ${code}: ${printed}`)))
  })
}

const agent = new Agent({ keepAlive: true })

/** Posts JSON; the parsed reply. */
export function post(url, body) {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', agent, headers: { 'Content-Type': 'application/json' } }
    const sent = request(url, options, (response) => {
      let reply = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => (reply += chunk))
      response.on('end', () => resolve(JSON.parse(reply)))
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

export async function call(url, method, ...params) {
  const { result, error } = await post(url, { jsonrpc: '2.0', id: 1, method, params })
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}
