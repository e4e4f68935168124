/**
 * An example miner: takes work over JSON-RPC, builds a parent-chain block around it, solves that and hands it in, in each
 * of the three forms, one after another. Prints a JSON line for each block.
 *
 *     node scripts/miner.mjs --url http://127.0.0.1:4444 --blocks 3
 */
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:4444' },
    blocks: { type: 'string', default: '3' },
  },
})

async function call(method, ...params) {
  const response = await fetch(values.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = await response.json()
  if (error) throw new Error(`${method}: ${error.code} ${error.message}`)
  return result
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest()
const hash = (bytes) => sha256(sha256(bytes))
const displayed = (hash) => Buffer.from(hash).reverse().toString('hex')
const uint32 = (value) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** A transaction with one input and one output of value 0; `previous` is the output that it spends. */
function transaction(previous, inputScript, outputScript) {
  return Buffer.concat([
    uint32(2),
    Buffer.of(1),
    previous,
    Buffer.of(inputScript.length),
    inputScript,
    uint32(0xffffffff),
    Buffer.of(1),
    Buffer.alloc(8),
    Buffer.of(outputScript.length),
    outputScript,
    uint32(0),
  ])
}

/** The coinbase: its input is null, and an unspendable output has the tag and the hash of the work. */
function coinbaseFor(work, index) {
  const nowhere = Buffer.concat([Buffer.alloc(32), uint32(0xffffffff)])
  const commitment = Buffer.concat([Buffer.from('RSKBLOCK:'), Buffer.from(work.slice(2), 'hex')])
  const push = Buffer.concat([Buffer.of(0x6a, commitment.length), commitment])
  return transaction(nowhere, Buffer.from(`/example miner ${index}/`), push)
}

/** Pairs of hashes, level by level; an odd last one is paired with itself. Returns the root and the coinbase's siblings. */
function merkleTree(hashes) {
  const siblings = []
  let level = hashes
  while (level.length > 1) {
    siblings.push(level[1])
    const above = []
    for (let i = 0; i < level.length; i += 2) {
      above.push(hash(Buffer.concat([level[i], level[i + 1] ?? level[i]])))
    }
    level = above
  }
  return { root: level[0], siblings }
}

/** A header whose hash, read backwards, is at most the target. */
function solve(root, target) {
  const time = Math.floor(Date.now() / 1000)
  const header = Buffer.concat([
    uint32(0x20000000),
    Buffer.alloc(32),
    root,
    uint32(time),
    uint32(0x1d00ffff),
    uint32(0),
  ])
  for (let nonce = 0; nonce <= 0xffffffff; nonce++) {
    header.writeUInt32LE(nonce, 76)
    if (displayed(hash(header)) <= target.slice(2)) return header
  }
  throw new Error('no nonce is left; take new work')
}

for (let index = 0; index < Number(values.blocks); index++) {
  const work = await call('mnr_getWork')
  const coinbase = coinbaseFor(work.blockHashForMergedMining, index)
  const others = Array.from({ length: index }, (_, i) =>
    transaction(Buffer.concat([sha256(`${index} ${i}`), uint32(i)]), Buffer.alloc(72, i), Buffer.of(0x51)),
  )
  const transactions = [coinbase, ...others]
  const hashes = transactions.map(hash)
  const { root, siblings } = merkleTree(hashes)
  const header = solve(root, work.target)
  const parts = [displayed(hash(header)), header.toString('hex'), coinbase.toString('hex')]
  const submissions = [
    () => {
      const block = Buffer.concat([header, Buffer.of(transactions.length), ...transactions])
      return call('mnr_submitBitcoinBlock', block.toString('hex'))
    },
    () => call('mnr_submitBitcoinBlockTransactions', ...parts, hashes.map(displayed).join(' ')),
    () => {
      const tree = [hashes[0], ...siblings].map((node) => node.toString('hex')).join(' ')
      const count = transactions.length.toString(16)
      return call('mnr_submitBitcoinBlockPartialMerkle', ...parts, tree, count)
    },
  ]
  console.log(JSON.stringify(await submissions[index % submissions.length]()))
}
