/**
 * A long run: `npm run soak -- --minutes 5`. Real processes under mixed load over HTTP and WebSocket, one of them killed
 * at moments of chance; nothing that was acknowledged may be lost, and memory and latency have to stay level. Ends with 1
 * when that is not so.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { reportPlot, reportText } from './report.ts'
import { soak } from './soak.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    plot: { type: 'string', default: '.build/soak.svg' },
  },
})

/** A number that was typed. Throws a sentence. */
function numberOf(name: 'minutes' | 'seconds' | 'seed', fallback: number): number {
  const number = Number(values[name] ?? fallback)
  if (!(number > 0)) throw new Error(`--${name} expects a number above 0, not "${values[name]}".`)
  return number
}

// Started processes are ended on exit.
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

try {
  if (values.minutes !== undefined && values.seconds !== undefined)
    throw new Error('Say how long in minutes or in seconds, not in both.')
  const seconds = values.seconds === undefined ? numberOf('minutes', 5) * 60 : numberOf('seconds', 20)
  const seed = Math.floor(numberOf('seed', 1 + Math.floor(Math.random() * 2 ** 31)))
  console.log(`Soaking for ${seconds} seconds with the seed ${seed} (--seed ${seed} decides the same again).`)
  const outcome = await soak({ seconds, seed, progress: (words) => console.log(words) })
  console.log(`\n${reportText(outcome)}\n`)
  mkdirSync(dirname(values.plot), { recursive: true })
  writeFileSync(values.plot, reportPlot(outcome))
  console.log(`The plot is in ${values.plot}.`)
  if (outcome.problems.size === 0) console.log('Nothing acknowledged was lost, and nothing else was wrong.')
  else {
    console.log('What was wrong:')
    for (const [words, count] of outcome.problems)
      console.log(`- ${words}${count > 1 ? ` (${count} times)` : ''}`)
    process.exitCode = 1
  }
} catch (error) {
  console.error(`soak: ${(error as Error).message}`)
  process.exitCode = 2
}
