/** What the `--methods` switch opens and closes. */
import { describe, expect, it } from 'vitest'
import { namesOf, namespaceOf } from '../../src/rpc/method-names.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { createKeyPermissions, createPermissions } from '../../src/rpc/permissions.ts'

describe('createPermissions', () => {
  it.each<[string[], string[], string[]]>([
    [[], ['eth_call', 'evm_mine', 'rpc.discover'], []],
    [['eth'], ['eth_call'], ['evm_mine', 'rpc.discover', 'ethical_call']],
    [['-evm'], ['eth_call'], ['evm_mine']],
    [['-evm', 'evm_mine'], ['evm_mine'], ['evm_reset', 'eth_call']],
    [['eth', '-eth_sign'], ['eth_call'], ['eth_sign']],
    [['rpc', 'evm_mine'], ['rpc.discover', 'rpc_modules', 'evm_mine'], ['evm_reset']],
  ])('%j', (names, open, closed) => {
    const permits = createPermissions(names)
    expect(open.filter((name) => permits({ name, aliases: [] }))).toEqual(open)
    expect(closed.filter((name) => permits({ name, aliases: [] }))).toEqual([])
  })

  it.each<[string[], boolean]>([
    [[], true],
    [['eth'], false],
    [['new'], true],
    [['old'], true],
    [['old_name'], true],
    [['-new'], false],
    [['-old'], false],
    [['new', '-old_name'], false],
    [['-old', 'new_name'], true],
  ])('%j selects a method by any of its names', (names, open) => {
    expect(createPermissions(names)({ name: 'new_name', aliases: ['old_name'] })).toBe(open)
  })
})

describe('a profile', () => {
  const PROFILE = new Set(['eth_call', 'eth_getLogs', 'rpc.discover'])

  it.each<[string[], string[], string[]]>([
    [[], ['eth_call', 'rpc.discover'], ['eth_sign', 'evm_mine']],
    [['eth'], ['eth_call'], ['eth_sign', 'rpc.discover']],
    [['-eth_call'], ['eth_getLogs', 'rpc.discover'], ['eth_call', 'eth_sign']],
    [['+eth_sign'], ['eth_call', 'eth_sign', 'rpc.discover'], ['eth_mining', 'evm_mine']],
    [
      ['+evm', '-evm_reset'],
      ['eth_call', 'evm_mine'],
      ['evm_reset', 'eth_sign'],
    ],
    [
      ['eth_call', '+txpool'],
      ['eth_call', 'txpool_status'],
      ['eth_getLogs', 'rpc.discover'],
    ],
  ])('with %j', (names, open, closed) => {
    const permits = createPermissions(names, PROFILE)
    expect(open.filter((name) => permits({ name, aliases: [] }))).toEqual(open)
    expect(closed.filter((name) => permits({ name, aliases: [] }))).toEqual([])
  })
})

/** The method of this name, or one of it. */
const methodOf = (name: string) => METHODS.find((method) => method.name === name) ?? { name, aliases: [] }

describe('createKeyPermissions', () => {
  it.each<[string[], string[], string[]]>([
    [[], ['eth_call', 'trace_block', 'rpc.discover'], ['evm_mine', 'personal_sign', 'debug_x', 'anvil_x']],
    [['-eth_sign'], ['eth_call'], ['eth_sign', 'evm_mine', 'sco_peerList', 'mnr_getWork']],
    [
      ['eth', 'evm'],
      ['eth_call', 'evm_mine'],
      ['debug_x', 'net_version'],
    ],
    [['evm_mine'], ['evm_mine', 'rpc.discover'], ['evm_reset', 'eth_call', 'rpc_modules']],
    [['evm', '-evm_reset'], ['evm_mine'], ['evm_reset']],
    [['eth', '-rpc'], ['eth_call'], ['rpc.discover', 'metrics']],
    [['-rpc.discover'], ['eth_call', 'rpc_modules'], ['rpc.discover', 'metrics']],
    [['metrics'], ['metrics'], ['eth_call']],
    [['eth'], ['eth_sendTransaction'], ['eth_sendUnsignedTransaction']],
    [['eth_sendUnsignedTransaction'], ['eth_sendUnsignedTransaction'], ['eth_call']],
    [['rpc.discover', '-rpc'], ['rpc.discover'], ['eth_call']],
  ])('%j', (names, open, closed) => {
    const permits = createKeyPermissions(names)
    expect(open.filter((name) => permits(methodOf(name)))).toEqual(open)
    expect(closed.filter((name) => permits(methodOf(name)))).toEqual([])
  })

  it('keeps a method closed that is guarded under any of its names, unless such a name is listed', () => {
    const method = { name: 'eth_mineNow', aliases: ['evm_mine'] }
    expect(createKeyPermissions([])(method)).toBe(false)
    expect(createKeyPermissions(['eth'])(method)).toBe(false)
    expect(createKeyPermissions(['eth_mineNow'])(method)).toBe(false)
    expect(createKeyPermissions(['evm'])(method)).toBe(true)
  })
})

describe('a key without a list of methods', () => {
  const permits = createKeyPermissions([])

  it('opens no method that changes the node outside the rules of the chain', () => {
    const open = METHODS.filter((method) => method.changesState && permits(method)).map(({ name }) => name)
    expect(open).toEqual([
      'eth_sendRawTransaction',
      'eth_sendTransaction',
      'eth_resend',
      'eth_sendRawTransactionSync',
      'eth_sendTransactionSync',
      'eth_sendRawTransactionConditional',
      'wallet_sendCalls',
      'eth_submitWork',
      'eth_submitHashrate',
    ])
  })

  it('opens whole namespaces, under all their names', () => {
    const open = METHODS.filter((method) => permits(method))
      .flatMap(namesOf)
      .map(namespaceOf)
    expect([...new Set(open)].sort()).toEqual([
      'alchemy',
      'erigon',
      'eth',
      'ext',
      'net',
      'ots',
      'rpc',
      'rsk',
      'trace',
      'wallet',
      'web3',
    ])
  })
})
