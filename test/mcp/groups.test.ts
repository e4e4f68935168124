/** Which methods agents get, and in which group. */
import { describe, expect, it } from 'vitest'
import { groupOf, isTool } from '../../src/mcp/groups.ts'
import { READING_GROUPS } from '../../src/options/mcp-settings.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'

/** As many as `groups.ts` names: a name that no method has would be missing. */
const TOOL_COUNT = 65

describe('the groups of tools', () => {
  it('name methods that exist', () => {
    expect(METHODS.filter(isTool)).toHaveLength(TOOL_COUNT)
  })

  it('that change nothing hold no method that does', () => {
    const reading = METHODS.filter((method) => READING_GROUPS.includes(groupOf(method) ?? 'test'))
    expect(reading.filter(({ changesState }) => changesState).map(({ name }) => name)).toEqual([])
  })

  it('withhold these methods from agents', () => {
    const withheld = METHODS.filter((method) => groupOf(method) === undefined).map(({ name }) => name)
    expect(withheld.filter((name) => !/^(personal|sco)_/.test(name)).sort()).toEqual([
      'anvil_reset',
      'anvil_setRpcUrl',
      'btc_request',
      'eth_subscribe',
      'eth_unsubscribe',
      'evm_addAccount',
      'fed_importKey',
      'hardhat_reset',
    ])
    expect(METHODS.filter(isTool).filter((method) => groupOf(method) === undefined)).toEqual([])
  })
})
