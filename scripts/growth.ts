/**
 * `npm run bench:growth`: counts the work (blocks of our code, steps of iterators) of an example of every method, and of
 * calls with the parameters that could matter, on nodes that hold 10, 1,000 and 100,000 blocks, snapshots and so on, or as
 * many as a node can; 10,000 where a table would take more than 15 minutes. Prints a table of those that are more work where there is more, and fails where that is not stated
 * in `test/support/growth/holdings.ts` and is more than some steps of a tree. `-- --sizes 10,1000` other sizes,
 * `-- --only blocks` one of the tables. Each is made in a process of its own, since counting makes a process slow.
 */
import { fork } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SECTION_BLOCKS } from '../src/engine/index/section.ts'
import { COUNTED_EXAMPLES } from '../test/support/counted-examples.ts'
import { GROWTHS, workAt, workInPool } from '../test/support/growth/calls.ts'
import { directoryWith, STORED, workOfCommands } from '../test/support/growth/commands.ts'
import { type Holding, IN_POOL, MINED, POOLED } from '../test/support/growth/holdings.ts'
import {
  type CountedNode,
  type Example,
  type Grown,
  grownOn,
  hasGrown,
  nodeWith,
} from '../test/support/growth/methods.ts'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10,1000,100000' },
    only: { type: 'string' },
    here: { type: 'boolean', default: false },
  },
})
const SIZES = values.sizes.split(',').map(Number)

/** The maximum in the note of a table, with its source. */
const boundOf = (most: Holding['most']) =>
  most === undefined ? '' : `, at most ${most[0].toLocaleString('en')} (${most[1]})`

/** The sizes up to a maximum, each once. */
const boundedBy = (most = Number.POSITIVE_INFINITY) => [...new Set(SIZES.map((size) => Math.min(size, most)))]

/** Would wait for a block of its transaction; refuses a block of impersonated senders, as those in the pool are. */
const UNCOUNTED = /Sync$|^evm_importBlock$/

/** What is counted: the sizes, the rows that grow with a reason where there is one, and how many do not grow. */
interface Table {
  readonly sizes: readonly number[]
  readonly note: string
  readonly grown: readonly (Grown & { readonly why?: string | undefined })[]
  readonly flat: number
}

/** The work of each method that goes through all of it. What one takes away is there again for the next. */
async function workOfWhole(nodes: readonly CountedNode[], examples: readonly Example[]): Promise<Grown[]> {
  const grown: Grown[] = []
  for (const example of examples) {
    const works: number[] = []
    for (const node of nodes) {
      await node.refill()
      works.push((await node.count([example]))[0] ?? 0)
    }
    grown.push({ name: example.name, works })
  }
  return grown
}

async function tableOfMethods(what: string, holding: Holding): Promise<Table> {
  const { whole, most } = holding
  const sizes = boundedBy(most?.[0])
  const nodes: CountedNode[] = []
  const seconds: string[] = []
  for (const size of sizes) {
    const begun = performance.now()
    nodes.push(await nodeWith(size, [holding]))
    seconds.push(((performance.now() - begun) / 1000).toFixed(1))
    console.error(`${what}: ${size} in ${seconds.at(-1)} s`)
  }
  const others = COUNTED_EXAMPLES.filter(({ name }) => whole[name] === undefined)
  const grown = (await grownOn(nodes, others)).map((row) => ({
    ...row,
    why: whyOfSections(holding.sections?.[row.name], sizes, row.works),
  }))
  const counted = COUNTED_EXAMPLES.filter(({ name }) => whole[name] !== undefined && !UNCOUNTED.test(name))
  const ofWhole = (await workOfWhole(nodes, counted)).map((row) => ({ ...row, why: whole[row.name] }))
  return {
    sizes,
    note: `built in ${seconds.join(', ')} s${boundOf(most)}`,
    grown: [...grown, ...ofWhole],
    flat: others.length - grown.length,
  }
}

/** Code blocks and steps that a lookup in a section takes at most. */
const MOST_OF_SECTION = 64

/** A reason for growth with the sections of an index, where there is one and the growth is no more than that. */
function whyOfSections(
  why: string | undefined,
  sizes: readonly number[],
  [least = 0, ...others]: readonly number[],
): string | undefined {
  const most = MOST_OF_SECTION * Math.ceil(Math.max(...sizes) / SECTION_BLOCKS)
  return Math.max(...others) - least <= most ? why : undefined
}

/** A table of calls, by their work at each size; `whole` states why some grow. */
async function tableOfCalls(
  sizes: readonly number[],
  count: (size: number) => Promise<readonly (readonly [call: string, work: number])[]>,
  whole: Readonly<Record<string, string>>,
  sections: Readonly<Record<string, string>> = {},
): Promise<Table> {
  const works = new Map<string, number[]>()
  // A process is slow once it has counted: the largest is built first.
  for (const size of sizes.toReversed()) {
    for (const [call, work] of await count(size)) works.set(call, [work, ...(works.get(call) ?? [])])
  }
  const rows = [...works].map(([name, counts]) => ({ name, works: counts }))
  const grown = rows.filter(({ works: [least = 0, ...others] }) => hasGrown(least, Math.max(...others)))
  return {
    sizes,
    note: 'calls',
    grown: grown.map((row) => ({
      ...row,
      why: whole[row.name] ?? whyOfSections(sections[row.name], sizes, row.works),
    })),
    flat: rows.length - grown.length,
  }
}

function tableOfGrowth(growth: (typeof GROWTHS)[string]): Promise<Table> {
  const calls = growth.whole?.map((call) => [JSON.stringify(call), 'goes through all of them'] as const)
  const whole = Object.fromEntries(calls ?? [])
  const sections = growth.calls.map(
    (call) => [JSON.stringify(call), growth.sections?.[call[0]] ?? ''] as const,
  )
  return tableOfCalls(
    boundedBy(growth.most),
    (size) => workAt(size, growth, true),
    whole,
    Object.fromEntries(sections.filter(([, why]) => why !== '')),
  )
}

/** Runs commands on directories in a temporary folder. */
async function tableOfCommands(stored: (typeof STORED)[string]): Promise<Table> {
  const sizes = boundedBy(stored.most?.[0])
  const folder = mkdtempSync(join(tmpdir(), 'tandem-growth-'))
  try {
    const directories = new Map<number, Awaited<ReturnType<typeof directoryWith>>>()
    for (const size of sizes) {
      const own = join(folder, `${size}`)
      mkdirSync(own)
      directories.set(size, await directoryWith(own, size, stored))
    }
    const count = async (size: number) => {
      const directory = directories.get(size)
      return directory === undefined ? [] : workOfCommands(directory)
    }
    const table = await tableOfCalls(sizes, count, stored.whole)
    return { ...table, note: `commands${boundOf(stored.most)}` }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const TABLES: Readonly<Record<string, () => Promise<Table>>> = {
  ...Object.fromEntries(
    Object.entries({ ...MINED, ...POOLED, ...IN_POOL }).map(([what, holding]) => [
      `methods: ${what}`,
      () => tableOfMethods(what, holding),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(GROWTHS).map(([what, growth]) => [`calls: ${what}`, () => tableOfGrowth(growth)]),
  ),
  'calls: chains of a pool': () =>
    tableOfCalls(boundedBy(IN_POOL['chains of a pool']?.most?.[0]), workInPool, {}),
  ...Object.fromEntries(
    Object.entries(STORED).map(([what, stored]) => [`commands: ${what}`, () => tableOfCommands(stored)]),
  ),
}

/** Counts of the same work, such as a transaction of another sender, differ by this part of it. */
const VARIATION = 0.1

/** Is the work of the last step of sizes no more than that of the first, by the doublings of each? */
function isLogarithmic(sizes: readonly number[], works: readonly number[]): boolean {
  const slopes = works.slice(1).map((work, at) => {
    const [least = 1, most = 1] = sizes.slice(at)
    return (work - (works[at] ?? 0)) / Math.log2(most / least)
  })
  const [first = 0, last = 0] = [slopes[0], slopes.at(-1)]
  return slopes.length > 1 && last <= 3 * Math.max(first, 0) + 20 + VARIATION * (works[0] ?? 0)
}

/** Prints a table; whether it has rows without a reason. */
function print(what: string, { sizes, note, grown, flat }: Table): boolean {
  const reasons = grown.map(
    ({ works, why }) => why ?? (isLogarithmic(sizes, works) ? 'steps of a tree' : '?'),
  )
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const numbers = (all: readonly number[]) => all.map((value) => value.toLocaleString('en'))
  console.log(`\n### ${what}\n\n${flat} are flat; ${note}\n`)
  if (grown.length > 0) {
    console.log(line(['method', ...numbers(sizes), 'why']))
    console.log(line(['---', ...sizes.map(() => '---:'), '---']))
    for (const [at, { name, works }] of grown.entries())
      console.log(line([name, ...numbers(works), reasons[at] ?? '']))
  }
  return reasons.includes('?')
}

/** Makes the table in a process of its own; whether it has rows without a reason. */
function isUnexplainedIn(what: string): Promise<boolean> {
  const args = ['--here', '--only', what, '--sizes', values.sizes]
  const child = fork(fileURLToPath(import.meta.url), args, { execArgv: ['--max-old-space-size=8192'] })
  return new Promise((settle) => child.once('exit', (code) => settle(code !== 0)))
}

const chosen = Object.keys(TABLES).filter((what) => what.includes(values.only ?? ''))
let isFailed = false
for (const what of chosen) {
  const table = TABLES[what]
  if (table === undefined) continue
  const isUnexplained = values.here ? print(what, await table()) : await isUnexplainedIn(what)
  isFailed ||= isUnexplained
}
process.exit(isFailed ? 1 : 0)
