import { describe, expect, it } from 'vitest'
import { createPassingLog, createProgress } from '../../src/cli/progress.ts'
import { timeLeft } from '../../src/engine/progress.ts'

function recorded(isTTY: boolean) {
  const written: string[] = []
  let now = 1_000
  const progress = createProgress({ isTTY, columns: 59, write: (text) => written.push(text) }, () => now)
  const pass = (milliseconds: number) => {
    now += milliseconds
  }
  return { progress, written, pass }
}

describe('progress', () => {
  it('is lines at intervals where there is no terminal', () => {
    const { progress, written, pass } = recorded(false)
    pass(4_999)
    progress.show('block 1', { blocks: 1, gas: 21_000n }, 0.1)
    expect(written).toEqual([])
    pass(1)
    progress.show('block 2', { blocks: 2_000, gas: 10_000_000n }, 0.456)
    progress.show('block 3', { blocks: 2_001, gas: 10_000_000n }, 0.5)
    progress.clear()
    expect(written).toEqual(['45 % block 2, 6 s left, 400 blocks/s, 2 Mgas/s\n'])
  })

  it('is one line on a terminal, drawn again and removed', () => {
    const { progress, written, pass } = recorded(true)
    pass(1_000)
    progress.show('block 7', { blocks: 5, gas: 5_500_000n }, 0.5)
    pass(1_000)
    progress.show('block 8', { blocks: 6, gas: 5_500_000n })
    progress.clear()
    progress.clear()
    expect(written).toEqual([
      '\r\u001b[2K[##########----------] 50 % block 7, 1 s left, 5 blocks/s,',
      '\r\u001b[2Kblock 8, 3 blocks/s, 2.8 Mgas/s',
      '\r\u001b[2K',
    ])
  })

  it.each([
    [0, 60_000, ''],
    [0.5, 999, ''],
    [1, 60_000, ''],
    [0.5, 60_000, '1 min 0 s left'],
    [0.9, 9_000, '1 s left'],
    [0.01, 60_000, '1 h 39 min left'],
  ])('has a forecast: %d of the whole in %d ms: %s', (share, milliseconds, text) => {
    expect(timeLeft(share, milliseconds)).toBe(text)
  })

  it('of a node stands on a terminal until it is cleared, and nowhere else', () => {
    const [shown, other]: [string[], string[]] = [[], []]
    const terminal = createPassingLog({ isTTY: true, columns: 12, write: (text) => shown.push(text) })
    terminal.logger.info('loading 5 of 10 blocks')
    terminal.logger.debug('not this')
    terminal.clear()
    expect(shown).toEqual(['\r\u001b[2Kloading 5 o', '\r\u001b[2K'])
    createPassingLog({ write: (text) => other.push(text) }).logger.info('loading')
    expect(other).toEqual([])
  })
})
