import { expect, it } from 'vitest'
import { addressOf } from '../../../src/chain/signature.ts'
import { signTransaction } from '../../../src/chain/transaction.ts'
import { EMPTY } from '../../../src/encoding/bytes.ts'
import { keccak256 } from '../../../src/encoding/hash.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { Impersonation } from '../../../src/engine/dev/impersonation.ts'
import { Pool } from '../../../src/engine/pool/pool.ts'
import { createRequests } from '../../../src/engine/wallet/transaction-requests.ts'
import { saying } from '../../support/refusals.ts'
import { CONFIG, head, Ledger, SENDERS, tx } from '../pool/pool-cases.ts'

const [held, other] = SENDERS as readonly [Hex, Hex]
const heldKey = keccak256(Uint8Array.of(0))
const otherKey = keccak256(Uint8Array.of(1))

/** The requests of a node that holds the key of sender 0, two of whose transactions wait to be mined. */
function requestsOf() {
  const ledger = new Ledger()
  const pool = new Pool({ config: CONFIG, now: () => 1_000 })
  for (const nonce of [0, 1]) pool.add(tx(0, nonce), head(), ledger)
  const impersonation = new Impersonation()
  const key = (address: Hex) => (address === held ? heldKey : undefined)
  const accounts = { enabled: true, list: () => [held], has: (address: Hex) => address === held, key }
  return {
    impersonation,
    ...createRequests({ config: CONFIG, pool, accounts, impersonation, headState: () => ledger }),
  }
}

it('fills in missing members: the nonce after the pooled ones, 90,000 gas, no price', () => {
  const plain = { gasPrice: 0n, gasLimit: 90_000n, to: null, value: 0n, data: EMPTY, chainId: CONFIG.chainId }
  expect(requestsOf().sign({ from: held })).toEqual(signTransaction({ ...plain, nonce: 2n }, heldKey))
})

it('keeps given members', () => {
  const given = { gasPrice: 7n, to: other, value: 5n, data: Uint8Array.of(1), nonce: 9n }
  expect(requestsOf().sign({ from: held, gas: 50_000n, ...given })).toEqual(
    signTransaction({ ...given, gasLimit: 50_000n, chainId: CONFIG.chainId }, heldKey),
  )
})

const unknown = saying(`Could not find account for address: ${other}`)

it('signs with a given key, and refuses an unknown sender without one', () => {
  const { sign } = requestsOf()
  expect(addressOf(otherKey)).toBe(other)
  expect(sign({ from: other }, otherKey).from).toBe(other)
  expect(() => sign({ from: other })).toThrow(unknown)
})

it('gives an impersonated sender a placeholder signature, and still signs for accounts with a key', () => {
  const { impersonation, sign, toSend } = requestsOf()
  expect(() => toSend({ from: other })).toThrow(unknown)
  impersonation.setEverybody(true)
  expect(toSend({ from: other })).toMatchObject({ from: other, nonce: 0n, gasLimit: 90_000n })
  expect(() => sign({ from: other })).toThrow(unknown)
  expect(toSend({ from: held })).toEqual(sign({ from: held }))
})
