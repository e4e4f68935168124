/** Rooms import only leftwards, and each foreign library has one door. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SRC = fileURLToPath(new URL('../src', import.meta.url))
/** Left to right; a room may import from itself and from what stands before it. */
const ROOMS = [
  'encoding',
  'chain',
  'abi',
  'options',
  'store',
  'execution',
  'engine',
  'rpc',
  'node.ts',
  'transport',
  'cli',
]
const EVERYWHERE = ['errors.ts', 'logger.ts']
/** Public face: right of all but the command that uses it. */
const FACE = 'index.ts'

const LIBRARY_DOORS: Record<string, RegExp> = {
  '@ethereumjs/evm': /^execution\//,
  '@ethereumjs/common': /^execution\//,
  '@ethereumjs/trie': /^execution\//,
  '@ethereumjs/vm': /^execution\//,
  '@ethereumjs/rlp': /^encoding\/rlp\.ts$/,
  express: /^transport\//,
  ws: /^transport\//,
  'classic-level': /^store\//,
  'memory-level': /^store\//,
  level: /^store\//,
  commander: /^cli\//,
  redis: /^transport\/keys\//,
  'rate-limiter-flexible': /^transport\/keys\//,
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] as string)
}

const roomOf = (file: string): string => file.split('/')[0] as string

describe('the line of rooms', () => {
  it.each(files)('%s imports nothing from the right', (file) => {
    const room = roomOf(file)
    if (room === FACE) return
    for (const path of importsOf(file).filter((path) => path.startsWith('.'))) {
      const target = relative(SRC, join(SRC, dirname(file), path))
      const there = roomOf(target)
      if (EVERYWHERE.includes(there)) continue
      if (EVERYWHERE.includes(room)) {
        expect(there, `${file} → ${target}`).toBe('encoding')
        continue
      }
      expect(ROOMS, `${file} → ${target}`).toContain(there)
      expect(ROOMS.indexOf(there), `${file} → ${target}`).toBeLessThanOrEqual(ROOMS.indexOf(room))
    }
  })

  it.each(files)('%s imports libraries only where they have their door', (file) => {
    for (const path of importsOf(file).filter((path) => !path.startsWith('.') && !path.startsWith('node:'))) {
      const name = path.startsWith('@')
        ? path.split('/').slice(0, 2).join('/')
        : (path.split('/')[0] as string)
      const door = LIBRARY_DOORS[name]
      if (door !== undefined) expect(file, `${file} imports ${name}`).toMatch(door)
    }
  })

  it('every file opens with a sentence that says what it is', () => {
    for (const file of files) {
      expect(readFileSync(join(SRC, file), 'utf8').replace(/^#!.*\n/, ''), file).toMatch(/^\/\*\*/)
    }
  })
})
