/** What a message touches, as EIP-2930 lists it. */
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createAccessList } from '../../src/execution/access-list.ts'
import type { CallRequest } from '../../src/execution/request.ts'
import { assemble } from '../support/assembler.ts'
import { CONTRACT, ENVIRONMENT, type Given, NOBODY, OTHER, SENDER, vms, world } from '../support/execution.ts'

async function touched(request: CallRequest, given: Record<Hex, Given> = {}) {
  const list = await createAccessList({
    request,
    state: world(given),
    env: ENVIRONMENT,
    vm: vms.own,
    gasCap: 10_000_000n,
  })
  return { ...list, byAddress: Object.fromEntries(list.entries.map((e) => [e.address, e.slots])) }
}

describe('an access list', () => {
  it('is empty when only sender, receiver and precompiled contracts are accessed', async () => {
    expect(
      (await touched({ from: SENDER, to: NOBODY, value: 1n }, { [SENDER]: { balance: 1n } })).entries,
    ).toEqual([])
    expect((await touched({ data: assemble('5 SLOAD POP STOP') })).entries).toEqual([])
  })

  it('lists slots that are read or written, each once, those of the receiver too', async () => {
    const code = '1 SLOAD POP 7 2 SSTORE 1 SLOAD POP STOP'
    expect((await touched({ to: CONTRACT }, { [CONTRACT]: { code } })).byAddress).toEqual({
      [CONTRACT]: [1n, 2n],
    })
  })

  it('lists accounts that are read or called, but no precompiled contract', async () => {
    const code = `${BigInt(OTHER)} BALANCE POP ${BigInt(NOBODY)} EXTCODESIZE POP 4 BALANCE POP
      0 0 0 0 0 ${BigInt(SENDER)} GAS CALL POP STOP`
    expect((await touched({ to: CONTRACT }, { [CONTRACT]: { code } })).byAddress).toEqual({
      [OTHER]: [],
      [NOBODY]: [],
      [SENDER]: [],
    })
  })

  it('keeps accesses of a failed frame, and reports the failure', async () => {
    const given = { [CONTRACT]: { code: `0 0 0 0 0 ${BigInt(OTHER)} GAS CALL POP 0 0 REVERT` } }
    const { byAddress, simulation } = await touched(
      { to: CONTRACT },
      { ...given, [OTHER]: { code: '3 SLOAD POP 0 0 REVERT' } },
    )
    expect(byAddress).toEqual({ [OTHER]: [3n] })
    expect(simulation.failure?.kind).toBe('reverted')
  })
})
