/** One run: three nodes under load, one of them killed again and again, and an audit at the end. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { audit } from './audit.ts'
import { httpCaller } from './client.ts'
import { INSPECTED, openHeapScale } from './heap.ts'
import { KILLED, Measures, YARDSTICK } from './measures.ts'
import { launch } from './node-process.ts'
import { createRandom, type Random } from './random.ts'
import { readOn, watchOn } from './readers.ts'
import { type Outcome, rising } from './report.ts'
import { ACCOUNTS, createSenders, MNEMONIC, openBooks, sendOn } from './senders.ts'
import { turnBackOn } from './snapshots.ts'
import { Target, UnexpectedExit } from './target.ts'
import { startYardstick, type Yardstick } from './yardstick.ts'

/** The options of a run. */
export interface SoakOptions {
  /** How long the load lasts; the audit follows. */
  readonly seconds: number
  readonly seed: number
  /** Called with the progress, once in a while. */
  progress(words: string): void
}

const FLAGS = ['--accounts', String(ACCOUNTS), '--mnemonic', MNEMONIC]
const READERS = 3
/** Mean seconds between two restarts, in a long run. */
const BETWEEN_RESTARTS = 5
/** A share of restarts that end the node in order, and of those that kill it again while it starts. */
const ORDERLY = 0.15
const AGAIN = 0.25

/** Milliseconds between two looks at memory from outside. */
const WEIGH_MS = 500
/** How often in a run live heap is weighed, though never more often than every so many seconds. */
const WEIGHINGS = 20
const LEAST_BETWEEN = 5

/** Measures the live heap of a node as long as `running`. */
async function watchHeap(
  node: { readonly inspector: string | undefined },
  seconds: number,
  note: (bytes: number) => void,
  running: () => boolean,
): Promise<void> {
  if (node.inspector === undefined) throw new Error('the inspector of a node is not open')
  const scale = await openHeapScale(node.inspector)
  const between = Math.max(LEAST_BETWEEN, seconds / WEIGHINGS)
  for (let left = between; running(); left -= WEIGH_MS / 1000) {
    if (left <= 0) {
      const bytes = await scale.weigh()
      if (bytes !== undefined) note(bytes)
      left = between
    }
    await pause(WEIGH_MS)
  }
  scale.close()
}

/** Restarts a node at random times; it may mine in another way afterwards. */
async function restartOn(
  target: Target,
  random: Random,
  options: SoakOptions,
  measures: Measures,
  running: () => boolean,
) {
  const mean = Math.min(BETWEEN_RESTARTS, options.seconds / 5)
  while (running()) {
    // Most runs are short, a few are long.
    const wait = Math.max(0.3, -mean * Math.log(1 - random.next()))
    const until = measures.now() + Math.min(wait, mean * 3)
    while (running() && measures.now() < until) await pause(20)
    if (!running()) return
    const signal = random.chance(ORDERLY) ? 'SIGTERM' : 'SIGKILL'
    const early = random.chance(AGAIN) ? [random.whole(30, 700)] : []
    const at = measures.now()
    const restart = await target.restart(signal, early, random.chance(0.6) ? 'auto' : 'interval')
    measures.restarts.push({ ...restart, at, signal })
  }
}

/** Everything that goes on at a node whose books are kept. */
function loadOf(
  target: Target,
  senders: ReturnType<typeof createSenders>,
  random: Random,
  running: () => boolean,
) {
  return [
    ...senders.slice(1).map((sender) => sendOn(target, sender, senders, random.branch(), running)),
    ...Array.from({ length: READERS }, () => readOn(target, random.branch(), running)),
    watchOn(target, random.branch(), running),
  ]
}

/** Maximum of blocks for the transactions in the pool at the end. */
const LAST_BLOCKS = 20

/** Mines until nothing is pooled any more, and nothing by itself. */
async function drain(target: Target): Promise<void> {
  const { http } = await target.run()
  await http.call('evm_stopMining')
  for (let left = LAST_BLOCKS; left > 0; left--) {
    const { pending, queued } = await http.call<{ pending: number; queued: number }>('txpool_status')
    if (pending === 0 && queued === 0) return
    await http.call('evm_mine')
  }
  target.report('the pool is not empty in the end: something before what waits there is missing')
}

/** Checks each node after the load, and ends it. The first is killed and restarted before. */
async function auditAll(
  targets: readonly [Target, Target],
  back: ReturnType<typeof launch>,
  report: (words: string) => void,
): Promise<void> {
  for (const target of targets) {
    await drain(target)
    await (await target.run()).streams.settle()
  }
  await targets[0].restart('SIGKILL', [], 'auto')
  for (const target of targets) {
    const { http } = await target.run()
    await audit(http, target.ledger, target.token, (words) => target.report(words))
    await target.end('SIGTERM')
  }
  back.signal('SIGTERM')
  const how = await back.ended
  if (how !== 0) report(`snapshots: after SIGTERM it ended with ${how}: ${back.errorOutput().trim()}`)
}

/** Runs it. Throws only what keeps it from running; what the nodes do wrong is in the outcome. */
export async function soak(options: SoakOptions): Promise<Outcome> {
  const { seconds, seed } = options
  const random = createRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'tandem-soak-'))
  const measures = new Measures()
  const problems = new Map<string, number>()
  const report = (words: string) => {
    if (!problems.has(words)) options.progress(words)
    problems.set(words, (problems.get(words) ?? 0) + 1)
  }
  const make = (name: string, runtime: readonly string[]) => {
    const timed = measures.timedFor(name)
    return new Target({ name, dataDir: join(folder, name), args: FLAGS, runtime, timed, report })
  }
  const targets = [make(KILLED, []), make('steady', INSPECTED)] as const
  const [killed, steady] = targets
  const back = launch(['--data-dir', join(folder, 'snapshots')], INSPECTED)
  let yardstick: Yardstick | undefined
  const nodes = [KILLED, 'steady', 'snapshots']
  const ends = () => {
    for (const pid of [killed.pid, steady.pid, back.pid, yardstick?.pid])
      if (pid !== undefined) killQuietly(pid)
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', ends)
  try {
    const senders = targets.map(() => createSenders())
    await Promise.all(
      targets.map((target, i) => target.start('auto', (http) => openBooks(http, senders[i] ?? []))),
    )
    const { url } = await back.ready
    yardstick = await startYardstick()

    measures.begin()
    const running = () => measures.now() < seconds
    const weighing = setInterval(() => {
      for (const { name, pid } of targets) measures.weigh(name, pid)
      measures.weigh('snapshots', back.pid)
    }, WEIGH_MS)
    const work = [
      ...targets.flatMap((target, i) => loadOf(target, senders[i] ?? [], random.branch(), running)),
      yardstick.measureOn(measures.timedFor(YARDSTICK), running),
      watchHeap(steady, seconds, (bytes) => measures.noteHeap('steady', bytes), running),
      watchHeap(
        { inspector: back.inspector() },
        seconds,
        (bytes) => measures.noteHeap('snapshots', bytes),
        running,
      ),
      restartOn(killed, random.branch(), options, measures, running),
      turnBackOn(httpCaller(url, measures.timedFor('snapshots')), random.branch(), running, (words) =>
        report(`snapshots: ${words}`),
      ).catch((error) => report(`snapshots: ${(error as Error).message}`)),
    ]
    for (const outcome of await Promise.allSettled(work)) {
      // A node that fell has reported it.
      if (outcome.status === 'rejected' && !(outcome.reason instanceof UnexpectedExit)) throw outcome.reason
    }
    clearInterval(weighing)
    measures.end()

    options.progress('The load has ended; the nodes are checked once more.')
    await auditAll(targets, back, report)
    const outcome: Outcome = { seed, seconds, measures, targets, nodes, problems }
    for (const words of rising(outcome)) report(words)
    return outcome
  } finally {
    ends()
    process.off('exit', ends)
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
