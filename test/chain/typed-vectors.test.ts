/** Transactions of Ethereum's official tests for EIP-2930 and EIP-1559 (fixtures/typed-transactions). */
import { expect, it } from 'vitest'
import { fixture } from '../support/fixture.ts'
import { faultOf, type TypedVector } from '../support/typed-vectors.ts'

it.each([
  ['transaction-tests.json', 16],
  ['state-test-transactions.json', 73],
])('are read or refused as %s states', (file, count) => {
  const vectors = fixture<readonly TypedVector[]>(`typed-transactions/${file}`)
  expect(vectors).toHaveLength(count)
  const faults = vectors.flatMap((vector) => {
    const fault = faultOf(vector)
    return fault === undefined ? [] : [`${vector.name}: ${fault}`]
  })
  expect(faults).toEqual([])
})
