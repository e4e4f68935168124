/** When a request is answered: what it changed is on disk then. */
import { describe, expect, it } from 'vitest'
import { createBitcoin } from '../../src/bitcoin/bitcoin.ts'
import { BitcoinRequests } from '../../src/bitcoin-rpc/requests.ts'
import { NodeError } from '../../src/errors.ts'
import { START } from './bitcoin-server.ts'

const ADDRESS = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'

function requests(settled: () => Promise<void>, clock = () => START) {
  const bitcoin = createBitcoin({ clock, seed: new Uint8Array(32) })
  const answers = new BitcoinRequests({ bitcoin, report: () => {}, settled })
  return async (method: string, ...params: unknown[]) => {
    const body = JSON.stringify({ id: 1, method, params })
    const reply = await answers.answer({ verb: 'POST', path: '/', body })
    return JSON.parse(reply?.body ?? '')
  }
}

describe('a request', () => {
  it('that changes something waits for the disk, and one that reads does not', async () => {
    const order: string[] = []
    let write = () => {}
    const call = requests(
      () =>
        new Promise((resolve) => {
          write = () => {
            order.push('written')
            resolve()
          }
        }),
    )
    const mined = call('generatetoaddress', 1, ADDRESS).then(() => order.push('answered'))
    expect(await call('getblockcount')).toMatchObject({ result: 1 })
    expect(order).toEqual([])
    write()
    await mined
    expect(order).toEqual(['written', 'answered'])
  })

  it('says so when the disk refuses what it changed', async () => {
    const call = requests(() => Promise.reject(new NodeError('storage', 'The disk is full.')))
    expect(await call('generatetoaddress', 1, ADDRESS)).toMatchObject({
      result: null,
      error: { code: -20, message: 'The disk is full.' },
    })
    expect(await call('getblockcount')).toMatchObject({ error: null })
  })

  it('says so when blocks would be too far ahead of the clock', async () => {
    let now = START
    const call = requests(
      async () => {},
      () => now,
    )
    await call('generatetoaddress', 12, ADDRESS)
    now -= 10_000
    expect(await call('generatetoaddress', 1, ADDRESS)).toMatchObject({
      result: null,
      error: { code: -1, message: expect.stringMatching(/^TestBlockValidity failed: time-too-new/) },
    })
  })
})
