/** The reference node's repository, operation by operation (fixtures/reference-node/trie). */
import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { concat, fromBigInt } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { createStateKeys, encodeAccount, storageValue } from '../../src/state/state-keys.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { referenceData } from '../support/reference-data.ts'
import {
  ReferenceRepository,
  type RepositoryAnswers,
  type RepositoryStep,
} from '../support/reference-repository.ts'

interface Sequence {
  readonly name: string
  readonly steps: readonly RepositoryStep[]
  readonly finalState: readonly (readonly [Hex, Hex])[]
}

const { sequences } = referenceData<{ sequences: readonly Sequence[] }>('trie/repository')

function answersOf(step: RepositoryStep): RepositoryAnswers {
  const { op: _op, address: _address, value: _value, slot: _slot, ...answers } = step
  return answers
}

/** The operation of a step on an overlay. */
function runOn(state: Overlay, { op, address, value: given, slot = '0x00' }: RepositoryStep): void {
  const value = given ?? '0x'
  const old = state.account(address)
  const account = old ?? EMPTY_ACCOUNT
  switch (op) {
    case 'createAccount':
      state.putAccount(address, { ...account, nonce: 0n, balance: 0n })
      break
    case 'increaseNonce':
      state.putAccount(address, { ...account, nonce: account.nonce + 1n })
      break
    case 'setNonce':
      state.putAccount(address, { ...account, nonce: BigInt(value) })
      break
    case 'addBalance':
      state.putAccount(address, { ...account, balance: account.balance + BigInt(value) })
      break
    case 'setupContract':
      state.markContract(address)
      break
    case 'saveCode':
      if (old !== undefined) state.putCode(address, fromHex(value as Hex))
      break
    case 'addStorageRow':
    case 'addStorageBytes': {
      if (old === undefined) state.putAccount(address, { ...EMPTY_ACCOUNT, isContract: true })
      const bytes = op === 'addStorageRow' ? fromBigInt(BigInt(value)) : fromHex(value as Hex)
      state.putCell(address, BigInt(slot), storageValue(bytes))
      break
    }
    case 'delete':
      state.deleteAccount(address)
      break
    default:
      throw new Error(`unknown operation ${op}`)
  }
}

describe('keys', () => {
  const { accounts, storage } = referenceData<{
    accounts: { address: Hex; accountKey: Hex; codeKey: Hex; storagePrefixKey: Hex }[]
    storage: { address: Hex; slot: Hex; key: Hex }[]
  }>('trie/keys')
  const keys = createStateKeys(100)

  it('of accounts, code and markers equal those of the reference node', () => {
    for (const { address, accountKey, codeKey, storagePrefixKey } of accounts) {
      expect(toHex(keys.account(address))).toBe(accountKey)
      expect(toHex(keys.code(address))).toBe(codeKey)
      expect(toHex(keys.marker(address))).toBe(storagePrefixKey)
    }
    expect(accounts.length).toBe(20)
  })

  it('of storage cells equal those of the reference node', () => {
    for (const { address, slot, key } of storage) {
      expect(toHex(concat(keys.account(address), keys.cell(BigInt(slot))))).toBe(key)
    }
    expect(storage.length).toBe(100)
  })
})

describe('the repository, after each operation', () => {
  it.each(sequences)('$name: keys, values and trie', ({ steps, finalState }) => {
    const repository = new ReferenceRepository()
    for (const step of steps) {
      repository.run(step)
      expect(repository.answers(step.address)).toEqual(answersOf(step))
    }
    const entries = finalState.map(([key, value]) => ({ key: fromHex(key), value: fromHex(value) }))
    expect(entries.length).toBeGreaterThan(0)
    expect(repository.entries()).toEqual(entries)
  })

  it('overlay and state trie agree after every operation that a chain can make with two accounts', () => {
    let compared = 0
    let all = 0
    for (const { steps } of sequences) {
      const repository = new ReferenceRepository()
      const stored = new Map<Hex, Uint8Array>()
      for (const step of steps) {
        all++
        const before = repository.root
        const begins = repository.isOurs(step.address)
        repository.run(step)
        const ends = repository.isOurs(step.address)
        const source = { node: (hash: Hex) => stored.get(hash), code: (hash: Hex) => stored.get(hash) }
        if (begins && ends) {
          compared++
          const trie = new StateTrie(source)
          const state = new Overlay(trie.reader(before))
          runOn(state, step)
          const committed = trie.commit(before, state.changes())
          expect(committed.root).toBe(step.root)
          trie.remember(committed)
          compare(trie, committed.root, step)
        }
        for (const [hash, bytes] of repository.stored()) stored.set(hash, bytes)
      }
    }
    expect({ all, compared }).toEqual({ all: 797, compared: COMPARED })
  })
})

/** Steps whose account is before and after it not hibernated, has a marker only with an account, and code only with a marker. */
const COMPARED = 590

/** What the reader and the proofs of the state trie answer about the address of a step. */
function compare(trie: StateTrie, root: Hex, step: RepositoryStep): void {
  const reader = trie.reader(root)
  const account = reader.account(step.address)
  expect(account === undefined ? null : toHex(encodeAccount(account))).toBe(step.account)
  expect(account?.isContract ?? false).toBe(step.isContract)
  const codeHash = account?.codeHash ?? EMPTY_CODE_HASH
  expect(reader.code(codeHash).length).toBe(step.codeLength)
  if (account !== undefined) expect(codeHash).toBe(step.codeHashStandard)
  expect(trie.prove(root, step.address, []).storageHash).toBe(step.storageStateRoot)
  if (step.account === null) expect(step.storageStateRoot).toBe(EMPTY_TRIE_ROOT)
}
