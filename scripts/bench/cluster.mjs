/**
 * `npm run bench:cluster`: a leader with 1, 2 and 4 followers, each a process, over one nats-server. Prints the processor
 * time of a read on the followers and the calls per second of all; and under a stream of transactions the processor time
 * of each on every process, and the lag: from the publication of a block's record in the log to the notification of a
 * subscriber. Where the machine does not hold the rate, a second row has four fifths of what it did. Last, the writes that
 * are acknowledged a second to one client and to sixteen; `--only writes` leaves the rest out.
 * Flags: --seconds (of each row, 5 by default), --rate (transactions a second, 1000), --followers (1,2,4).
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connect } from '@nats-io/transport-node'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { WebSocket } from 'ws'
import { signTransaction } from '../../dist/chain/transaction.js'
import { createChunkReader, decodeLogRecord } from '../../dist/replication/record.js'
import { PREFIX } from '../../dist/store/tables.js'
import { call, cpuMs, post, startNats, startNode } from './cluster-nodes.mjs'
import { measureWrites } from './cluster-writes.mjs'

const text = { type: 'string' }
const { values: flags } = parseArgs({ options: { seconds: text, rate: text, followers: text, only: text } })
const SECONDS = Number(flags.seconds ?? 5)
const RATE = Number(flags.rate ?? 1000)
const FOLLOWERS = flags.only === 'writes' ? [] : (flags.followers ?? '1,2,4').split(',').map(Number)
/** Connections for reads to each follower. */
const CONNECTIONS = 4
/** Of the second account of a development chain. */
const KEY = keccak_256(new TextEncoder().encode('cow1'))
/** Emits one log without topics on each call: PUSH1 0 PUSH1 0 LOG0 STOP. */
const LOGGER_CODE = '0x6560006000a0006000526006601af3'

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
const toHex = (bytes) => `0x${Buffer.from(bytes).toString('hex')}`

/** Raw transfers of the second account. */
function signTransfers(count, firstNonce) {
  const fields = { gasPrice: 0n, gasLimit: 21_000n, value: 1n, data: new Uint8Array(0), chainId: 33 }
  const to = `0x${'66'.repeat(20)}`
  return Array.from({ length: count }, (_, i) =>
    toHex(signTransaction({ ...fields, to, nonce: BigInt(firstNonce + i) }, KEY).raw),
  )
}

/** When the record of each block is published, by its height: read from NATS directly. */
async function watchLog(url) {
  const connection = await connect({ servers: url })
  const published = new Map()
  const chunks = createChunkReader()
  connection.subscribe('tandem.bench.log', {
    callback(_, message) {
      const at = performance.now()
      const bytes = chunks.read(message.data)
      if (bytes === undefined) return
      for (const { prefix, type, id } of decodeLogRecord(bytes).changes)
        if (prefix === PREFIX.canonical && type === 'put') published.set(id, at)
    },
  })
  await connection.flush()
  return { published, close: () => connection.close() }
}

/** Subscribes to a node's heads: when each height was notified. */
async function watchHeads({ ws }) {
  const socket = new WebSocket(ws)
  const notified = new Map()
  await once(socket, 'open')
  socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
  socket.on('message', (message) => {
    const number = JSON.parse(message).params?.result?.number
    if (number !== undefined) notified.set(Number(number), performance.now())
  })
  await once(socket, 'message')
  return { notified, close: () => socket.close() }
}

/**
 * Signed transactions at a rate through the leader, which mines a block every tenth of a second: processor time of a
 * transaction on each process, and the lags of all blocks on all followers, in order.
 */
async function measureStream(nats, leader, followers, rate, firstNonce) {
  const transfers = signTransfers(rate * SECONDS, firstNonce)
  const log = await watchLog(nats.url)
  const heads = await Promise.all(followers.map(watchHeads))
  const processes = [leader.child, nats.child, ...followers.map(({ child }) => child)]
  const before = processes.map(cpuMs)
  const begun = performance.now()
  let sent = 0
  while (sent < transfers.length && performance.now() - begun < SECONDS * 1000) {
    const due = Math.floor(((performance.now() - begun) / 1000) * rate)
    const now = transfers.slice(sent, Math.min(due, sent + 200))
    const calls = now.map((raw, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'eth_sendRawTransaction',
      params: [raw],
    }))
    if (calls.length > 0) await post(leader.url, calls)
    sent += now.length
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const seconds = (performance.now() - begun) / 1000
  const [ofLeader, ofNats, ...ofFollowers] = processes.map((child, i) => (cpuMs(child) - before[i]) / sent)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const lags = heads.flatMap(({ notified }) =>
    [...notified].flatMap(([height, at]) =>
      log.published.has(height) ? [at - log.published.get(height)] : [],
    ),
  )
  await log.close()
  for (const each of heads) each.close()
  lags.sort((a, b) => a - b)
  const follower = ofFollowers.reduce((sum, each) => sum + each, 0) / ofFollowers.length
  return { sent, perSecond: sent / seconds, ofLeader, ofNats, follower, lags }
}

const short = (figure) => (figure === undefined ? '-' : figure.toFixed(figure >= 100 ? 0 : 2))

console.log(
  `${cpus().length} processors, load ${short(loadavg()[0])}; ${SECONDS} s a row; ${RATE} transactions a second asked for`,
)
for (const count of FOLLOWERS) {
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
    const data = LOGGER_CODE
    const deployed = await call(leader.url, 'eth_sendTransaction', { from, data, gas: '0x30000' })
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
      console.log(
        `${count} followers, ${method}: ${short(perSecond)} calls/s, CPU ${short(cpu)} ms a call, ` +
          `${short((cpu * perSecond) / 1000)} processors in all`,
      )
    }
    let [rate, nonce] = [RATE, 0]
    for (;;) {
      const { sent, perSecond, ofLeader, ofNats, follower, lags } = await measureStream(
        nats,
        leader,
        followers,
        rate,
        nonce,
      )
      console.log(
        `${count} followers, ${short(perSecond)} transactions/s: CPU a transaction ${short(ofLeader)} ms on the leader, ` +
          `${short(ofNats)} ms on NATS, ${short(follower)} ms on a follower; ` +
          `lag ${short(quantile(lags, 0.5))} ms at the median, ${short(quantile(lags, 0.99))} ms at 99 %, ${lags.length} blocks`,
      )
      if (rate < RATE || perSecond > 0.95 * rate) break
      nonce += sent
      rate = Math.floor(0.8 * perSecond)
    }
  } finally {
    for (const { child } of nodes) child.kill('SIGKILL')
    nats.child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}
await measureWrites(SECONDS)
process.exit(0)
