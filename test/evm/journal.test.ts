import { describe, expect, it } from 'vitest'
import { Journal } from '../../src/evm/journal.ts'
import { account, NOBODY, OTHER, SENDER, world } from '../support/execution.ts'
import { saying } from '../support/refusals.ts'

function journal(): Journal {
  return new Journal(world({ [OTHER]: { balance: 5n, code: 'STOP' } }))
}

describe('a reverted checkpoint', () => {
  it('undoes state, transient storage, logs, destructions and refund together', () => {
    const effects = journal()
    effects.transient.put(OTHER, 1n, 4n)
    effects.refund = 10
    effects.checkpoint()
    effects.transfer(OTHER, NOBODY, 2n)
    effects.transient.put(OTHER, 1n, 5n)
    effects.transient.put(OTHER, 2n, 6n)
    effects.logs.push({ address: OTHER, topics: [], data: new Uint8Array(0) })
    effects.destroyed.push(OTHER)
    effects.refund += 15_000
    effects.checkpoint()
    effects.transient.put(OTHER, 1n, 7n)
    effects.commit()
    effects.revert()
    expect(effects.state.account(NOBODY)).toBeUndefined()
    expect(account(effects.state, OTHER).balance).toBe(5n)
    expect([effects.transient.get(OTHER, 1n), effects.transient.get(OTHER, 2n)]).toEqual([4n, 0n])
    expect(effects).toMatchObject({ logs: [], destroyed: [], refund: 10 })
    expect(() => effects.revert()).toThrow(saying('no checkpoint is open'))
  })
})

describe('a journal', () => {
  it('does not change the balance on a transfer to the same account, and never transfers more than the balance', () => {
    const effects = journal()
    effects.transfer(OTHER, NOBODY, 0n)
    expect(account(effects.state, NOBODY).balance).toBe(0n)
    effects.transfer(OTHER, OTHER, 5n)
    expect(account(effects.state, OTHER).balance).toBe(5n)
    expect(() => effects.transfer(OTHER, NOBODY, 6n)).toThrow(saying(`${OTHER} has 5 wei and not 6`))
  })

  it('returns the same code array each time', () => {
    const effects = journal()
    expect(effects.codeOf(OTHER)).toBe(effects.codeOf(OTHER))
    expect(effects.codeOf(OTHER)).toEqual(Uint8Array.of(0))
    expect(effects.codeOf(NOBODY)).toHaveLength(0)
    expect(effects.codeOf(SENDER)).toHaveLength(0)
  })
})
