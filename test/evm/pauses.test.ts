/** What takes long without a jump still looks at its clock: it neither keeps others waiting nor outlives its time. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { PRECOMPILES } from '../../src/evm/precompiles/table.ts'
import { createNode, type Node } from '../../src/index.ts'

const CODE: Hex = `0x${'1'.repeat(40)}`
const native = (last: number): Hex => `0x${last.toString(16).padStart(40, '0')}`
/** So many rounds of blake2f on zeros. */
const rounds = (count: number) => fromHex(`0x${count.toString(16).padStart(8, '0')}${'00'.repeat(208)}01`)
/** Generators of both groups of the pairing. */
const PAIR = [
  '1'.padStart(64, '0'),
  '2'.padStart(64, '0'),
  '198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2',
  '1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed',
  '090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b',
  '12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa',
].join('')
const pairs = (count: number) => fromHex(`0x${PAIR.repeat(count)}`)

let node: Node
beforeAll(async () => {
  node = await createNode()
})
afterAll(() => node.close())

/** Calls with a millisecond to do it in. */
async function briefly(to: Hex, data: Uint8Array, code?: Uint8Array): Promise<Uint8Array> {
  const stateOverrides = code && new Map([[CODE, { code }]])
  return node.engine.queries.call({ to, data }, { tag: 'latest' }, { stateOverrides, timeoutMs: 1 })
}

const NOTHING = new Uint8Array(0)
const late = { kind: 'limit-exceeded' }

describe('a run without jumps', () => {
  it('ends at its deadline while it hashes', async () => {
    const hashing = fromHex(`0x${'6208000060002050'.repeat(100)}`)
    await expect(briefly(CODE, NOTHING, hashing)).rejects.toMatchObject(late)
  })

  it('ends at its deadline while it reads state', async () => {
    const reading = fromHex(`0x${'5a545a315050'.repeat(20_000)}`)
    await expect(briefly(CODE, NOTHING, reading)).rejects.toMatchObject(late)
  })

  it('ends at its deadline while it calculates', async () => {
    const powers = fromHex(`0x${'5f19800a50'.repeat(5900)}`)
    await expect(briefly(CODE, NOTHING, powers)).rejects.toMatchObject(late)
    const products = fromHex(`0x${'5f195f198080095050'.repeat(100_000)}`)
    await expect(briefly(CODE, NOTHING, products)).rejects.toMatchObject(late)
  })

  it('ends at its deadline in a long row of cheap opcodes', async () => {
    const line = fromHex(`0x${'5f50'.repeat(1_000_000)}`)
    await expect(briefly(CODE, NOTHING, line)).rejects.toMatchObject(late)
    const hashes = fromHex(`0x${'6107ff5f2050'.repeat(20_000)}`)
    await expect(briefly(CODE, NOTHING, hashes)).rejects.toMatchObject(late)
  })

  it('ends at its deadline within a precompiled contract', async () => {
    await expect(briefly(native(9), rounds(9_000_000))).rejects.toMatchObject(late)
    await expect(briefly(native(8), pairs(100))).rejects.toMatchObject(late)
  })

  it('lets timers run in between', async () => {
    let turns = 0
    let running = true
    const count = () => {
      turns++
      if (running) setImmediate(count)
    }
    setImmediate(count)
    await node.engine.queries.call({ to: native(9), data: rounds(500_000) }, { tag: 'latest' })
    running = false
    expect(turns).toBeGreaterThan(2)
  })
})

describe('a precompiled contract in chunks', () => {
  it.each([
    ['blake2f', 9, rounds(0)],
    ['blake2f', 9, rounds(5000)],
    ['the pairing check', 8, NOTHING],
    ['the pairing check', 8, pairs(3)],
  ] as const)('gives the same result as without pauses: %s', async (_name, last, data) => {
    const once = PRECOMPILES.get(native(last))?.run(data, {} as never)
    const paused = await node.engine.queries.call({ to: native(last), data }, { tag: 'latest' })
    expect(paused).toEqual(once)
  })
})
