import { describe, expect, it } from 'vitest'
import { createProgress } from '../../src/cli/progress.ts'

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
    expect(written).toEqual(['45 % block 2, 400 blocks/s, 2 Mgas/s\n'])
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
      '\r\u001b[2K[##########----------] 50 % block 7, 5 blocks/s, 5.5 Mgas/',
      '\r\u001b[2Kblock 8, 3 blocks/s, 2.8 Mgas/s',
      '\r\u001b[2K',
    ])
  })
})
