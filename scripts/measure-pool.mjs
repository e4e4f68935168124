/**
 * Prints the time and memory of a thousand chains of one base: `npm run measure:pool`, `-- 5000` for another number. The
 * base has 200 blocks with a transaction each; every chain mines one more.
 */
import { createNode, createPool } from '../dist/index.js'

const count = Number(process.argv[2] ?? 1000)
const from = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const to = '0x7986b3df570230288501eea3d890bd66948c9b79'
const send = (node) => node.request({ method: 'eth_sendTransaction', params: [{ from, to, value: '0x1' }] })
const megabytes = () => Math.round(process.memoryUsage().rss / 2 ** 20)

const base = await createNode()
for (let i = 0; i < 200; i++) await send(base)
const pool = await createPool({ size: count, base })
console.log(`base: ${megabytes()} MB resident`)

const times = []
for (let i = 0; i < count; i++) {
  const start = performance.now()
  await pool.chain(`chain-${i}`)
  times.push(performance.now() - start)
}
times.sort((a, b) => a - b)
const at = (share) => times[Math.floor((times.length - 1) * share)].toFixed(2)
console.log(`${count} chains: ${megabytes()} MB resident, median ${at(0.5)} ms, 95% below ${at(0.95)} ms`)
const start = performance.now()
for (const name of pool.names()) await send(await pool.chain(name))
const each = ((performance.now() - start) / count).toFixed(2)
console.log(`with a transaction in each: ${megabytes()} MB resident, ${each} ms each`)
await pool.close()
await base.close()
