/**
 * Percentiles of the wall time of `eth_call`, one request after another over one connection: a median hides the pauses of
 * garbage collection and of timers. The client writes prepared bytes to a socket, so that it has few pauses of its own.
 *
 * npm run bench:latency -- [--nodes tandem,anvil,hardhat-3] [--rounds 5] [--calls 5000]
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { parseArgs } from 'node:util'
import { available } from './nodes.mjs'
import { open, tokenAbi, wallets } from './scenes.mjs'
import { freePort } from './start.mjs'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: 'tandem,anvil,hardhat-3,hardhat-2' },
    rounds: { type: 'string', default: '5' },
    calls: { type: 'string', default: '5000' },
  },
})
const [rounds, calls] = [Number(values.rounds), Number(values.calls)]
const SHARES = [0.5, 0.9, 0.99, 0.999, 1]

/** Requests as they are written to the socket: balances of the accounts, one after another. */
function requestsTo(token) {
  return wallets.map(({ address }, id) => {
    const data = tokenAbi.encodeFunctionData('balanceOf', [address])
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'eth_call',
      params: [{ to: token, data }, 'latest'],
    })
    return Buffer.from(
      `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
  })
}

/** Is it a whole response? By its length, or by the last chunk. */
function isWhole(bytes) {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /content-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1]
  return length === undefined
    ? bytes.subarray(-5).equals(Buffer.from('0\r\n\r\n'))
    : bytes.length >= end + 4 + Number(length)
}

/** Milliseconds of each request, in the order of their size. */
function sample(socket, requests) {
  const times = new Float64Array(calls)
  return new Promise((resolve, reject) => {
    let [n, began, bytes] = [0, 0, Buffer.alloc(0)]
    const send = () => {
      bytes = Buffer.alloc(0)
      began = performance.now()
      socket.write(requests[n % requests.length])
    }
    const read = (chunk) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      if (!isWhole(bytes)) return
      times[n++] = performance.now() - began
      if (bytes.includes('"error"')) reject(new Error(bytes.toString()))
      if (n < calls) return send()
      socket.off('data', read)
      resolve(times.sort())
    }
    socket.on('data', read)
    send()
  })
}

const at = (times, share) => times[Math.min(times.length - 1, Math.floor(times.length * share))]

console.log(
  `${'ms of wall time'.padEnd(18)}${['median', '90 %', '99 %', '99.9 %', 'longest', '99 % / median'].map((name) => name.padStart(15)).join('')}`,
)
for (const name of values.nodes.split(',').filter((name) => available().includes(name))) {
  const port = await freePort()
  const scene = await open(name, 'warm', { port })
  const socket = connect(port, '127.0.0.1').setNoDelay()
  await once(socket, 'connect')
  const requests = requestsTo(scene.token)
  await sample(socket, requests)
  for (let round = 1; round <= rounds; round++) {
    const times = await sample(socket, requests)
    const figures = [...SHARES.map((share) => at(times, share)), at(times, 0.99) / at(times, 0.5)]
    console.log(
      `${`${name} ${round}`.padEnd(18)}${figures.map((figure) => figure.toFixed(3).padStart(15)).join('')}`,
    )
  }
  socket.destroy()
  await scene.node.stop()
}
