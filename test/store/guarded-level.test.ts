/** A level that checks its tables in the background, and refuses the keys of what it found damaged. */
import { describe, expect, it } from 'vitest'
import { damageNotice } from '../../src/store/damage.ts'
import { GuardedLevel } from '../../src/store/guarded-level.ts'
import type { Level } from '../../src/store/level-entries.ts'
import type { DamagedBlock } from '../../src/store/table-blocks.ts'
import type { Timers } from '../../src/store/timers.ts'

const key = (byte: number): Uint8Array => Uint8Array.of(byte)

/** Holds one entry for each of the keys, and throws for the key 99. */
function levelOf(keys: readonly number[]): Level {
  return {
    isOpen: true,
    getSync([first]) {
      if (first === 99)
        throw Object.assign(new Error('Corruption: bad block in 000007.ldb'), { code: 'LEVEL_CORRUPTION' })
      return keys.includes(first as number) ? key(first as number) : undefined
    },
    batch: async () => {},
    async *iterator({ gte, lt, reverse }) {
      const within = keys.filter((byte) => byte >= (gte[0] as number) && byte < (lt[0] as number))
      for (const byte of reverse ? within.reverse() : within)
        yield [key(byte), key(byte)] as [Uint8Array, Uint8Array]
    },
    reopen: async () => {},
    close: async () => {},
  }
}

/** Timers whose steps are run by hand, one at a time. */
function manualTimers(): Timers & { readonly pauses: number[]; step(): void } {
  const waiting: (() => void)[] = []
  const pauses: number[] = []
  return {
    pauses,
    step: () => waiting.shift()?.(),
    yield: async () => {},
    after(milliseconds, run) {
      pauses.push(milliseconds)
      waiting.push(run)
      const cancel = () => void waiting.splice(waiting.indexOf(run), 1)
      return { restart: () => {}, cancel }
    },
  }
}

const DAMAGE: DamagedBlock = {
  table: '000005.ldb',
  offset: 12,
  isFooter: false,
  problem: 'db/000005.ldb, at byte 12: the checksum of a block is wrong',
  keys: { from: key(10), to: key(20) },
}

function guarded(check: Iterator<readonly DamagedBlock[], unknown>) {
  const timers = manualTimers()
  const found: string[] = []
  const onDamage = (problem: string) => void found.push(problem)
  const level = new GuardedLevel(levelOf([5, 12, 15, 30]), { dataDir: '/data', timers, check, onDamage })
  return { level, timers, found }
}

async function keysIn(level: Level, from: number, to: number, reverse = false): Promise<(number | string)[]> {
  const keys: (number | string)[] = []
  try {
    for await (const [found] of level.iterator({ gte: key(from), lt: key(to), reverse }))
      keys.push(found[0] as number)
  } catch (error) {
    keys.push((error as { kind: string }).kind)
  }
  return keys
}

const REFUSED = {
  kind: 'storage',
  message:
    `The node cannot read what is asked for: its database is damaged (${DAMAGE.problem}). Stop the node: ` +
    '"tandem verify --data-dir /data" names all that is wrong, and "tandem verify --data-dir /data --repair" goes back ' +
    'to the last whole block.',
}

describe('a level that checks its tables', () => {
  it('refuses keys of a damaged block after it is found, and answers others', async () => {
    const { level, timers, found } = guarded([[], [DAMAGE]].values())
    timers.step()
    expect(level.getSync(key(11))).toBeUndefined()
    timers.step()
    expect(found).toEqual([DAMAGE.problem])
    expect(level.damage).toEqual([DAMAGE.problem])
    for (const inside of [10, 11, 12, 20])
      expect(() => level.getSync(key(inside))).toThrow(expect.objectContaining(REFUSED))
    expect([5, 9, 21, 30].map((other) => level.getSync(key(other))?.[0])).toEqual([
      5,
      undefined,
      undefined,
      30,
    ])
    expect(await keysIn(level, 0, 9)).toEqual([5])
    expect(await keysIn(level, 21, 40)).toEqual([30])
    // LevelDB reads ahead, and ends the process at some damaged keys: nothing of such a range is read.
    expect(await keysIn(level, 0, 40)).toEqual(['storage'])
    expect(await keysIn(level, 0, 40, true)).toEqual(['storage'])
    expect(await keysIn(level, 16, 19)).toEqual(['storage'])
  })

  it('checks one piece at a time, pauses nineteen times as long, and ends after the tables or when it is closed', async () => {
    let pieces = 0
    const check = { next: () => (pieces++ < 2 ? { value: [] } : { done: true as const, value: undefined }) }
    const { timers } = guarded(check)
    expect(timers.pauses).toEqual([50])
    for (let step = 0; step < 5; step++) timers.step()
    expect(pieces).toBe(3)
    expect(timers.pauses).toHaveLength(3)
    const other = guarded([[DAMAGE]].values())
    await other.level.close()
    other.timers.step()
    expect(other.found).toEqual([])
  })

  it('logs the file and the byte of damage, and which command finds the last whole block', () => {
    expect(damageNotice('/data', DAMAGE.problem)).toBe(
      'The database in /data is damaged: db/000005.ldb, at byte 12: the checksum of a block is wrong. ' +
        '"tandem verify --data-dir /data" names all that is wrong, and "tandem verify --data-dir /data --repair" ' +
        'goes back to the last whole block. Only the repair finds which block that is, and prints its number.',
    )
  })

  it('names an error of LevelDB', () => {
    const { level } = guarded([].values())
    expect(() => level.getSync(key(99))).toThrow(
      expect.objectContaining({
        kind: 'storage',
        message:
          'The node cannot read what is asked for: its database is damaged (LevelDB reports "Corruption: bad block in 000007.ldb"). ' +
          'Stop the node: "tandem verify --data-dir /data" names all that is wrong, and "tandem verify --data-dir /data --repair" ' +
          'goes back to the last whole block.',
      }),
    )
  })
})
