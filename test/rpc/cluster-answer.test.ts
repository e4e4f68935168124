import { describe, expect, it } from 'vitest'
import { createAnswer } from '../../src/rpc/cluster-answer.ts'
import { namesOf, namespaceOf } from '../../src/rpc/method-names.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { fakeEngine } from '../support/fake-engine.ts'
import { saying } from '../support/refusals.ts'
import { dispatcherOf } from '../support/rpc.ts'

/** Namespaces whose methods change or read what only the leader has: its clock, snapshots, overrides and work. */
const OF_LEADER = ['anvil', 'evm', 'hardhat', 'miner', 'mnr', 'txpool']

/** Methods outside `personal` that carry a private key. */
const KEYS = ['fed_importKey']

/** Methods that open a session of the debugger on the node that is asked, which answers all about it. */
const OPENS = ['evm_debugTransaction', 'evm_debugCall', 'evm_debugSimulation', 'evm_debugFailure']

const CALL = { owner: '', label: 'test', entitlements: [], timeoutMs: 60_000 }
const signal = new AbortController().signal

describe('which node of a cluster answers a method', () => {
  it.each(METHODS.map((method) => [method.name, method] as const))('%s', (name, method) => {
    const { answeredBy, changesState, notifies } = method
    const namespaces = namesOf(method).map(namespaceOf)
    if (notifies || namespaces.includes('sco')) expect(answeredBy).toBe('self')
    else if (namespaces.includes('personal') || KEYS.includes(name)) expect(answeredBy).toBe('holder')
    else if (OPENS.includes(name)) expect(answeredBy).toBe('each')
    else if (name.startsWith('evm_debug')) expect(answeredBy).toBe('owner')
    else if (changesState || namespaces.some((name) => OF_LEADER.includes(name)))
      expect(answeredBy).toBe('leader')
  })

  it('is a property of the method, which determines what callers on other nodes may call', async () => {
    const { engine } = fakeEngine()
    const answer = createAnswer(dispatcherOf(engine))
    const refused = (method: string) => `${method} is not called from one node of a cluster to another`
    for (const method of ['personal_newAccount', 'eth_subscribe', 'eth_blockNumber', 'eth_newFilter']) {
      expect(() => answer({ ...CALL, method, params: [] }, signal)).toThrow(saying(refused(method)))
    }
    expect(() =>
      answer({ ...CALL, method: 'eth_getBlockByNumber', params: ['latest', false] }, signal),
    ).toThrow(saying(refused('eth_getBlockByNumber')))
    expect(await answer({ ...CALL, method: 'eth_accounts', params: [] }, signal)).toHaveLength(2)
    const filter = { ...CALL, method: 'eth_uninstallFilter', params: ['0x00'] }
    expect(await answer(filter, signal)).toBe(false)
  })
})
