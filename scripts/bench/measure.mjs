/** Processor time, wall time and resident memory of a process and its children, and the share of the machine that other processes used. */
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** Milliseconds of one tick of /proc (`CLK_TCK` is 100 on every Linux that Node.js runs on). */
export const TICK_MS = 10

/** A sample is marked when others took more than this share of the machine meanwhile. */
export const MOST_DISTURBANCE = 0.1

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process or the thread has ended since it was listed.
    return undefined
  }
}

/** Fields of /proc/<pid>/stat from the third on; the second, the name, may hold blanks. */
const fieldsOf = (stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' ')

/** Threads of a process; none when it has ended. */
function threads(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** The process and everything below it. */
function family(pid) {
  const found = [String(pid)]
  for (const one of found) {
    for (const thread of threads(one)) {
      const children = read(`/proc/${one}/task/${thread}/children`) ?? ''
      found.push(...children.split(' ').filter((child) => child !== ''))
    }
  }
  return found
}

/**
 * Reads the processor time of a process. The kernel gives that of each running thread in nanoseconds, and that of the
 * whole process, threads and children that have ended included, in ticks rounded down. So the threads are added up, and
 * what the ticks exceed that sum by is the time of threads that ended unseen: at least as much as they exceeded it at
 * any reading. The more readings, the closer this comes, from two ticks on.
 * @param {number} pid
 * @returns {() => number} milliseconds so far: user and system, all threads, all children
 */
export function processorTime(pid) {
  /** Last reading of each thread, ms; that of a thread which has ended stays. */
  const seen = new Map()
  let unseen = 0
  return () => {
    let ticks = 0
    for (const one of family(pid)) {
      const stat = read(`/proc/${one}/stat`)
      if (stat === undefined) continue
      const fields = fieldsOf(stat)
      // utime, stime, cutime, cstime
      for (const index of [11, 12, 13, 14]) ticks += Number(fields[index])
      for (const thread of threads(one)) {
        const schedule = read(`/proc/${one}/task/${thread}/schedstat`)
        if (schedule !== undefined) seen.set(thread, Number(schedule.split(' ')[0]) / 1e6)
      }
    }
    let sum = 0
    for (const ms of seen.values()) sum += ms
    unseen = Math.max(unseen, ticks * TICK_MS - sum)
    return sum + unseen
  }
}

/** A figure of the memory of a process and its children (`/proc/<pid>/status`), MB of a million bytes. */
function memory(pid, figure) {
  return family(pid)
    .map((one) => Number(figure.exec(read(`/proc/${one}/status`) ?? '')?.[1] ?? 0) * 1024e-6)
    .reduce((sum, megabytes) => sum + megabytes, 0)
}

/** Resident memory of a process and its children, MB of a million bytes. */
export const residentMemory = (pid) => memory(pid, /VmRSS:\s+(\d+)/)

/** The part of it that is in no file: the rest are pages of files, which the kernel takes back when memory is short. */
export const ownMemory = (pid) => memory(pid, /RssAnon:\s+(\d+)/)

/** Milliseconds that all processors of the machine have worked, or were taken by its host. */
function machineTime() {
  const [user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softirq + steal) * TICK_MS
}

/** Share of the machine, 0 to 1, that others had in a time of `wallMs`, when `busyMs` were worked and `ownMs` were ours. */
export function disturbance({ busyMs, ownMs, wallMs, processors = availableParallelism() }) {
  return Math.min(1, Math.max(0, (busyMs - ownMs) / (wallMs * processors)))
}

/**
 * Runs work and measures it.
 * @param {object} sample
 * @param {number} sample.operations that the work consists of
 * @param {() => unknown} sample.work
 * @param {() => number} [cpuMs] reads the server's processor time; without it the work runs in this very process
 * @param {() => number} [childrenMs] reads the processor time of programs that are clients too
 * @returns {Promise<{ cpuMs: number, wallMs: number, disturbance: number, window: [number, number] }>} times of one
 *   operation, and when the work ran on the monotonic clock, in µs
 */
export async function measure({ operations, work }, cpuMs, childrenMs = () => 0) {
  const own = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000 + childrenMs()
  }
  const before = { at: performance.now(), machine: machineTime(), own: own(), server: cpuMs?.() ?? 0 }
  const began = process.hrtime.bigint()
  await work()
  const ended = process.hrtime.bigint()
  const after = { server: cpuMs?.() ?? 0, own: own(), machine: machineTime(), at: performance.now() }
  const server = after.server - before.server
  const client = after.own - before.own
  return {
    cpuMs: (cpuMs === undefined ? client : server) / operations,
    wallMs: Number(ended - began) / 1e6 / operations,
    disturbance: disturbance({
      busyMs: after.machine - before.machine,
      ownMs: server + client,
      wallMs: after.at - before.at,
    }),
    window: [Number(began / 1000n), Number(ended / 1000n)],
  }
}
