/** The part `transactions` of `npm run bench:micro`: what a transaction costs before it is executed. */
import { decodeTransaction, restoreTransaction, signTransaction } from '../../dist/chain/transaction.js'
import { keccak256 } from '../../dist/encoding/hash.js'
import { row, SAMPLES, time, timed } from './micro-table.mjs'

const COUNT = 500
const KEY = new Uint8Array(32).fill(7)
const RECEIVER = `0x${'11'.repeat(20)}`

const unsigned = (nonce, data) => ({
  nonce: BigInt(nonce),
  gasPrice: 1n,
  gasLimit: 100_000n,
  to: RECEIVER,
  value: 1n,
  data,
  chainId: 33,
})

/** Prints the table. No transaction is used twice, so that no cached result is measured. */
export function benchTransactions() {
  row('transaction', 'µs an operation', 'spread')
  row('---', '---:', '---')
  const total = COUNT * SAMPLES
  for (const [name, size] of [
    ['transfer', 0],
    ['ERC-20 transfer', 68],
  ]) {
    const data = new Uint8Array(size).fill(1)
    const signed = Array.from({ length: total }, (_, nonce) => signTransaction(unsigned(nonce, data), KEY))
    const each = (work) =>
      time(COUNT, (sample) => {
        for (let i = sample * COUNT; i < (sample + 1) * COUNT; i++) work(i)
      })
    row(`${name}: decode and recover`, ...timed(each((i) => decodeTransaction(signed[i].raw))))
    row(`${name}: restore`, ...timed(each((i) => restoreTransaction(signed[i].raw, signed[i].from))))
    row(`${name}: sign and recover`, ...timed(each((i) => signTransaction(unsigned(total + i, data), KEY))))
  }
  const HASHES = 20_000
  for (const size of [32, 576, 20_000]) {
    const bytes = new Uint8Array(size)
    const count = Math.ceil((HASHES * 32) / size)
    const figures = time(count, (sample) => {
      for (let i = 0; i < count; i++) {
        bytes[0] = sample
        bytes[1] = i & 255
        keccak256(bytes)
      }
    })
    row(`keccak256 of ${size} bytes`, ...timed(figures))
  }
}
