/**
 * `npm run bench:cluster`: a leader with 1, 2 and 4 followers, each a process, over one nats-server. Prints the processor
 * time of a read on the followers and the calls per second of all, what a follower costs the leader, and the lag under a
 * steady stream of transactions. Flags: --seconds (of each row, 5 by default), --rate (transactions a second, 1000).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'

const { values: flags } = parseArgs({ options: { seconds: { type: 'string' }, rate: { type: 'string' } } })
const SECONDS = Number(flags.seconds ?? 5)
const RATE = Number(flags.rate ?? 1000)
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
/** Processor time in /proc is counted in these, milliseconds. */
const TICK_MS = 10
/** Connections for reads to each follower. */
const CONNECTIONS = 4
/** Emits one log without topics on each call: PUSH1 0 PUSH1 0 LOG0 STOP. */
const LOGGER_CODE = '0x6560006000a0006000526006601af3'

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Processor time of a process so far, milliseconds. */
function cpuMs({ pid }) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

async function startNats(folder) {
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

async function startNode(args) {
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

async function call(url, method, ...params) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = await response.json()
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}

/** Calls a method on all followers at once until the time is up. */
async function measureReads(followers, method, params) {
  const before = followers.map(({ child }) => cpuMs(child))
  const begun = performance.now()
  const until = begun + SECONDS * 1000
  let calls = 0
  await Promise.all(
    followers.flatMap(({ url }) =>
      Array.from({ length: CONNECTIONS }, async () => {
        while (performance.now() < until) {
          await call(url, method, ...params)
          calls++
        }
      }),
    ),
  )
  const cpu = followers.reduce((sum, { child }, i) => sum + cpuMs(child) - before[i], 0)
  return { perSecond: calls / ((performance.now() - begun) / 1000), cpuMs: cpu / calls }
}

const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]

/**
 * Transactions at a steady rate through the leader, in manual mining with a block every tenth of a second: the time from
 * a head's notification at the leader to that at each follower, and the leader's processor time a transaction.
 */
async function measureLag(leader, followers, from) {
  const seen = new Map()
  const lags = []
  const sockets = [leader, ...followers].map(({ ws }, index) => {
    const socket = new WebSocket(ws)
    socket.on('open', () =>
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'),
    )
    socket.on('message', (text) => {
      const hash = JSON.parse(text).params?.result?.hash
      if (hash === undefined) return
      const times = seen.get(hash) ?? { leader: undefined, waiting: [] }
      seen.set(hash, times)
      if (index === 0) {
        times.leader = performance.now()
        for (const at of times.waiting) lags.push(Math.max(0, at - times.leader))
      } else if (times.leader === undefined) times.waiting.push(performance.now())
      else lags.push(performance.now() - times.leader)
    })
    return socket
  })
  await Promise.all(sockets.map((socket) => once(socket, 'open')))
  const before = cpuMs(leader.child)
  const begun = performance.now()
  let sent = 0
  while (performance.now() - begun < SECONDS * 1000) {
    const due = Math.min(500, Math.floor(((performance.now() - begun) / 1000) * RATE) - sent)
    if (due > 0) {
      const batch = Array.from({ length: due }, (_, i) => ({
        jsonrpc: '2.0',
        id: i,
        method: 'eth_sendTransaction',
        params: [{ from, to: from, value: '0x1' }],
      }))
      await fetch(leader.url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(batch),
      })
      sent += due
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const cpu = cpuMs(leader.child) - before
  await new Promise((resolve) => setTimeout(resolve, 1000))
  for (const socket of sockets) socket.close()
  lags.sort((a, b) => a - b)
  const perSecond = sent / SECONDS
  return { perSecond, cpuMs: cpu / sent, median: quantile(lags, 0.5), worst: quantile(lags, 0.99) }
}

const short = (figure) => (figure === undefined ? '-' : figure.toFixed(figure >= 100 ? 0 : 2))

console.log(`${cpus().length} processors; ${SECONDS} s a row; ${RATE} transactions a second asked for`)
for (const count of [1, 2, 4]) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-cluster-'))
  const nats = await startNats(folder)
  const nodes = []
  try {
    const where = ['--cluster', nats.url, '--cluster-name', 'bench', '--account-slots', '1000000']
    const mining = ['--mining', '0.1', '--block-gas-limit', '1000000000']
    nodes.push(await startNode([...where, ...mining, '--role', 'leader']))
    for (let i = 0; i < count; i++) nodes.push(await startNode([...where, ...mining, '--role', 'follower']))
    const [leader, ...followers] = nodes
    const [from] = await call(leader.url, 'eth_accounts')
    const deployed = await call(leader.url, 'eth_sendTransaction', {
      from,
      data: LOGGER_CODE,
      gas: '0x30000',
    })
    let receipt = null
    while (receipt === null) receipt = await call(followers[0].url, 'eth_getTransactionReceipt', deployed)
    const to = receipt.contractAddress
    for (let i = 0; i < 100; i++) await call(leader.url, 'eth_sendTransaction', { from, to, gas: '0x30000' })
    const reads = [
      ['eth_blockNumber', []],
      ['eth_call', [{ to }, 'latest']],
      ['eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest', address: to }]],
    ]
    for (const [method, params] of reads) {
      const { perSecond, cpuMs: cpu } = await measureReads(followers, method, params)
      console.log(`${count} followers, ${method}: ${short(perSecond)} calls/s, CPU ${short(cpu)} ms a call`)
    }
    const lag = await measureLag(leader, followers, from)
    console.log(
      `${count} followers, ${short(lag.perSecond)} transactions/s: leader CPU ${short(lag.cpuMs)} ms a transaction, ` +
        `lag ${short(lag.median)} ms at the median, ${short(lag.worst)} ms at 99 %`,
    )
  } finally {
    for (const { child } of nodes) child.kill('SIGKILL')
    nats.child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}
process.exit(0)
