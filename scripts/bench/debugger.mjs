/**
 * `npm run bench:debugger`: the debugger on a transaction of a million steps. Prints how long it takes to open, to move and
 * to show a place with its variables and machine state (milliseconds of processor time: median, 99th percentile, the longest),
 * and the longest time that it keeps the event loop from others; then what the stack trace of a failed call takes beyond the
 * call. Fails above the limits.
 */
import { existsSync, readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { Interface } from 'ethers'
import { createNode, serve } from '../../dist/index.js'

/** Milliseconds of a move with all that is shown after it, and of the longest wait of other callers. */
const STEP_LIMIT_MS = 50
const WAIT_LIMIT_MS = 100
/** Milliseconds of a stack trace beyond its call, by the medians of failed calls over HTTP. */
const TRACE_LIMIT_MS = 5
const FAILED_CALLS = 300
const OPENINGS = 10
const MOVES = 200
const GAS = 90_000_000
/** Some 630 steps each. */
const ROUNDS = 1_700
const BUILD = new URL('../../fixtures/debugger/Variables-0.8.21.json.br', import.meta.url)

const SCHEDULE = '/proc/thread-self/schedstat'
const hasSchedule = existsSync(SCHEDULE)

/** Milliseconds of the processor that the main thread has used, where the system reports them. */
function now() {
  return hasSchedule ? Number(readFileSync(SCHEDULE, 'utf8').split(' ')[0]) / 1e6 : performance.now()
}

/** Runs work; its time, and the longest time between two passes of the event loop meanwhile. */
async function timed(work) {
  const began = now()
  let [wait, last, isOn] = [0, began, true]
  const pass = () => {
    const time = now()
    wait = Math.max(wait, time - last)
    last = time
    if (isOn) setImmediate(pass)
  }
  setImmediate(pass)
  const result = await work()
  isOn = false
  pass()
  return { result, ms: now() - began, wait }
}

/** Numbers from 0 to below 1, the same in every run: the minimal standard generator of Park and Miller. */
function sequence(seed) {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** A node that knows the sources of the contract, and the contract on it. */
async function prepare(options) {
  const build = JSON.parse(brotliDecompressSync(readFileSync(BUILD)).toString())
  const node = await createNode({ blockGasLimit: 100_000_000, ...options })
  const request = (method, ...params) => node.request({ method, params })
  await request('evm_addSources', build)
  const { Sums, Variables } = build.output.contracts['Variables.sol']
  const [from] = await request('eth_accounts')
  const gas = `0x${GAS.toString(16)}`
  const send = async (transaction) =>
    request('eth_getTransactionReceipt', await request('eth_sendTransaction', { from, gas, ...transaction }))
  const { contractAddress: library } = await send({ data: `0x${Sums.evm.bytecode.object}` })
  const face = new Interface(Variables.abi)
  const code = Variables.evm.bytecode.object.replace(/__\$.{34}\$__/g, library.slice(2))
  const { contractAddress: to } = await send({
    data: `0x${code}${face.encodeDeploy(['Bench', 5]).slice(2)}`,
  })
  return { node, request, send, to, face }
}

/** The hash of a transaction of a million steps. */
async function longTransaction({ send, to, face }) {
  const data = face.encodeFunctionData('long', [ROUNDS])
  const { transactionHash, status } = await send({ to, data })
  if (status !== '0x1') throw new Error('the transaction failed')
  return transactionHash
}

/** The median of failed calls over HTTP, with or without the stacks of their failures, milliseconds. */
async function failedCall(stackTraces) {
  const { node, to, face } = await prepare({ stackTraces })
  const server = await serve(node, { port: 0 })
  const params = [{ to, data: face.encodeFunctionData('failing', [2]) }, 'latest']
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params })
  const headers = { 'content-type': 'application/json' }
  const call = async () => {
    const reply = await (await fetch(server.url, { method: 'POST', headers, body })).text()
    if (reply.includes('Variables.sol') !== (stackTraces !== 'off')) throw new Error(reply)
  }
  const samples = []
  for (let index = 0; index < FAILED_CALLS; index++) samples.push((await timed(call)).ms)
  await server.close()
  await node.close()
  return samples.sort((a, b) => a - b)[FAILED_CALLS / 2]
}

const rows = []
const waits = []

function row(title, samples, limit) {
  const sorted = samples.map(({ ms }) => ms).sort((a, b) => a - b)
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(1)
  const wait = Math.max(...samples.map((sample) => sample.wait))
  rows.push(`| ${title} | ${samples.length} | ${at(0.5)} | ${at(0.99)} | ${at(1)} | ${wait.toFixed(1)} |`)
  if (limit !== undefined && sorted.at(-1) > limit) process.exitCode = 1
  waits.push(wait)
}

const prepared = await prepare({})
const { node, request } = prepared
const hash = await longTransaction(prepared)
const openings = []
let place
for (let index = 0; index < OPENINGS; index++) {
  if (place !== undefined) await request('evm_debugClose', place.session)
  const opening = await timed(() => request('evm_debugTransaction', hash))
  openings.push(opening)
  place = opening.result
}
row(`open ${place.steps} steps`, openings)

const next = sequence(11)
/** Moves, and asks for all that a page of the explorer shows. */
const shown = (...move) =>
  timed(async () => {
    const { session } = await request('evm_debugMove', place.session, ...move)
    await request('evm_debugVariables', session, 0, 'locals')
    await request('evm_debugVariables', session, 0, 'state')
    await request('evm_debugMachine', session, 0)
  })
const jump = () => shown('to', 'forward', {}, Math.floor(next() * place.steps))
const jumps = []
for (let index = 0; index < MOVES; index++) jumps.push(await jump())
row('jump to any step', jumps, STEP_LIMIT_MS)
for (const move of ['into', 'over', 'out', 'instruction']) {
  for (const direction of ['forward', 'back']) {
    const samples = []
    for (let index = 0; index < MOVES; index++) {
      if (index % 10 === 0) await jump()
      samples.push(await shown(move, direction))
    }
    row(`${move}, ${direction}`, samples, STEP_LIMIT_MS)
  }
}
const failures = { failures: true, lines: [{ file: 'Variables.sol', line: 1 }] }
row('continue through all', [
  await shown('continue', 'back', failures),
  await shown('continue', 'forward', failures),
])

console.log(
  `| milliseconds of ${hasSchedule ? 'the processor' : 'wall clock'} | times | median | 99 % | longest | longest wait of others |`,
)
console.log('| --- | ---: | ---: | ---: | ---: | ---: |')
for (const text of rows) console.log(text)
if (Math.max(...waits) > WAIT_LIMIT_MS) process.exitCode = 1
await node.close()

// Without the calls in which code is compiled.
await failedCall('data')
const [plain, explained] = [await failedCall('off'), await failedCall('data')]
const beyond = explained - plain
console.log(
  `\nA failed call takes ${plain.toFixed(2)} ms, and ${explained.toFixed(2)} ms with its stack: ${beyond.toFixed(2)} ms beyond the call.`,
)
if (beyond > TRACE_LIMIT_MS) process.exitCode = 1
