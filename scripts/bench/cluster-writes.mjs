/** The writes that a leader with one follower acknowledges a second, from one client and from sixteen. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { addressOf } from '../../dist/chain/signature.js'
import { signTransaction } from '../../dist/chain/transaction.js'
import { call, cpuMs, startNats, startNode } from './cluster-nodes.mjs'

const CLIENTS = [1, 16]
/** Transfers of each run that are signed before it; a run that sends them all ends early. */
const PER_SECOND = 2_000
const FIELDS = { gasPrice: 0n, gasLimit: 21_000n, value: 1n, data: new Uint8Array(0), chainId: 33 }
const TO = `0x${'66'.repeat(20)}`
const keys = Array.from({ length: Math.max(...CLIENTS) }, (_, i) =>
  keccak_256(new TextEncoder().encode(`client ${i}`)),
)

function transfersOf(key, first, count) {
  return Array.from({ length: count }, (_, i) => {
    const { raw } = signTransaction({ ...FIELDS, to: TO, nonce: BigInt(first + i) }, key)
    return `0x${Buffer.from(raw).toString('hex')}`
  })
}

/** Each client sends its next transfer when the one before is acknowledged. `first`: nonces used so far, by client. */
async function run({ url, processes, clients, seconds, first }) {
  const ready = Array.from({ length: clients }, (_, i) =>
    transfersOf(keys[i], first[i], Math.ceil((PER_SECOND * seconds) / clients)),
  )
  const before = processes.map(cpuMs)
  const begun = performance.now()
  const waits = []
  await Promise.all(
    ready.map(async (transfers, i) => {
      for (const raw of transfers) {
        const at = performance.now()
        if (at - begun >= seconds * 1000) return
        await call(url, 'eth_sendRawTransaction', raw)
        first[i]++
        waits.push(performance.now() - at)
      }
    }),
  )
  const perSecond = waits.length / ((performance.now() - begun) / 1000)
  waits.sort((a, b) => a - b)
  const cpu = processes.map((child, i) => (cpuMs(child) - before[i]) / waits.length)
  return { perSecond, cpu, median: waits[waits.length >> 1], late: waits[Math.floor(waits.length * 0.99)] }
}

/** Prints a line for each number of clients, with a block for each transaction and with one every tenth of a second. */
export async function measureWrites(seconds) {
  for (const mining of ['auto', '0.1']) {
    const folder = mkdtempSync(join(tmpdir(), 'bench-writes-'))
    const nats = await startNats(folder)
    const nodes = []
    try {
      const args = ['--cluster', nats.url, '--cluster-name', 'writes', '--mining', mining]
      const more = ['--account-slots', '1000000', '--block-gas-limit', '1000000000']
      for (const role of ['leader', 'follower'])
        nodes.push(await startNode([...args, ...more, '--role', role]))
      const [{ url }] = nodes
      for (const key of keys) await call(url, 'hardhat_setBalance', addressOf(key), '0x56bc75e2d63100000')
      const processes = [nodes[0].child, nats.child, nodes[1].child]
      const first = keys.map(() => 0)
      // The first run of each number of clients, of compilers at work, is not printed.
      for (const clients of CLIENTS) await run({ url, processes, clients, seconds, first })
      for (const clients of CLIENTS) {
        const { perSecond, cpu, median, late } = await run({ url, processes, clients, seconds, first })
        const [ofLeader, ofNats, ofFollower] = cpu.map((ms) => ms.toFixed(2))
        console.log(
          `${clients} clients, mining ${mining}: ${perSecond.toFixed(0)} writes/s, ${median.toFixed(1)} ms at the median, ` +
            `${late.toFixed(1)} ms at 99 %; CPU a write ${ofLeader} ms on the leader, ${ofNats} ms on NATS, ` +
            `${ofFollower} ms on the follower`,
        )
      }
    } finally {
      for (const { child } of nodes) child.kill('SIGKILL')
      nats.child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
