/** The exports of the package are those that were reviewed. Needs the built declarations. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PRINT = "import { apiPage } from './scripts/docs/api.mjs'; process.stdout.write(apiPage())"

it('the exports match the API report (npm run docs updates it)', () => {
  const now = execFileSync(process.execPath, ['--input-type=module', '-e', PRINT], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect(now).toBe(readFileSync(new URL('../../docs/internals/api.md', import.meta.url), 'utf8'))
})
