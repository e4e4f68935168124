/**
 * `npm run bench:waits`: how long other callers wait while the worst code runs and is compiled. Between two passes of the
 * event loop, the processor time of the main thread where the system reports it (Linux), else the wall clock; fails above
 * the limit.
 */
import { existsSync, readFileSync } from 'node:fs'
import { HotCode } from '../src/evm/compiled/hot-code.ts'
import { createVm } from '../src/evm/vm.ts'
import { CONTRACT, run, world } from '../test/support/execution.ts'
import { worstCodes } from '../test/support/worst-code.ts'

/** The longest allowed wait for another caller, milliseconds. */
const LIMIT_MS = 50
/** Rounds of each code: more than it takes to be compiled. Milliseconds that it may take for them. */
const ROUNDS = 900
const DEADLINE_MS = 5000

const SCHEDULE = '/proc/self/schedstat'
const hasSchedule = existsSync(SCHEDULE)

/** Milliseconds of the main thread. */
function now(): number {
  return hasSchedule ? Number(readFileSync(SCHEDULE, 'utf8').split(' ')[0]) / 1e6 : performance.now()
}

/** Runs code; the longest time between two passes of the event loop meanwhile, and the bytes that were compiled. */
async function longestWait(code: Uint8Array): Promise<{ wait: number; bytes: number; end: string }> {
  const hotCode = new HotCode()
  const vm = createVm({ chainId: 33, hotCode })
  const state = world({ [CONTRACT]: { code } })
  let [wait, last, isOn] = [0, now(), true]
  const pass = () => {
    const time = now()
    wait = Math.max(wait, time - last)
    last = time
    if (isOn) setImmediate(pass)
  }
  setImmediate(pass)
  const end = await run(state, { gas: 10n ** 11n }, { vm, deadlineMs: DEADLINE_MS }).then(
    ({ status, failure }) => failure ?? status,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  isOn = false
  pass()
  return { wait, bytes: hotCode.bytes, end }
}

console.log(
  `| code | longest wait, ms of ${hasSchedule ? 'the processor' : 'wall clock'} | bytes compiled | end |`,
)
console.log('| --- | ---: | ---: | --- |')
for (const [name, code] of Object.entries(worstCodes(ROUNDS))) {
  const { wait, bytes, end } = await longestWait(code)
  console.log(`| ${name} | ${wait.toFixed(1)} | ${bytes} | ${end} |`)
  if (wait > LIMIT_MS) process.exitCode = 1
}
