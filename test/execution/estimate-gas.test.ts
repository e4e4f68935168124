import { describe, expect, it } from 'vitest'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { estimateGas } from '../../src/execution/estimate-gas.ts'
import { messageCall } from '../../src/execution/message-call.ts'
import type { CallRequest } from '../../src/execution/request.ts'
import { assemble, deployer } from '../support/assembler.ts'
import { CONTRACT, ENVIRONMENT, type Given, NOBODY, OTHER, SENDER, vms, world } from '../support/execution.ts'

const CAP = 6_800_000n

/** `Error("boom")`, as a contract reverts with it. */
const BOOM: Hex = `0x08c379a0${'20'.padStart(64, '0')}${'4'.padStart(64, '0')}${toHex(new TextEncoder().encode('boom')).slice(2).padEnd(64, '0')}`

function parts(request: CallRequest, given: Record<Hex, Given>) {
  const asked = { from: SENDER, ...request }
  return { request: asked, state: world(given), env: ENVIRONMENT, vm: vms.own, gasCap: CAP }
}

function estimate(request: CallRequest, given: Record<Hex, Given> = {}): Promise<bigint> {
  return estimateGas(parts(request, given))
}

/** The least gas that will do, by trying. */
async function least(request: CallRequest, given: Record<Hex, Given>): Promise<bigint> {
  let low = 20_000n
  let high = CAP
  while (high - low > 1n) {
    const gas = (low + high) / 2n
    const { failure } = await messageCall(parts({ ...request, gas }, given))
    if (failure === undefined) high = gas
    else low = gas
  }
  return high
}

describe('an estimate', () => {
  it('of a transfer is the intrinsic gas', async () => {
    expect(await estimate({ to: OTHER, value: 1n })).toBe(21_000n)
    expect(await estimate({ to: NOBODY })).toBe(21_000n)
  })

  it.each<[string, CallRequest, Record<Hex, Given>]>([
    ['a stored word', { to: CONTRACT }, { [CONTRACT]: { code: '1 0 SSTORE' } }],
    [
      'a cleared slot, whose refund comes too late',
      { to: CONTRACT },
      { [CONTRACT]: { code: '0 1 SSTORE', storage: { 1: 1n } } },
    ],
    ['a deployment', { to: null, data: deployer(assemble('CALLER SELFDESTRUCT')) }, {}],
    [
      'a call that sends value on',
      { to: CONTRACT, value: 5n },
      { [CONTRACT]: { code: `0 0 0 0 5 ${OTHER} 0 CALL` } },
    ],
    ['a creation inside', { to: CONTRACT }, { [CONTRACT]: { code: '0 0 0 CREATE' } }],
  ])('of %s is exact', async (_, request, given) => {
    expect(await estimate(request, given)).toBe(await least(request, given))
  })

  it('of code that reads its gas is found within a thousandth', async () => {
    // Reverts below 500,000.
    const given = { [CONTRACT]: { code: `GAS 500000 LT @ok JUMPI 0 0 REVERT ok: STOP` } }
    const found = await estimate({ to: CONTRACT }, given)
    const exact = await least({ to: CONTRACT }, given)
    expect(found).toBeGreaterThanOrEqual(exact)
    expect(found - exact).toBeLessThanOrEqual(exact / 1000n)
  })

  it('of a call with an inner call that runs out of gas lets all of it succeed', async () => {
    const code = `0 0 0 0 0 ${OTHER} 300000 CALL @ok JUMPI 0 0 REVERT ok: STOP`
    const given = { [CONTRACT]: { code }, [OTHER]: { code: '1 0 SSTORE 1 1 SSTORE' } }
    const found = await estimate({ to: CONTRACT }, given)
    expect((await messageCall(parts({ to: CONTRACT, gas: found }, given))).failure).toBeUndefined()
  })

  it('is limited to the cap, and to the gas of the request', async () => {
    const given = { [CONTRACT]: { code: '1 0 SSTORE' } }
    expect(await estimate({ to: CONTRACT, gas: 10n ** 14n }, given)).toBe(41_006n)
    expect(await estimate({ to: CONTRACT, gas: 41_006n }, given)).toBe(41_006n)
  })
})

describe('an estimate fails', () => {
  it('when the sender lacks the value, or the value and the gas at the price given', async () => {
    const refusal = { kind: 'insufficient-funds', message: 'insufficient funds for transfer' }
    await expect(estimate({ from: NOBODY, to: OTHER, value: 1n })).rejects.toMatchObject(refusal)
    await expect(estimate({ to: OTHER, value: 10n ** 24n + 1n })).rejects.toMatchObject(refusal)
    await expect(estimate({ to: OTHER, value: 10n ** 24n, gasPrice: 1n })).rejects.toMatchObject(refusal)
    expect(await estimate({ to: OTHER, value: 10n ** 24n })).toBe(21_000n)
  })

  it('with reason and payload when the code reverts', async () => {
    const bytes = fromHex(BOOM)
    const initcode = Uint8Array.from([
      ...assemble(`PUSH1 ${bytes.length} PUSH1 12 PUSH1 0 CODECOPY PUSH1 ${bytes.length} PUSH1 0 REVERT`),
      ...bytes,
    ])
    await expect(estimate({ data: initcode })).rejects.toMatchObject({
      kind: 'reverted',
      message: 'VM Exception while processing transaction: revert boom',
      data: BOOM,
    })
    await expect(estimate({ to: CONTRACT }, { [CONTRACT]: { code: '0 0 REVERT' } })).rejects.toMatchObject({
      kind: 'reverted',
      message: 'VM Exception while processing transaction: transaction reverted',
      data: '0x',
    })
  })

  it.each([
    ['out of gas', 'a: @a JUMP'],
    ['invalid opcode', '#fe'],
    ['invalid jump', '0 JUMP'],
    ['stack underflow', 'POP'],
  ])('naming the failure: %s', async (words, code) => {
    await expect(estimate({ to: CONTRACT }, { [CONTRACT]: { code } })).rejects.toMatchObject({
      kind: 'reverted',
      message: `VM Exception while processing transaction: ${words}`,
    })
  })

  it('when less gas is offered than the intrinsic gas', async () => {
    await expect(estimate({ to: OTHER, gas: 20_999n })).rejects.toMatchObject({
      kind: 'reverted',
      message: 'VM Exception while processing transaction: out of gas',
    })
  })
})
