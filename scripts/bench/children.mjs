/** Programs that run to their end. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { measure, TICK_MS } from './measure.mjs'

/** The standard output of a program. Throws when it fails, with what it wrote to standard error. */
export async function output(program, args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [text, errors] = ['', '']
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${errors}`)
  return text
}

/** Processor time of the children that have ended, ms, exact to two ticks. */
export function childrenTime() {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}

/** Measures runs of a program, one after another; the figures are those of one run. */
export function measureRuns(program, args, runs) {
  async function work() {
    for (let i = 0; i < runs; i++) await output(program, args)
  }
  return measure({ operations: runs, work }, childrenTime)
}
