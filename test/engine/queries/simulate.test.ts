import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CONSOLE_ADDRESS } from '../../../src/abi/console.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import { saying } from '../../support/refusals.ts'

const LATEST = { tag: 'latest' } as const
const CODE: Hex = '0x0000000000000000000000000000000000c0de01'
const CALLEE: Hex = '0x0000000000000000000000000000000000c0de02'
const WORD_42 = `0x${'2a'.padStart(64, '0')}`

/** Returns 42. */
const ANSWER = '602a60005260206000f3'
/** Hashes 32 bytes 100,000 times, then returns 42: longer than a time slice. */
const LONG = `620186a05b60206000205060019003806004576000600052${ANSWER}`
/** Returns what the callee returns. */
const CALLER = `602060006000600073${CALLEE.slice(2)}5afa5060206000f3`
/** Reverts with the word 42. */
const REVERTING = '602a60005260206000fd'
/** Calls the console with no data, then returns 42. */
const SPEAKING = `6000600060006000600073${CONSOLE_ADDRESS.slice(2)}5af150${ANSWER}`

let node: Node
beforeAll(async () => {
  node = await createNode()
})
afterAll(() => node.close())

function call(code: string, callee = '', timeoutMs?: number) {
  const stateOverrides = new Map([
    [CODE, { code: fromHex(`0x${code}`) }],
    [CALLEE, { code: fromHex(`0x${callee}`) }],
  ])
  return node.engine.queries.call({ to: CODE, gas: 20_000_000n }, LATEST, { stateOverrides, timeoutMs })
}

describe('a call', () => {
  it('returns synchronously when nothing has to be awaited', () => {
    expect(toHex(call(ANSWER) as Uint8Array)).toBe(WORD_42)
    expect(toHex(call(CALLER, ANSWER) as Uint8Array)).toBe(WORD_42)
  })

  it('throws a refusal synchronously', () => {
    expect(() => call(REVERTING)).toThrow(expect.objectContaining({ kind: 'reverted', data: WORD_42 }))
    expect(() => node.engine.queries.call({ to: CODE }, { number: 99 })).toThrow(saying('Block not found'))
  })

  it.each([
    ['by itself', LONG, ''],
    ['in a callee', CALLER, LONG],
  ])('that has to yield %s returns asynchronously', async (_, code, callee) => {
    const output = call(code, callee)
    expect(output).toBeInstanceOf(Promise)
    expect(toHex(await output)).toBe(WORD_42)
  })

  it.each([
    ['by itself', LONG, ''],
    ['in a callee', CALLER, LONG],
  ])('that has no time left %s is refused', async (_, code, callee) => {
    await expect((async () => call(code, callee, 1))()).rejects.toMatchObject({ kind: 'limit-exceeded' })
  })

  it('on the pending block waits until it is built', async () => {
    const stateOverrides = new Map([[CODE, { code: fromHex(`0x${ANSWER}`) }]])
    const output = node.engine.queries.call({ to: CODE }, { tag: 'pending' }, { stateOverrides })
    expect(output).toBeInstanceOf(Promise)
    expect(toHex(await output)).toBe(WORD_42)
  })

  it('returns after its console texts are announced', async () => {
    const texts: string[] = []
    const unsubscribe = node.engine.events.on('console', (output) => {
      texts.push(...output.texts)
    })
    expect(toHex(await call(SPEAKING))).toBe(WORD_42)
    unsubscribe()
    expect(texts).toHaveLength(1)
  })

  it('announces its failure before it throws', () => {
    const failed: Hex[] = []
    const unsubscribe = node.engine.events.on('failedCall', ({ request }) => {
      failed.push(request.to as Hex)
    })
    expect(() => call(REVERTING)).toThrow(
      saying('VM Exception while processing transaction: transaction reverted'),
    )
    unsubscribe()
    expect(failed).toEqual([CODE])
  })
})
