/**
 * Writes docs/methods, docs/options.md and docs/internals/api.md from the built code: `npm run docs`. With `--check` it
 * writes nothing, and fails when one of them is stale or README.md is larger than its limit.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { apiPage } from './docs/api.mjs'
import { methodPages } from './docs/methods.mjs'
import { optionsPage } from './docs/options.mjs'

const ROOT = new URL('../', import.meta.url)
const METHODS = 'docs/methods/'
/** Largest README, bytes. */
const README_LIMIT = 10_240

const pages = new Map([
  ...[...(await methodPages())].map(([name, text]) => [`${METHODS}${name}`, text]),
  ['docs/options.md', optionsPage()],
  ['docs/internals/api.md', apiPage()],
])
const folder = new URL(METHODS, ROOT)
mkdirSync(folder, { recursive: true })
const left = readdirSync(folder)
  .map((name) => `${METHODS}${name}`)
  .filter((path) => !pages.has(path))

if (process.argv.includes('--check')) {
  const isStale = ([path, text]) => {
    const place = new URL(path, ROOT)
    return !existsSync(place) || readFileSync(place, 'utf8') !== text
  }
  const stale = [...[...pages].filter(isStale).map(([path]) => path), ...left]
  const faults = stale.map((path) => `${path} is stale: npm run docs`)
  const { size } = statSync(new URL('README.md', ROOT))
  if (size > README_LIMIT)
    faults.push(`README.md has ${size} bytes, more than ${README_LIMIT}: move text to docs/`)
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
} else {
  for (const [path, text] of pages) writeFileSync(new URL(path, ROOT), text)
  for (const path of left) rmSync(new URL(path, ROOT))
}
