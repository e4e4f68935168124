/** Without the option `record` nothing of recordings and replays is loaded. */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { importSpecifiers } from '../support/import-graph.ts'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

/** The static imports of a file that are no types. */
function loadedBy(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8')
  return [...text.matchAll(/^import (?!type\b)[^;]*?from '([^']+)'/gms)].map(([, path]) => path as string)
}

const importers = (folder: string) =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/^(recording|replay)\//.test(file))
    .filter((file) => loadedBy(file).some((path) => join(dirname(file), path).startsWith(`${folder}/`)))

it('a node imports the code of recordings when it records', () => {
  expect(importers('recording')).toEqual([])
  expect(importSpecifiers(join(SRC, 'node/node.ts'))).toContain('../recording/recorder.ts')
})

it('only the command of replays imports their code', () => {
  expect(importers('replay')).toEqual(['cli/replay.ts'])
  expect(loadedBy('cli/main.ts').filter((path) => path.includes('replay'))).toEqual([])
})
