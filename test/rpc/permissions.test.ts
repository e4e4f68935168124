/** What the `--methods` switch opens and closes. */
import { describe, expect, it } from 'vitest'
import { createPermissions } from '../../src/rpc/permissions.ts'

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
  ])('%j asks for a method by each of its names', (names, open) => {
    expect(createPermissions(names)({ name: 'new_name', aliases: ['old_name'] })).toBe(open)
  })
})
