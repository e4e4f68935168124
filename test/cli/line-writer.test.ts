import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { StreamLineWriter } from '../../src/cli/line-writer.ts'

describe('a line writer', () => {
  it('prints lines in order, and lines of one moment together', async () => {
    const chunks: string[] = []
    const stream = new Writable({
      write(chunk, _encoding, done) {
        chunks.push(String(chunk))
        done()
      },
    })
    const writer = new StreamLineWriter(stream)
    writer.write('a')
    writer.write('b')
    await new Promise((resolve) => setImmediate(resolve))
    writer.write('c')
    await writer.flush()
    expect(chunks).toEqual(['a\nb\n', 'c\n'])
  })

  it('keeps the order when lines are slow to make, and skips lines that fail', async () => {
    const chunks: string[] = []
    const stream = new Writable({
      write(chunk, _encoding, done) {
        chunks.push(String(chunk))
        done()
      },
    })
    const writer = new StreamLineWriter(stream)
    let resolve: (lines: string[]) => void = () => {}
    const slow = new Promise<readonly string[]>((done) => {
      resolve = done
    })
    writer.write('a')
    writer.later(slow)
    writer.later(Promise.reject(new Error('no tree')))
    writer.write('d')
    await writer.flush()
    expect(chunks.join('')).toBe('a\n')
    resolve(['b', 'c'])
    await slow
    await writer.flush()
    expect(chunks.join('')).toBe('a\nb\nc\nd\n')
  })

  it('drops lines while nobody reads, and does not block the node', async () => {
    const taken: number[] = []
    const stream = new Writable({
      write(chunk) {
        taken.push(String(chunk).length)
      },
    })
    const writer = new StreamLineWriter(stream)
    for (let i = 0; i < 20; i++) {
      writer.write('x'.repeat(1_000_000))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(stream.writableLength).toBeLessThan(6_000_000)
    await writer.flush()
  })

  it('continues after its reader has closed the pipe', async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
    const writer = new StreamLineWriter(stream)
    writer.write('a')
    await writer.flush()
    writer.write('b')
    await writer.flush()
    expect(stream.errored).toEqual(new Error('EPIPE'))
  })
})
