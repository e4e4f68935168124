/** Loops of opcodes and calls of contracts for `npm run bench:micro -- --only evm`. */
import { EMPTY_ACCOUNT } from '../../dist/chain/account.js'
import { keccakHex } from '../../dist/encoding/hash.js'
import { CALLS, contractCalls } from './evm-contracts.mjs'
import { CALLEE, CALLEE_CODE, LOOPER, LOOPS } from './evm-loops.mjs'
import { row, timed } from './micro-table.mjs'

const SENDER = `0x${'5e'.repeat(20)}`

/** A build of the machine, as its modules. */
async function buildOf(folder, options = {}) {
  const { createVm: create } = await import(`${folder}/evm/vm.js`)
  const { Overlay: View } = await import(`${folder}/state/overlay.js`)
  return { vm: create({ chainId: 33, ...options }), View }
}

const NOTHING = {
  account: () => undefined,
  cell: () => 0n,
  storage: () => 0n,
  cells: () => new Map(),
  code: () => new Uint8Array(),
}
const ENVIRONMENT = {
  number: 5,
  timestamp: 1,
  coinbase: `0x${'c0'.repeat(20)}`,
  difficulty: 1n,
  gasLimit: 10n ** 9n,
  minimumGasPrice: 0n,
  ancestor: () => undefined,
  ancestorHash: () => undefined,
}

/** Runs a message with ample gas; its result. */
async function runMessage(vm, view, to, data) {
  const account = view.account(SENDER) ?? { ...EMPTY_ACCOUNT, balance: 10n ** 24n }
  view.putAccount(SENDER, { ...account, nonce: account.nonce + 1n })
  const shared = { value: 0n, gas: 10n ** 9n, gasPrice: 0n, origin: SENDER }
  const result = await vm.run({ ...shared, from: SENDER, to, data }, view, ENVIRONMENT)
  if (result.status !== 'succeeded') throw new Error(`${result.failure ?? result.status} of ${to}`)
  return result
}

/** Runs the code of one contract on an empty state. */
function loopRunner({ vm, View }, code) {
  const base = new View(NOTHING)
  base.putCode(LOOPER, code)
  base.putCode(CALLEE, CALLEE_CODE)
  return () => runMessage(vm, new View(base), LOOPER, new Uint8Array())
}

/** Calls one contract repeatedly, each time on the state after the previous call. */
function contractRunner({ vm, View }, base, [contract, dataOf]) {
  const data = Array.from({ length: CALLS }, (_, i) => dataOf(i))
  return async () => {
    const view = new View(base)
    for (const input of data) await runMessage(vm, view, contract, input)
  }
}

/** Samples of each row; the first few warm it and are dropped. */
const MANY = { samples: 55, warming: 40 }
/** The library takes a second for a sample. */
const FEW = { samples: 9, warming: 4 }

/** Times the same work by several builds, sample by sample. */
async function benchPair(name, runs, operations, { samples, warming } = MANY) {
  const figures = runs.map(() => [])
  for (let sample = 0; sample < samples; sample++) {
    for (const [i, run] of runs.entries()) {
      const before = process.cpuUsage()
      await run()
      const { user, system } = process.cpuUsage(before)
      if (sample >= warming) figures[i].push((user + system) / operations)
    }
  }
  const ratios = figures[0].map((figure, i) => figure / (figures[1]?.[i] ?? figure))
  const cells = [...figures, ratios].map((list) => {
    const sorted = list.toSorted((a, b) => a - b)
    return timed({ median: sorted[sorted.length >> 1], least: sorted[0], most: sorted.at(-1) })
  })
  row(name, ...cells.slice(0, -1).flat(), cells.at(-1).join(', '))
}

/**
 * Compares compiled code with the interpreter, or with the earlier build in the folder `before`: processor time, sample by
 * sample, and the ratio.
 */
export async function benchEvm(before) {
  const builds = {
    compiled: await buildOf('../../dist'),
    interpreted: await buildOf('../../dist', { hotAfter: Number.POSITIVE_INFINITY }),
  }
  if (before !== undefined) {
    delete builds.interpreted
    builds.before = await buildOf(before)
  }
  heading(builds)
  const parts = Object.values(builds)
  for (const [name, { code, rounds }] of Object.entries(LOOPS)) {
    await benchPair(
      `an iteration: ${name}`,
      parts.map((build) => loopRunner(build, code)),
      rounds,
    )
  }
  await benchContracts(parts)
}

/** Compares the two EVMs of `--evm`: calls of contracts by our own, and by that of `@ethereumjs/evm`. */
export async function benchEthereumJs() {
  const own = await buildOf('../../dist')
  const { createChosenVm } = await import('../../dist/ethereumjs/create-vm.js')
  const builds = { tandem: own, ethereumjs: { ...own, vm: createChosenVm('ethereumjs', { chainId: 33 }) } }
  heading(builds)
  await benchContracts(Object.values(builds), FEW)
}

function heading(builds) {
  const names = Object.keys(builds)
  row('work', ...names.flatMap((name) => [`${name}, µs`, 'spread']), `${names.join('/')}, spread`)
  row('---', ...names.flatMap(() => ['---:', '---']), '---:')
}

/** Times calls of contracts by each build. */
async function benchContracts(parts, samples) {
  const [{ View, vm }] = parts
  const base = new View(NOTHING)
  const calls = await contractCalls((to, data) => runMessage(vm, base, to, data), {
    keccakHex,
    owner: SENDER,
  })
  for (const [name, call] of Object.entries(calls)) {
    await benchPair(
      name,
      parts.map((build) => contractRunner(build, base, call)),
      CALLS,
      samples,
    )
  }
}
