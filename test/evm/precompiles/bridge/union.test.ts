/** The union bridge: its address, cap and permissions, what it takes and gives back, and the events that it sets. */
import {
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  parseAbi,
  parseAbiParameters,
  toHex as text,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { keccakHex } from '../../../../src/encoding/hash.ts'
import { type Hex, toFixedHex, toHex } from '../../../../src/encoding/hex.ts'
import { freshBridge } from './calls.ts'

const UNION: Hex = `0x${'33'.repeat(20)}`
const BRIDGE: Hex = '0x0000000000000000000000000000000001000006'
const union = { caller: UNION }
const addressVoter = { caller: '0x6c9dfd950bf748bb26f893f7e5f693c7f60a8f85' } as const
const capVoter = { caller: '0xff6f4ff09c54561e1476203e56fcfc834911aa64' } as const
const COIN = 10n ** 18n

function log(signature: string, indexed: Hex, types: string, values: readonly unknown[]) {
  return {
    topics: [keccak256(text(signature)), toFixedHex(BigInt(indexed), 32)],
    data: encodeAbiParameters(parseAbiParameters(types), values as never),
  }
}

function withUnion() {
  const bridge = freshBridge()
  expect(bridge.call('setUnionBridgeContractAddressForTestnet', [UNION], addressVoter)).toBe(0n)
  return bridge
}

describe('the union bridge', () => {
  it('has the address that its authorised sender sets', () => {
    const bridge = withUnion()
    expect(bridge.call('getUnionBridgeContractAddress')).toBe(UNION)
    expect(bridge.call('setUnionBridgeContractAddressForTestnet', [BRIDGE])).toBe('failure')
  })

  it('has a cap that at most doubles in one step', () => {
    const bridge = freshBridge()
    const increase = (cap: bigint) => bridge.call('increaseUnionBridgeLockingCap', [cap], capVoter)
    expect(bridge.call('increaseUnionBridgeLockingCap', [2n * COIN])).toBe('failure')
    expect(increase(COIN)).toBe(-2n)
    expect(increase(2n * COIN + 1n)).toBe(-2n)
    expect(increase(2n * COIN)).toBe(0n)
    expect(bridge.call('getUnionBridgeLockingCap')).toBe(2n * COIN)
    const event = 'union_bridge_locking_cap_increased(address,uint256,uint256)'
    expect(bridge.logs).toEqual([log(event, capVoter.caller, 'uint256, uint256', [COIN, 2n * COIN])])
  })

  it('receives coins up to the cap, and returns them', () => {
    const bridge = withUnion()
    const request = (wei: bigint) => bridge.call('requestUnionBridgeRbtc', [wei], union)
    const release = (value: bigint) => bridge.call('releaseUnionBridgeRbtc', [], { ...union, value })
    expect(request(0n)).toBe(-2n)
    expect(request(COIN + 1n)).toBe(-2n)
    expect(request(COIN)).toBe(0n)
    expect(request(1n)).toBe(-2n)
    expect(bridge.transfers).toEqual([[UNION, COIN]])
    expect(release(0n)).toBe(-2n)
    expect(release(COIN)).toBe(0n)
    expect(bridge.transfers).toHaveLength(1)
    expect(bridge.logs).toEqual([
      log('union_rbtc_requested(address,uint256)', UNION, 'uint256', [COIN]),
      log('union_rbtc_released(address,uint256)', UNION, 'uint256', [COIN]),
    ])
  })

  it('is disabled when it returns more than it received', () => {
    const bridge = withUnion()
    expect(bridge.call('releaseUnionBridgeRbtc', [], { ...union, value: 5n })).toBe(-2n)
    expect(bridge.transfers).toEqual([[UNION, 5n]])
    const event = 'union_bridge_transfer_permissions_updated(address,bool,bool)'
    expect(bridge.logs).toEqual([log(event, BRIDGE, 'bool, bool', [false, false])])
    expect(bridge.call('requestUnionBridgeRbtc', [1n], union)).toBe(-3n)
    expect(bridge.call('releaseUnionBridgeRbtc', [], { ...union, value: 5n })).toBe(-3n)
    expect(bridge.call('setUnionBridgeTransferPermissions', [true, false])).toBe('failure')
    expect(bridge.call('setUnionBridgeTransferPermissions', [true, false], capVoter)).toBe(0n)
    expect(bridge.call('setUnionBridgeTransferPermissions', [true, false], capVoter)).toBe(0n)
    expect(bridge.logs).toHaveLength(2)
    expect(bridge.call('requestUnionBridgeRbtc', [1n], union)).toBe(0n)
  })

  it('is the only caller with access, and other callers get their value back', () => {
    const bridge = withUnion()
    expect(bridge.call('requestUnionBridgeRbtc', [1n])).toBe(-1n)
    expect(bridge.call('releaseUnionBridgeRbtc', [], { value: 5n })).toBe(-1n)
    expect(bridge.transfers).toEqual([[bridge.env.caller, 5n]])
  })

  it.each(['Super', 'Base'])('sets and clears the %s event', (kind) => {
    const bridge = withUnion()
    const own = parseAbi([`function set${kind}Event(bytes)`, `function clear${kind}Event()`])
    const set = (value: Hex) =>
      encodeFunctionData({ abi: own, functionName: `set${kind}Event`, args: [value] })
    const clear = encodeFunctionData({ abi: own, functionName: `clear${kind}Event` })
    const name = new TextEncoder().encode(`${kind.toLowerCase()}Event`)
    const cell = () => toHex(bridge.storage.bytes(BigInt(keccakHex(name))))
    const data: Hex = `0x${'ab'.repeat(128)}`
    expect(bridge.raw(set(data), union)).toBe('0x')
    expect(cell()).toBe(data)
    expect(bridge.raw(set(`${data}00`), union)).toBe('failure')
    expect(bridge.raw(set(data))).toBe('failure')
    expect(bridge.raw(clear)).toBe('failure')
    expect(bridge.raw(clear, union)).toBe('0x')
    expect(cell()).toBe('0x')
  })
})
