/** A disk that is slower than the clients: their replies wait for it, and what waits in memory is bounded. Counted, not timed. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createNode } from '../../src/node/node.ts'
import { LineFile } from '../../src/recording/line-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Bytes of a line, more than any overhead of a line. */
const LINE = 50_000
/** What may wait: the file's high-water mark (1 MiB), the pipe (64 KiB), a chunk that is being written, and a line over the mark. */
const MOST = 2 * (1 << 20)

/** A file that takes nothing until it is read: a pipe. */
function slowFile(): string {
  const path = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  return path
}

/** Lets everything happen that waits for no disk. */
async function settled(): Promise<void> {
  for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
}

it('holds up the writers of lines, with little in memory, and loses none', async () => {
  const path = slowFile()
  const reader = open(path, 'r')
  const file = await LineFile.create(path)
  const input = (await reader).createReadStream({ encoding: 'utf8' })
  let begun = 0
  const total = 200
  const writing = (async () => {
    for (let i = 0; i < total; i++) {
      begun++
      await file.write(`${i} ${'x'.repeat(LINE)}`)
    }
  })()
  await settled()
  expect(begun).toBeGreaterThan(1)
  expect(begun * LINE).toBeLessThan(MOST)
  let text = ''
  input.on('data', (chunk) => (text += chunk))
  const ended = once(input, 'end')
  await writing
  await file.close()
  await ended
  const lines = text.trimEnd().split('\n')
  expect(lines.map((line) => Number(line.split(' ')[0]))).toEqual(Array.from({ length: total }, (_, i) => i))
})

it('holds up the replies to clients, one at most for each', async () => {
  const path = slowFile()
  const reader = open(path, 'r')
  const node = await createNode({ record: path })
  const input = await reader
  const clients = 4
  const total = 60
  const text = 'x'.repeat(LINE)
  let answered = 0
  const client = async () => {
    for (let i = 0; i < total / clients; i++) {
      await node.request({ method: 'web3_sha3', params: [`0x${Buffer.from(text).toString('hex')}`] })
      answered++
    }
  }
  const asking = Promise.all(Array.from({ length: clients }, client))
  await settled()
  expect(answered * 2 * LINE).toBeLessThan(MOST)
  expect(answered).toBeLessThan(total)
  const stream = input.createReadStream({ encoding: 'utf8' })
  let recorded = ''
  stream.on('data', (chunk) => (recorded += chunk))
  const ended = once(stream, 'end')
  await asking
  await node.close()
  await ended
  const replies = recorded.split('\n').filter((line) => line.includes('"reply":'))
  expect(replies).toHaveLength(total)
})
