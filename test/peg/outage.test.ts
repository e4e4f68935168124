import { describe, expect, it } from 'vitest'
import { NodeError } from '../../src/errors.ts'
import { Outage } from '../../src/peg/outage.ts'

const ignore = () => {}

describe('an outage', () => {
  let now = 0
  const lines: string[] = []
  const logger = {
    debug: ignore,
    error: ignore,
    info: (text: string) => void lines.push(text),
    warn: (text: string) => void lines.push(text),
  }
  const outage = new Outage(logger, () => now)
  const failing = (milliseconds: number) => async () => {
    now += milliseconds
    throw new NodeError('upstream', 'no answer')
  }

  it('is told once, and asks again at once a node that refuses, later one that does not answer', async () => {
    expect(await outage.attempt(failing(1))).toBeUndefined()
    expect(await outage.attempt(failing(1))).toBeUndefined()
    expect(await outage.attempt(async () => 7)).toBe(7)
    expect(lines.splice(0)).toEqual([
      'no answer; blocks are mined without it',
      'the Bitcoin node answers again',
    ])
    expect(await outage.attempt(failing(5000))).toBeUndefined()
    expect(await outage.attempt(async () => 7)).toBeUndefined()
    now += 30_000
    expect(await outage.attempt(async () => 7)).toBe(7)
    expect(lines).toHaveLength(2)
  })

  it('hides no other error', async () => {
    await expect(
      outage.attempt(async () => {
        throw new NodeError('storage', 'full')
      }),
    ).rejects.toThrow('full')
  })
})
