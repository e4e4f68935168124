/** The parts of the Petersburg oracle that are its own: touched accounts (EIP-161) and the end of a transaction. */
import { describe, expect, it } from 'vitest'
import { CONTRACT, NOBODY, OTHER, run, SENDER, vms, world } from '../support/execution.ts'
import { createOracleVm, touchedBy } from '../support/oracle-vm.ts'
import { Touches } from '../support/petersburg-rules.ts'

const RIPEMD = '0x0000000000000000000000000000000000000003'

describe('touches', () => {
  it('are undone with a failed frame, except for the one address of the incident on Ethereum', () => {
    const touches = new Touches()
    touches.add(SENDER)
    const { length } = touches
    touches.add(OTHER)
    touches.add(RIPEMD)
    touches.revert(length)
    expect([...touches.all()]).toEqual([SENDER, RIPEMD])
  })

  it('do not exist under the chain’s rules', async () => {
    const state = world({ [CONTRACT]: { code: `0 0 0 0 0 ${NOBODY} 0 CALL` } })
    expect(touchedBy(await run(state, {}, { vm: vms.library })).size).toBe(0)
    expect(state.account(NOBODY)).toBeDefined()
  })

  it.each(['own', 'library'] as const)('cause the removal of empty accounts in the %s loop', async (loop) => {
    const vm = createOracleVm({ chainId: 33, ruleSet: 'petersburg', loop })
    const code = `0 0 0 0 0 ${NOBODY} 0 CALL 0 0 0 0 0 ${OTHER} 50000 CALL`
    const failing = `0 0 0 0 0 ${RIPEMD} 50000 CALL #fe`
    const state = world({ [CONTRACT]: { code }, [OTHER]: { code: failing }, [NOBODY]: {}, [RIPEMD]: {} })
    const result = await run(state, {}, { vm })
    expect([...touchedBy(result)].sort()).toEqual([RIPEMD, CONTRACT, NOBODY].sort())
    expect(state.account(NOBODY)).toBeUndefined()
    expect(state.account(RIPEMD)).toBeUndefined()
  })
})
