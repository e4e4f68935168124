/** What waits in the pool, at the edge (acceptance checks 211, 212). */
import { describe, expect, it } from 'vitest'
import { A, B, pooled, queued } from '../../support/fake-chain.ts'
import { fakeEngine } from '../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../support/rpc.ts'

const dispatcher = dispatcherOf(fakeEngine().engine)
const SENDER = A.slice(2)

describe('the txpool_ methods', () => {
  it('return counts as JSON integers', async () => {
    expect(await ask(dispatcher, 'txpool_status')).toEqual({ result: { pending: 1, queued: 1 } })
  })

  it('show each transaction by sender and nonce, with amounts in their signed encoding', async () => {
    const { result } = await ask(dispatcher, 'txpool_content')
    expect(result).toMatchObject({ queued: { [SENDER]: { 7: [{ to: '0x00', value: '0x0080' }] } } })
    expect((result as { pending: unknown }).pending).toEqual({
      [SENDER]: {
        3: [
          {
            blockHash: `0x${'0'.repeat(64)}`,
            blockNumber: null,
            from: A,
            gas: '0x5208',
            gasPrice: '0x00',
            hash: pooled.hash,
            input: '0x',
            nonce: '0x3',
            to: B,
            transactionIndex: null,
            value: '0x01',
          },
        ],
      },
    })
  })

  it('show each transaction on a line', async () => {
    expect(await ask(dispatcher, 'txpool_inspect')).toEqual({
      result: {
        pending: { [SENDER]: { 3: [`${B.slice(2)}: 1 wei + 21000 x 0 gas`] } },
        queued: { [SENDER]: { [String(queued.nonce)]: [': 128 wei + 21000 x 0 gas'] } },
      },
    })
  })
})
