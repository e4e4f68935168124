/** keccak-256 of short inputs by three implementations, for `npm run bench:micro -- --only hashes`. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { createKeccak } from 'hash-wasm'
import { keccak256 } from '../../dist/encoding/hash.js'
import { row, SAMPLES, spreadOf, timed } from './micro-table.mjs'

/** A word, a key and a slot, a block, a branch of a trie, a block and a half of code. */
const LENGTHS = [32, 64, 136, 500, 6000]
const ROUNDS = 20_000

/** Times the implementations, one after another in each sample. */
export async function benchHashes() {
  const hasher = await createKeccak(256)
  const kinds = {
    ours: keccak256,
    'hash-wasm': (bytes) => hasher.init().update(bytes).digest('binary'),
    '@noble/hashes': keccak_256,
  }
  row('keccak-256 of', ...Object.keys(kinds).flatMap((name) => [`${name}, µs`, 'spread']))
  row('---', ...Object.keys(kinds).flatMap(() => ['---:', '---']))
  for (const length of LENGTHS) {
    const input = Uint8Array.from({ length }, (_, i) => i)
    const rounds = Math.ceil(ROUNDS / (1 + length / 136))
    const figures = Object.values(kinds).map(() => [])
    // The first sample warms all of them.
    for (let sample = -1; sample < SAMPLES; sample++) {
      for (const [i, hash] of Object.values(kinds).entries()) {
        const before = process.cpuUsage()
        for (let round = 0; round < rounds; round++) {
          input[0] = round
          hash(input)
        }
        const { user, system } = process.cpuUsage(before)
        if (sample >= 0) figures[i].push((user + system) / rounds)
      }
    }
    row(`${length} bytes`, ...figures.flatMap((list) => timed(spreadOf(list))))
  }
}
