import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { temporaryRoot } from './test/support/temporary-root.ts'

const FILES = 'test/**/*.test.ts'

/** What a file replaces for its whole process: modules, environment variables, clocks. */
const REPLACES = /\bvi\.(mock|doMock|stubEnv|stubGlobal|useFakeTimers)\(/

/**
 * Runs the EVM library's loop, which awaits each opcode: once another file of the process has used AsyncLocalStorage, as
 * forks and the browser's driver do, promises cost several times as much (Node 20).
 */
const AWAITS_OPCODES = /\bloop: 'library'/

/** Replaces timers and clocks while a seed runs, and takes a minute: `npm run test:faults`. */
const SIMULATION = 'test/simulation/'

/** Counts steps of iterators, which makes all iteration of the process slow from then on. */
const COUNTS_WORK = /support\/(work|growth\/)/

/** Pages of the explorer in a browser: `npm run test:browser`. */
const IN_BROWSER = /\bCHROMIUM\b/

/** Pack, install and compile: `npm run test:install`. */
const installing = [
  'test/packaging/package.test.ts',
  'test/runners/init.test.ts',
  'test/runners/runners.test.ts',
]

/** Processes that are killed, servers that end, disks that are full, the largest requests: `npm run test:faults`. */
const FAULTS =
  /^test\/(replication\/|replay\/processes\.|cli\/verify-(killed|flips)|hostile\/fairness|scenarios\/(durability|reorg-crash|log-crash|full-disk|largest-requests)\.)/

/** The command itself, started for each test: `npm run test:commands`. */
const COMMANDS =
  /^test\/(cli\/(anvil|command|coverage|doctor|exec|fork|fork-import-state|fork-secrets|init|mcp|start-refusals|state-files)|mcp\/http|packaging\/action|peg\/outside-bitcoin)\./

/** Solidity's compilers themselves, which `scripts/tools` brings: `npm run test:compilers`. */
const compiling = ['test/apis/real-compilers.test.ts']

/** Runs each block of the documents: `npm run test:recipes`. */
const recipes = ['test/docs/recipes.test.ts']

const texts = readdirSync(new URL('test', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => [`test/${file}`, readFileSync(new URL(`test/${file}`, import.meta.url), 'utf8')] as const)

const inBrowser = texts.filter(([, text]) => IN_BROWSER.test(text)).map(([file]) => file)

/**
 * These files have a process each. All others share one process a worker, which loads each module once; loading the
 * node anew for each file takes longer than all of their tests.
 */
const isolated = texts
  .filter(([file, text]) => {
    const isApart = [REPLACES, AWAITS_OPCODES, COUNTS_WORK].some((sign) => sign.test(text))
    return isApart && !file.startsWith(SIMULATION)
  })
  .map(([file]) => file)

const simulating = texts.map(([file]) => file).filter((file) => file.startsWith(SIMULATION))
const shared = texts
  .map(([file]) => file)
  .filter((file) => !isolated.includes(file) && !simulating.includes(file))
const faults = shared.filter((file) => FAULTS.test(file))
const commands = shared.filter((file) => COMMANDS.test(file))

/** Short files that take long. Vitest starts large ones first where it knows no times, and would end with these, alone. */
const LONG = ['execution/reference-chains', 'evm/compiled/hot-equals-cold.property', 'cli/coverage']

/** Starts these right after the files that have a process of their own, so that both workers end at the same time. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      if (project.config.isolate) return 0
      return LONG.some((name) => moduleId.endsWith(`/test/${name}.test.ts`)) ? 1 : 2
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    env: { TMPDIR: temporaryRoot() },
    sequence: { sequencer: LongFirst },
    setupFiles: ['test/support/method-proof.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: [FILES],
          exclude: [
            ...isolated,
            ...simulating,
            ...inBrowser,
            ...installing,
            ...recipes,
            ...compiling,
            ...faults,
            ...commands,
          ],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: isolated } },
      { extends: true, test: { name: 'browser', include: inBrowser, isolate: false } },
      { extends: true, test: { name: 'install', include: installing } },
      { extends: true, test: { name: 'recipes', include: recipes } },
      { extends: true, test: { name: 'faults', include: faults, isolate: false } },
      { extends: true, test: { name: 'simulation', include: simulating } },
      { extends: true, test: { name: 'commands', include: commands, isolate: false } },
      { extends: true, test: { name: 'compilers', include: compiling } },
    ],
  },
})
