/** The hashes of internal transactions: those that the reference node computed for calls of the Bridge by contracts. */
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../../../../src/encoding/hex.ts'
import { creationHash, originHash } from '../../../../../src/evm/precompiles/bridge/pegin/creation-hash.ts'
import { bridgeChain, bridgeChainNames } from '../../../../support/bridge-chains.ts'
import { ENVIRONMENT } from '../../vectors.ts'

/** Calls of the Bridge by contracts that transactions called, with the hash of each. */
function recordedCalls() {
  const steps = bridgeChainNames().flatMap((name) => bridgeChain(name).steps)
  const transactions = steps.flatMap((step) => ('call' in step ? [] : (step.transactions ?? [])))
  return transactions.flatMap(({ hash: origin, internal = [] }) =>
    internal
      .filter(({ rejected }) => !rejected)
      .map(({ from, to, value, hash }) => ({
        hash,
        env: {
          ...ENVIRONMENT,
          originHash: origin,
          caller: from,
          value: BigInt(value),
          kind: from === to ? ('delegatecall' as const) : ('call' as const),
        },
      })),
  )
}

describe('the hash of the transaction that calls the Bridge', () => {
  it('is that of the internal transaction when a contract calls', () => {
    const calls = recordedCalls()
    expect(calls.length).toBeGreaterThan(100)
    for (const { env, hash } of calls) {
      expect(creationHash(env)).toBe(hash)
      expect(originHash(env)).toBe(env.originHash)
    }
  })

  it('is its own when a transaction calls, and zeros in a simulation', () => {
    const origin: Hex = `0x${'12'.repeat(32)}`
    expect(creationHash({ ...ENVIRONMENT, originHash: origin, isTop: true })).toBe(origin)
    expect(creationHash(ENVIRONMENT)).toBe(`0x${'00'.repeat(32)}`)
  })
})
