/**
 * Compares the variables that the node's debugger shows with those that Truffle's decodes (`@truffle/debugger`), before each
 * statement of transactions of contracts by several compilers. Differences have to be those of `expected.json`, which gives
 * the reason of each, by contract: they are the same with every compiler.
 *
 *   npm ci --ignore-scripts && node main.mjs [part of a build's name] [--write | --record]
 *
 * `--write` writes the differences that are not expected yet, to be explained there; `--record` writes what Truffle decodes in
 * builds of which `fixtures/debugger` has the build-info to a file there.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync } from 'node:zlib'
import { BUILDS, compile } from './cases.mjs'
import { deployed } from './node.mjs'
import { ownVariables } from './own.mjs'
import { truffleVariables } from './truffle.mjs'

const EXPECTED = new URL('expected.json', import.meta.url)

/** Of a value what Truffle knows: the same, and with the same parts. Mappings have also keys that are used later. */
function isSame(own, theirs) {
  if (theirs === undefined) return true
  if (typeof theirs === 'string' || typeof own !== 'object') return own === theirs
  if (Array.isArray(theirs) && own.length !== theirs.length) return false
  return Object.entries(theirs).every(([name, value]) => isSame(own[name], value))
}

/**
 * What differs at the statements of a transaction, by place and variable. What Truffle does not show, or cannot decode, is counted.
 */
function differences(own, theirs) {
  const found = {}
  let [equal, unknown] = [0, 0]
  for (const [step, { pc, at, values }] of own) {
    const other = theirs.get(step)
    if (other.pc !== pc) throw new Error(`step ${step} is at ${pc}, Truffle's at ${other.pc}`)
    for (const [name, value] of Object.entries(other.values)) {
      const mine = values[name]
      if (value === undefined) unknown++
      else if (mine === undefined)
        found[`${at} ${name}`] ??= `not shown by tandem, Truffle ${JSON.stringify(value)}`
      else if (isSame(mine, value)) equal++
      else found[`${at} ${name}`] ??= `tandem ${JSON.stringify(mine)}, Truffle ${JSON.stringify(value)}`
    }
    unknown += Object.keys(values).filter((name) => !(name in other.values)).length
  }
  return { found, equal, unknown }
}

/** What Truffle decodes, without what differs. */
function agreed(own, theirs) {
  return [...theirs].map(([step, { pc, values }]) => {
    const mine = own.get(step).values
    return [
      step,
      pc,
      Object.fromEntries(
        Object.entries(values).filter(([name, value]) => name in mine && isSame(mine[name], value)),
      ),
    ]
  })
}

/** Debugs the transactions of a build with both. */
async function compare(one) {
  const build = compile(one)
  const place = await deployed(build, one)
  const hashes = [['constructor', place.deployment]]
  for (const given of one.calls) hashes.push([given[0], await place.call(given)])
  const sums = { found: {}, equal: 0, unknown: 0, transactions: [] }
  for (const [title, hash] of hashes) {
    const own = await ownVariables(place.node, hash)
    const theirs = await truffleVariables(place.node, build, hash, [...own.keys()])
    const { found, equal, unknown } = differences(own, theirs)
    for (const [at, text] of Object.entries(found)) sums.found[`${title}: ${at}`] ??= text
    sums.equal += equal
    sums.unknown += unknown
    const index = place.sent.findIndex((transaction) => transaction.hash === hash)
    sums.transactions.push({ index, steps: agreed(own, theirs) })
  }
  await place.node.close()
  return { ...sums, sent: place.sent.map(({ to, data }) => ({ to, data })) }
}

function record(name, { sent, transactions }) {
  const file = new URL(`../../../fixtures/debugger/truffle-${name}.json.br`, import.meta.url)
  writeFileSync(file, brotliCompressSync(JSON.stringify({ sent, transactions })))
}

const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const expected = JSON.parse(readFileSync(EXPECTED, 'utf8'))
let failed = false
for (const one of BUILDS) {
  const name = `${one.contract}-${one.version}`
  if (!asked.every((part) => name.toLowerCase().includes(part.toLowerCase()))) continue
  const began = performance.now()
  const result = await compare(one)
  const listed = expected[one.contract] ?? {}
  const unexpected = Object.entries(result.found).filter(([at, text]) => listed[at]?.difference !== text)
  const gone = Object.keys(listed).filter((at) => !(at in result.found))
  const isExpected = unexpected.length + gone.length === 0
  console.log(
    `${name}: ${result.equal} values are the same, ${result.unknown} are not known to Truffle, ${Object.keys(result.found).length} differ${isExpected ? ' as expected' : ''} (${((performance.now() - began) / 1000).toFixed(0)} s)`,
  )
  if (process.argv.includes('--record') && one.isRecorded) record(name, result)
  if (isExpected) continue
  failed = true
  for (const [at, text] of unexpected) console.log(`  ${at}: ${text}`)
  for (const at of gone) console.log(`  ${at}: expected to differ`)
  if (!process.argv.includes('--write')) continue
  expected[one.contract] = Object.fromEntries(
    Object.entries(result.found).map(([at, difference]) => [
      at,
      listed[at]?.difference === difference ? listed[at] : { difference, reason: 'to be explained' },
    ]),
  )
  writeFileSync(EXPECTED, `${JSON.stringify(expected, null, 2)}\n`)
}
process.exitCode = failed ? 1 : 0
