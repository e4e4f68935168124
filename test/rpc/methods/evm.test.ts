/** The `evm_` methods at the edge (acceptance checks 189 to 199). */
import { describe, expect, it } from 'vitest'
import { type Block, encodeBlock } from '../../../src/chain/block.ts'
import { toHex } from '../../../src/encoding/hex.ts'
import { block1 } from '../../support/fake-chain.ts'
import { fakeEngine } from '../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../support/rpc.ts'

const HASH = `0x${'ab'.repeat(32)}`
const MOVED = { removed: [block1.hash], added: [] }

async function run(method: string, ...params: unknown[]) {
  const { engine, calls } = fakeEngine()
  return { outcome: await ask(dispatcherOf(engine), method, params), calls }
}
const refusal = (message: string) => ({ error: { code: -32602, message } })

describe('evm_ methods', () => {
  it.each<[string, unknown[], unknown, string, unknown[]]>([
    ['evm_snapshot', [], '0x1', 'snapshot', []],
    ['evm_revert', ['0x1'], true, 'revert', [1]],
    ['evm_revert', ['0x63'], false, 'revert', [99]],
    ['evm_revert', ['0x0'], false, 'revert', [0]],
    ['evm_reset', [], null, 'reset', []],
    ['evm_mine', [], null, 'mine', [{}]],
    ['evm_mine', [null], null, 'mine', [{}]],
    ['evm_mine', [1000], null, 'mine', [{ timestamp: 1000 }]],
    ['evm_mine', ['0x3e8'], null, 'mine', [{ timestamp: 1000 }]],
    ['evm_mine', [{ timestamp: '0x3e8', blocks: 3 }], null, 'mine', [{ timestamp: 1000, blocks: 3 }]],
    ['evm_mine', [{}], null, 'mine', [{}]],
    ['evm_mine', [{ parent: HASH }], null, 'mine', [{ parent: HASH }]],
    ['evm_reorg', [{ depth: 2 }], MOVED, 'reorg', [{ depth: 2 }]],
    ['evm_reorg', [{ depth: '0x2', uncles: true }], MOVED, 'reorg', [{ depth: 2, uncles: true }]],
    [
      'evm_reorg',
      [{ depth: 1, blocks: [{}, { timestamp: '0x3e8', coinbase: HASH.slice(0, 42), transactions: [] }] }],
      MOVED,
      'reorg',
      [{ depth: 1, blocks: [{}, { timestamp: 1000, coinbase: HASH.slice(0, 42), transactions: [] }] }],
    ],
    ['evm_increaseTime', ['0x64'], '0x64', 'increaseTime', [100]],
    ['evm_increaseTime', [100], '0x64', 'increaseTime', [100]],
    ['evm_increaseTime', ['100'], '0x64', 'increaseTime', [100]],
    ['evm_increaseTime', ['-5'], '0x0', 'increaseTime', [-5]],
    ['evm_setNextBlockTimestamp', ['0x3e8'], null, 'setNextBlockTimestamp', [1000]],
    ['evm_setNextBlockTimestamp', [1000], null, 'setNextBlockTimestamp', [1000]],
    ['evm_setAutomine', [false], true, 'setAutomine', [false, { poolWaits: false }]],
    ['evm_setIntervalMining', [0], true, 'setIntervalMining', [0, { besideAutomine: false }]],
    ['evm_setIntervalMining', ['0x1388'], true, 'setIntervalMining', [5000, { besideAutomine: false }]],
    ['evm_startMining', [], null, 'startMining', []],
    ['evm_stopMining', [], null, 'stopMining', []],
  ])('%s %j', async (method, params, result, command, args) => {
    expect(await run(method, ...params)).toEqual({ outcome: { result }, calls: [{ name: command, args }] })
  })

  it.each<[string, unknown, string]>([
    ['evm_revert', '1', 'invalid snapshot id 1'],
    ['evm_revert', 1, 'invalid snapshot id 1'],
    ['evm_revert', '', 'invalid snapshot id '],
    ['evm_revert', 'zz', 'invalid snapshot id zz'],
    ['evm_revert', {}, 'invalid snapshot id {}'],
    ['evm_increaseTime', 'abc', 'invalid number of seconds abc'],
    ['evm_increaseTime', 1.5, 'invalid number of seconds 1.5'],
    ['evm_increaseTime', null, 'invalid number of seconds null'],
    ['evm_increaseTime', '1'.repeat(40), `invalid number of seconds ${'1'.repeat(40)}`],
    ['evm_mine', 'soon', 'Invalid options: expected a whole number from 0 to 8640000000000.'],
    ['evm_mine', [], 'Invalid options: expected a timestamp or an object.'],
    ['evm_mine', { blocks: 1e9 }, 'Invalid options.blocks: expected a whole number from 0 to 10000.'],
    ['evm_mine', { block: 1 }, 'Invalid options.block: expected timestamp, blocks or parent only.'],
    ['evm_mine', { parent: '0x12' }, 'Invalid block hash: incorrect length.'],
    ['evm_reorg', null, 'Invalid options: expected an object.'],
    ['evm_reorg', {}, 'Invalid options.depth: expected a whole number from 0 to 10000.'],
    ['evm_reorg', { deep: 1 }, 'Invalid options.deep: expected depth, blocks or uncles only.'],
    ['evm_reorg', { depth: 1, blocks: {} }, 'Invalid options.blocks: expected a list.'],
    ['evm_reorg', { depth: 1, blocks: [1] }, 'Invalid options.blocks[0]: expected an object.'],
    [
      'evm_reorg',
      { depth: 1, blocks: [{}, { number: 1 }] },
      'Invalid options.blocks[1].number: expected transactions, timestamp or coinbase only.',
    ],
    ['evm_reorg', { depth: 1, blocks: [{ transactions: ['0x'] }] }, 'Invalid raw transaction: it is empty'],
    ['evm_reorg', { depth: 1, uncles: 'some' }, 'Invalid options.uncles: expected true or false.'],
    ['evm_setAutomine', 'on', 'Invalid on: expected true or false.'],
    ['evm_setIntervalMining', 2 ** 31, 'Invalid milliseconds: expected a whole number from 0 to 2147483647.'],
    ['evm_setNextBlockTimestamp', -1, 'Invalid timestamp: expected a whole number from 0 to 8640000000000.'],
  ])('%s refuses %j', async (method, param, message) => {
    expect(await run(method, param)).toEqual({ outcome: refusal(message), calls: [] })
  })
})

describe('evm_importBlock', () => {
  const { config } = fakeEngine().engine
  const bytes = toHex(encodeBlock(block1.block, config))

  it('passes the block to the engine and returns the result', async () => {
    const { outcome, calls } = await run('evm_importBlock', bytes)
    const number = `0x${block1.block.header.number.toString(16)}`
    expect(outcome).toEqual({ result: { result: 'IMPORTED_BEST', hash: block1.hash, number } })
    const [call] = calls
    expect(call?.name).toBe('importBlock')
    expect(toHex(encodeBlock(call?.args[0] as Block, config))).toBe(bytes)
  })

  it.each([
    ['0x', 'no RLP item in zero bytes'],
    ['0xc0', 'a block has 3 items, not 0'],
    ['0x1234', 'invalid RLP: remainder must be zero'],
    [`${bytes}00`, 'invalid RLP: remainder must be zero'],
    [bytes.slice(0, -2), 'invalid RLP: total length is larger than the data'],
  ])('refuses %.40s', async (raw, reason) => {
    const { outcome, calls } = await run('evm_importBlock', raw)
    const message = `Invalid block: the bytes are not the RLP of a block: ${reason}`
    expect(outcome).toEqual({ error: { code: -32602, message } })
    expect(calls).toEqual([])
  })
})
