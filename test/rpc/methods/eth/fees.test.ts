/** What clients ask before they price a transaction. */
import { describe, expect, it } from 'vitest'
import { fakeEngine } from '../../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../../support/rpc.ts'

async function history(...params: unknown[]) {
  const { engine, calls } = fakeEngine()
  return { outcome: await ask(dispatcherOf(engine), 'eth_feeHistory', params), args: calls[0]?.args }
}

describe('eth_feeHistory', () => {
  it('returns a base fee of zero for each block and the next, and prices only on request', async () => {
    const plain = { oldestBlock: '0x0', baseFeePerGas: ['0x0', '0x0'], gasUsedRatio: [0.5] }
    expect((await history('0x1', 'latest')).outcome).toEqual({ result: plain })
    expect((await history('0x1', 'latest', null)).outcome).toEqual({ result: plain })
    expect((await history(1, 'latest', [])).outcome).toEqual({ result: plain })
    expect((await history('0x1', 'latest', [50])).outcome).toEqual({
      result: { ...plain, reward: [['0x7']] },
    })
  })

  it('ends at the given block, treats pending as the head, and shortens a range that is too long', async () => {
    expect((await history('0xa', '0x0', [1, 1.5, 100])).args).toEqual([10, 0, [1, 1.5, 100]])
    expect((await history('0x2', 'pending')).args).toEqual([2, 1, []])
    expect((await history('0xffffff', 'earliest')).args).toEqual([1024, 0, []])
  })

  it.each<[unknown[], number, string]>([
    [['0x0', 'latest'], -32602, 'Invalid blockCount: expected a number of blocks from 1 to 1024.'],
    [['x', 'latest'], -32602, 'Invalid param x: value must be a valid hex or string number.'],
    [['0x1', 'newest'], -32602, "Invalid block identifier 'newest'"],
    [['0x1', '0xff'], -32600, 'Block 0xff not found'],
    [
      ['0x1', 'latest', [50, 20]],
      -32602,
      'Invalid rewardPercentiles: expected at most 100 ascending numbers from 0 to 100.',
    ],
    [
      ['0x1', 'latest', [101]],
      -32602,
      'Invalid rewardPercentiles: expected at most 100 ascending numbers from 0 to 100.',
    ],
    [
      ['0x1', 'latest', ['1']],
      -32602,
      'Invalid rewardPercentiles: expected at most 100 ascending numbers from 0 to 100.',
    ],
    [
      ['0x1', 'latest', Array(101).fill(1)],
      -32602,
      'Invalid rewardPercentiles: expected at most 100 ascending numbers from 0 to 100.',
    ],
    [['0x1'], -32602, 'method parameters invalid'],
  ])('%j is refused', async (params, code, message) => {
    expect((await history(...params)).outcome).toEqual({ error: { code, message } })
  })
})
