/**
 * `npm run bench:micro`: processor time of hashes, of transactions' decoding, trie updates, reads and block commits alone, nodes and
 * bytes that a block writes, by the built files. `-- --only hashes|transactions|evm|ethereumjs|updates|reads|blocks` takes a part.
 * With `--before <folder>` the part `evm` compares with the earlier build there, else compiled code with the interpreter.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../dist/chain/account.js'
import { CHAINS } from '../../dist/chain/config.js'
import { createVm } from '../../dist/evm/vm.js'
import { BlockExecution } from '../../dist/execution/apply-block.js'
import { Overlay } from '../../dist/state/overlay.js'
import { StateTrie } from '../../dist/state/state-trie.js'
import { benchEthereumJs, benchEvm } from './micro-evm.mjs'
import { benchHashes } from './micro-hashes.mjs'
import { row, SAMPLES, spreadOf, time, timed } from './micro-table.mjs'
import { benchTransactions } from './micro-transactions.mjs'

const { values: flags } = parseArgs({
  options: { only: { type: 'string' }, before: { type: 'string' } },
})

const has = (part) => flags.only === undefined || flags.only === part

const SLOTS = 10_000n
const address = (index) => `0x${BigInt(index).toString(16).padStart(40, '0')}`
const CONTRACT = address(7)
const SENDER = address(1_000_000_000)

/** A state trie over maps. */
function createState() {
  const nodes = new Map()
  const code = new Map()
  const source = { node: (hash) => nodes.get(hash), code: (hash) => code.get(hash) }
  const trie = new StateTrie(source)
  function keep(committed) {
    trie.remember(committed)
    for (const [hash, bytes] of committed.nodes) nodes.set(hash, bytes)
    for (const [hash, bytes] of committed.code) code.set(hash, bytes)
    trie.settle(committed)
    return committed.root
  }
  return { source, trie, keep }
}

function commit({ trie }, root, change) {
  const overlay = new Overlay(trie.reader(root))
  change(overlay)
  return trie.commit(root, overlay.changes())
}

/** A token: balances in a mapping at slot 0; calldata is the receiver and the amount; one log. */
const TOKEN = Uint8Array.from(
  Buffer.from(
    [
      '3360005260006020526040600020805460203590039055', // balance[caller] -= amount
      '6000356000526000602052604060002080546020350190556020356000526020600060203560003533a300',
    ].join(''),
    'hex',
  ),
)

/** A state of so many accounts; one of them is a contract with SLOTS cells when there are any. */
function stateOf(accounts) {
  const state = createState()
  let root = EMPTY_TRIE_ROOT
  for (let first = 0; first < accounts; first += 5000) {
    const last = Math.min(accounts, first + 5000)
    const change = (overlay) => {
      for (let i = first; i < last; i++) overlay.putAccount(address(i), { ...EMPTY_ACCOUNT, balance: 5n })
    }
    root = state.keep(commit(state, root, change))
  }
  if (accounts === 0) return { ...state, root }
  const filled = commit(state, root, (overlay) => {
    overlay.putCode(CONTRACT, TOKEN)
    for (let slot = 0n; slot < SLOTS; slot++) overlay.putStorage(CONTRACT, slot, slot + 1n)
    overlay.putAccount(SENDER, { ...EMPTY_ACCOUNT, balance: 10n ** 24n })
  })
  return { ...state, root: state.keep(filled) }
}

function benchUpdates() {
  row('accounts', 'update', 'batch', 'µs an operation', 'spread', 'nodes a batch', 'bytes a batch')
  row('---:', '---', '---:', '---:', '---', '---:', '---:')
  for (const accounts of [0, 10_000, 100_000]) {
    const state = stateOf(accounts)
    for (const batch of [1, 10, 1000]) {
      const rounds = Math.max(1, Math.floor(2000 / batch))
      for (const update of ['insert', 'overwrite', 'delete']) {
        if (accounts === 0 && update !== 'insert') continue
        let written
        const figures = time(rounds * batch, (sample) => {
          for (let round = 0; round < rounds; round++) {
            const from = (sample * rounds + round) * batch
            written = commit(state, state.root, (overlay) => {
              for (let i = from; i < from + batch; i++) {
                if (update === 'insert') overlay.putAccount(address(2_000_000 + i), EMPTY_ACCOUNT)
                const known = address(8 + ((i * 37) % (accounts - 8)))
                if (update === 'overwrite') overlay.putAccount(known, { ...EMPTY_ACCOUNT, balance: 6n })
                if (update === 'delete') overlay.deleteAccount(known)
              }
            })
          }
        })
        row(accounts, update, batch, ...timed(figures), written.nodes.size, bytesOf(written))
      }
    }
  }
}

function bytesOf({ nodes, code }) {
  let bytes = 0
  for (const node of [...nodes.values(), ...code.values()]) bytes += node.length
  return bytes
}

function benchReads(state) {
  row('read', 'µs an operation', 'spread')
  row('---', '---:', '---')
  const READS = 5000
  const accountOf = (i) => address((i * 7919) % 100_000)
  const slotOf = (i) => BigInt((i * 7919) % Number(SLOTS))
  const flat = new Map()
  const flatCells = new Map()
  const filler = state.trie.reader(state.root)
  for (let i = 0; i < READS * SAMPLES; i++) {
    flat.set(accountOf(i), filler.account(accountOf(i)))
    flatCells.set(`${CONTRACT}${slotOf(i)}`, filler.cell(CONTRACT, slotOf(i)))
  }
  const cases = {
    'account, walk': (reader, i) => reader().account(accountOf(i)),
    'account, new in the reader of a root': (reader, i) => reader('new').account(accountOf(i)),
    'account, known to the reader of a root': (reader, i) => reader('known').account(accountOf(i % READS)),
    'account, flat table in memory': (_, i) => flat.get(accountOf(i)),
    'slot, walk from the root': (reader, i) => reader().cell(CONTRACT, slotOf(i)),
    'slot, walk from the account': (reader, i) => reader('new').cell(CONTRACT, slotOf(i)),
    'slot, known to the reader of a root': (reader, i) => reader('known').cell(CONTRACT, slotOf(i % READS)),
    'slot, flat table in memory': (_, i) => flatCells.get(`${CONTRACT}${slotOf(i)}`),
  }
  for (const [name, read] of Object.entries(cases)) {
    const known = state.trie.reader(state.root)
    if (name.includes('known')) for (let i = 0; i < READS; i++) read(() => known, i)
    const figures = time(READS, (sample) => {
      const fresh = state.trie.reader(state.root)
      const reader = (kind) =>
        kind === 'known' ? known : kind === 'new' ? fresh : state.trie.reader(state.root)
      for (let i = 0; i < READS; i++) read(reader, sample * READS + i)
    })
    row(name, ...timed(figures))
  }
}

const word = (value) => BigInt(value).toString(16).padStart(64, '0')
const bytes = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'))

/** Transactions of the blocks that are measured. */
const BLOCKS = {
  'one transfer': [{ to: address(50_000), value: 1n }],
  'one token transfer': [{ to: CONTRACT, data: bytes(word(5) + word(1)) }],
  'one deployment of 2 kB': [
    { to: null, data: bytes(`6107d0600c60003961 07d06000f3${'5b'.repeat(2000)}`.replace(' ', '')) },
  ],
  '1,000 transfers': Array.from({ length: 1000 }, (_, i) => ({ to: address(20_000 + i), value: 1n })),
}

async function benchBlocks(state) {
  row('block', 'execution, µs', 'spread', 'commit, µs', 'spread', 'nodes', 'bytes of nodes', 'bytes of code')
  row('---', '---:', '---', '---:', '---', '---:', '---:', '---:')
  const config = CHAINS.regtest
  const vm = createVm({ chainId: config.chainId })
  const env = {
    number: 5,
    timestamp: 1,
    coinbase: address(3),
    difficulty: 1n,
    gasLimit: 10n ** 9n,
    minimumGasPrice: 0n,
    ancestor: () => undefined,
    ancestorHash: () => undefined,
  }
  // Each sample has a root of its own, as each block has: only what the block itself reads is shared.
  const roots = Array.from({ length: SAMPLES }, (_, i) =>
    state.keep(
      commit(state, state.root, (overlay) =>
        overlay.putAccount(address(3_000_000 + i), { ...EMPTY_ACCOUNT, balance: 1n }),
      ),
    ),
  )
  const tries = [state.trie, new StateTrie(state.source, { sharedRoots: 2 })]
  const kinds = Object.entries(BLOCKS).flatMap(([name, wanted]) =>
    tries.map((trie, shared) => [shared === 1 ? `${name}, reader shared` : name, wanted, trie]),
  )
  for (const [name, wanted, trie] of kinds) {
    const executions = []
    const commits = []
    let committed
    for (let sample = 0; sample < SAMPLES; sample++) {
      const before = process.cpuUsage()
      const overlay = new Overlay(trie.reader(roots[sample]))
      const limit = 10n ** 9n
      const execution = new BlockExecution({ config, vm, state: overlay, env, sequentialGasLimit: limit })
      for (const [nonce, { to, value = 0n, data = new Uint8Array() }] of wanted.entries()) {
        const transaction = { from: SENDER, to, value, data, nonce: BigInt(nonce), gasPrice: 0n }
        await execution.add({ ...transaction, gasLimit: 900_000n, isRemasc: false })
      }
      const { outcomes } = execution.finish()
      if (outcomes.some(({ succeeded }) => !succeeded))
        throw new Error(`${name}: ${outcomes[0].failure?.reason}`)
      const between = process.cpuUsage()
      committed = trie.commit(roots[sample], overlay.changes())
      const after = process.cpuUsage()
      executions.push(between.user + between.system - before.user - before.system)
      commits.push(after.user + after.system - between.user - between.system)
    }
    const spread = (figures) => timed(spreadOf(figures))
    const ofNodes = bytesOf({ ...committed, code: new Map() })
    const ofCode = bytesOf({ ...committed, nodes: new Map() })
    row(name, ...spread(executions), ...spread(commits), committed.nodes.size, ofNodes, ofCode)
  }
}

/** Prints a part under its heading. */
async function part(name, heading, bench) {
  if (!has(name)) return
  console.log(`\n${heading}\n`)
  await bench()
}

await part('hashes', 'Hashes', benchHashes)
await part('transactions', 'Transactions', benchTransactions)
await part('evm', 'Loops of opcodes, and calls of contracts', () =>
  benchEvm(flags.before === undefined ? undefined : resolve(flags.before)),
)
await part('ethereumjs', 'Calls of contracts by both EVMs', benchEthereumJs)
await part('updates', 'Updates of the state trie', benchUpdates)
if (has('reads') || has('blocks')) {
  const state = stateOf(100_000)
  const size = `a state of 100,000 accounts and a contract of ${SLOTS} cells`
  await part('reads', `Reads in ${size}`, () => benchReads(state))
  await part('blocks', `Blocks on ${size}`, () => benchBlocks(state))
}
