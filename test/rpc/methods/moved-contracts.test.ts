/** The Bridge and REMASC behind mocks: code at their addresses, and the contracts themselves at others. */
import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { toFixedHex } from '../../../src/encoding/hex.ts'
import { CHAIN_RULES } from '../../../src/evm/rules.ts'
import { createVm } from '../../../src/evm/vm.ts'
import { messageCall } from '../../../src/execution/message-call.ts'
import { overridden } from '../../../src/execution/overrides.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { ENVIRONMENT, OTHER, world } from '../../support/execution.ts'
import { returning, word } from '../../support/override-cases.ts'

const BRIDGE = '0x0000000000000000000000000000000001000006'
const REMASC = '0x0000000000000000000000000000000001000008'
const MOVED = '0x00000000000000000000000000000000000dead3'
const METHODS = new Interface([
  'function getFederationAddress() view returns (string)',
  'function getBtcBlockchainBestChainHeight() view returns (int256)',
])
const heightCall = METHODS.encodeFunctionData('getBtcBlockchainBestChainHeight')
const addressCall = METHODS.encodeFunctionData('getFederationAddress')
/** Answers 42 to calls with a selector, and passes all others on to the moved contract: the jump goes to its end. */
const mock = (selector: string) =>
  `0x5f3560e01c63${selector.slice(2, 10)}14603557365f5f375f5f365f73${MOVED.slice(2)}5afa503d5f5f3e3d5ff35b602a5f5260205ff3`

let node: Node
beforeAll(async () => {
  // Each message runs by both EVMs, which are compared.
  node = await createNode({ evm: 'both' })
})
afterAll(() => node.close())
const call = (request: object, overrides: object = {}) =>
  node.request({ method: 'eth_call', params: [request, 'latest', overrides] })

describe.each([
  ['the Bridge', BRIDGE],
  ['REMASC', REMASC],
])('%s', (_, address) => {
  it('is replaced by code when it is moved', async () => {
    const overrides = { [address]: { code: returning('602a'), movePrecompileToAddress: MOVED } }
    expect(await call({ to: address, data: heightCall }, overrides)).toBe(word(42))
    // STATICCALL from other code.
    const caller = `0x60205f5f5f73${address.slice(2)}5afa5060205ff3`
    expect(await call({ to: OTHER }, { ...overrides, [OTHER]: { code: caller } })).toBe(word(42))
  })

  it('can be moved in eth_simulateV1, for that block only', async () => {
    const calls = [{ to: address, data: heightCall }]
    const blockStateCalls = [
      { stateOverrides: { [address]: { code: returning('602a'), movePrecompileToAddress: MOVED } }, calls },
      { calls: [{ to: MOVED, data: addressCall }] },
    ]
    expect(await node.request({ method: 'eth_simulateV1', params: [{ blockStateCalls }] })).toMatchObject([
      { calls: [{ returnData: word(42) }] },
      { calls: [{ returnData: '0x', gasUsed: expect.stringMatching(/^0x52/) }] },
    ])
  })
})

describe('the Bridge at another address', () => {
  it('answers as at its own address', async () => {
    const overrides = { [BRIDGE]: { movePrecompileToAddress: MOVED } }
    const plain = await call({ to: BRIDGE, data: addressCall })
    expect(METHODS.decodeFunctionResult('getFederationAddress', String(plain))[0]).not.toBe('')
    expect(await call({ to: MOVED, data: addressCall }, overrides)).toBe(plain)
    expect(await call({ to: BRIDGE, data: addressCall }, overrides)).toBe('0x')
  })

  it('serves the other methods for a mock of one method', async () => {
    const overrides = { [BRIDGE]: { code: mock(heightCall), movePrecompileToAddress: MOVED } }
    expect(await call({ to: BRIDGE, data: heightCall }, overrides)).toBe(word(42))
    expect(await call({ to: BRIDGE, data: addressCall }, overrides)).toBe(
      await call({ to: BRIDGE, data: addressCall }),
    )
  })

  it('keeps the storage of its own account', async () => {
    const own: Hex = '0x0000000000000000000000000000000000000077'
    const reading = {
      name: 'reading',
      requiredGas: () => 0n,
      run: (_: Uint8Array, { storage }: { storage: { get(slot: bigint): bigint } }) =>
        Buffer.from(toFixedHex(storage.get(1n), 32).slice(2), 'hex'),
    }
    const precompiles = new Map([[own, reading]])
    const vm = createVm({ chainId: 33, rulesAt: () => ({ ...CHAIN_RULES, precompiles }) })
    const state = world({ [own]: { storage: { 1: 7n } }, [OTHER]: { storage: { 1: 8n } } })
    const stateOverrides = new Map([[own, { movePrecompileToAddress: OTHER }]])
    const place = overridden({ state, env: ENVIRONMENT }, { stateOverrides }, vm)
    const { output } = await messageCall({ request: { to: OTHER }, ...place, vm, gasCap: 100_000n })
    expect(BigInt(`0x${Buffer.from(output).toString('hex')}`)).toBe(7n)
  })
})
