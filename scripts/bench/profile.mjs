/** CPU profiles of Tandem: the flags that take them, and self time by module of our sources and by package. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { loadConfig } from 'rolldown/config'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Bundles the command again, the same code with maps to the modules that it is made of. */
async function bundleWithMaps() {
  const [commands] = await loadConfig(join(ROOT, 'rolldown.config.ts'))
  await build({ ...commands, output: { ...commands.output, sourcemap: 'hidden' } })
}

/**
 * Gets everything ready for profiles.
 * @param {string} row its name, which the folder has too
 * @returns {Promise<{ folder: string, nodeFlags: string[] }>} where the profiles will be, and the flags of Node.js
 */
export async function prepareProfile(row) {
  const folder = join(ROOT, '.build/profiles', row)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await bundleWithMaps()
  return { folder, nodeFlags: ['--cpu-prof', '--cpu-prof-dir', folder] }
}

/** The map of each file that has one. */
const maps = new Map()
function mapOf(file) {
  if (!maps.has(file)) {
    try {
      maps.set(file, new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8'))))
    } catch {
      maps.set(file, undefined)
    }
  }
  return maps.get(file)
}

/** The name under which the time of a function is counted: a module of src, a package, or what the runtime calls it. */
export function moduleOf({ functionName, url, lineNumber, columnNumber }) {
  if (url === '') return functionName.startsWith('(') ? functionName : `native: ${functionName}`
  if (url.startsWith('node:')) return 'node:'
  const file = url.startsWith('file:') ? fileURLToPath(url) : url
  const origin = mapOf(file)?.findEntry(lineNumber, columnNumber).originalSource ?? file
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(origin) ?? /\b(src\/.*)$/.exec(origin)
  return found?.[1] ?? file.replace(ROOT, '')
}

/**
 * Sums self time in a profile's samples that lie in one of the windows.
 * @param {object} profile as V8 writes it
 * @param {[number, number][]} windows µs of the monotonic clock
 * @param {(frame: object) => string} nameOf
 * @returns {Map<string, number>} µs by name, time without work left out
 */
export function selfTimes(profile, windows, nameOf) {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
  const times = new Map()
  let at = profile.startTime
  for (const [index, id] of profile.samples.entries()) {
    // The delta leads to its sample, which stands for the time up to the next one.
    at += profile.timeDeltas[index]
    const lasts = profile.timeDeltas[index + 1] ?? 0
    const frame = frames.get(id)
    if (frame.functionName === '(idle)' || !windows.some(([from, to]) => at >= from && at < to)) continue
    const name = nameOf(frame)
    times.set(name, (times.get(name) ?? 0) + lasts)
  }
  return times
}

/** Lines of a table of self time by module: those of at least half a percent. */
export function profileLines(folder, windows) {
  const total = new Map()
  for (const file of readdirSync(folder)) {
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    for (const [name, time] of selfTimes(profile, windows, moduleOf)) {
      total.set(name, (total.get(name) ?? 0) + time)
    }
  }
  const sum = [...total.values()].reduce((a, b) => a + b, 0)
  const rows = [...total].sort(([, a], [, b]) => b - a).filter(([, time]) => time / sum >= 0.005)
  return [
    '  self, ms   share  module',
    ...rows.map(
      ([name, time]) =>
        `  ${(time / 1000).toFixed(1).padStart(8)}  ${((100 * time) / sum).toFixed(1).padStart(4)} %  ${name}`,
    ),
  ]
}
