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

  it('prints the first of lines with one key, and how many more there were', async () => {
    const chunks: string[] = []
    const stream = new Writable({
      write(chunk, _encoding, done) {
        chunks.push(String(chunk))
        done()
      },
    })
    const writer = new StreamLineWriter(stream)
    for (let i = 0; i < 4; i++) writer.write(`eth_blockNumber 0.${i} ms`, 'eth_blockNumber')
    writer.write('eth_call 1 ms', 'eth_call')
    writer.write('eth_call 2 ms', 'eth_call')
    writer.write('Block 1')
    writer.write('Block 1')
    writer.write('eth_call 3 ms', 'eth_call')
    writer.write('eth_call 4 ms', 'eth_call')
    await writer.flush()
    expect(chunks.join('').trimEnd().split('\n')).toEqual([
      'eth_blockNumber 0.0 ms',
      '  (3 times more)',
      'eth_call 1 ms',
      '  (once more)',
      'Block 1',
      'Block 1',
      'eth_call 3 ms',
      '  (once more)',
    ])
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
