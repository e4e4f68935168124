import { describe, expect, it } from 'vitest'
import type { Header } from '../../../src/chain/header.ts'
import { forkDetectionData } from '../../../src/chain/merged-mining/fork-detection.ts'
import { doubleSha256 } from '../../../src/encoding/hash.ts'
import { toHex } from '../../../src/encoding/hex.ts'
import { localHeader } from './local-header.ts'

/** A parent-chain header that is different at every height. */
function parentHeaderAt(height: number): Uint8Array {
  const bytes = new Uint8Array(80)
  new DataView(bytes.buffer).setUint32(0, height)
  return bytes
}

function chain(unclesAt: (height: number) => number): { read: Set<number>; at: (height: number) => Header } {
  const read = new Set<number>()
  return {
    read,
    at: (height) => {
      read.add(height)
      return { ...localHeader(height), bitcoinHeader: parentHeaderAt(height), uncleCount: unclesAt(height) }
    },
  }
}

function firstHashByte(height: number): number {
  return doubleSha256(parentHeaderAt(height))[0] as number
}

describe('fork detection data', () => {
  it('is empty below height 449', () => {
    expect(forkDetectionData(chain(() => 0).at, 447)).toHaveLength(0)
    expect(forkDetectionData(chain(() => 0).at, 0)).toHaveLength(0)
    expect(forkDetectionData(chain(() => 0).at, 448)).toHaveLength(12)
  })

  it('has hash bytes of seven checkpoints, the uncle count of 32 headers, and the number', () => {
    const headers = chain((height) => (height > 968 ? 2 : 100))
    const data = forkDetectionData(headers.at, 1000)
    const checkpoints = [960, 896, 832, 768, 704, 640, 576]
    expect([...data.subarray(0, 7)]).toEqual(checkpoints.map(firstHashByte))
    expect(data[7]).toBe(64)
    expect(toHex(data.subarray(8))).toBe('0x000003e9')
    expect(headers.read.size).toBeLessThanOrEqual(39)
  })

  it('starts at the parent when the parent is a checkpoint', () => {
    const data = forkDetectionData(chain(() => 0).at, 64 * 20)
    expect(data[0]).toBe(firstHashByte(1280))
  })

  it('follows its own branch on either side of a fork', () => {
    const unclesAt = (height: number) => (height * 7) % 11
    const stored = new Map<string, Header>()
    /** The same header each time, as a chain has it; of the other branch from `fork` on. */
    const branch = (fork: number) => (height: number) => {
      const isOther = height >= fork
      const key = `${isOther} ${height}`
      const header = stored.get(key) ?? chain((at) => unclesAt(at) + (isOther ? 3 : 0)).at(height)
      stored.set(key, header)
      return header
    }
    const counted = (at: (height: number) => Header, height: number) =>
      Array.from({ length: 32 }, (_, i) => at(height - i).uncleCount).reduce((sum, count) => sum + count)
    for (const fork of [Number.POSITIVE_INFINITY, 520]) {
      for (let height = 460; height < 600; height++) {
        const data = forkDetectionData(branch(fork), height)
        expect(data[7]).toBe(Math.min(255, counted(branch(fork), height)))
        const newest = height - (height % 64)
        expect(data[0]).toBe(firstHashByte(newest))
      }
    }
  })

  it('counts no more than 255 uncles', () => {
    expect(forkDetectionData(chain(() => 10).at, 1000)[7]).toBe(255)
  })
})
