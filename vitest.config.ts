import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const FILES = 'test/**/*.test.ts'

/** What a file replaces for its whole process: modules, environment variables, clocks. */
const REPLACES = /\bvi\.(mock|doMock|stubEnv|stubGlobal|useFakeTimers)\(/

/**
 * These files have a process each. All others share one process a worker, which loads each module once; loading the
 * node anew for each file takes longer than all of their tests.
 */
const isolated = readdirSync(new URL('test', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `test/${file}`)
  .filter((file) => REPLACES.test(readFileSync(new URL(file, import.meta.url), 'utf8')))

export default defineConfig({
  test: {
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
          exclude: isolated,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'isolated', include: isolated, sequence: { groupOrder: 2 } } },
    ],
  },
})
