/** Balances and allowances of tokens in each layout of storage; hand-assembled, since only the slots matter. */
import { concat, keccak256, toBeHex, zeroPadValue } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { A, B } from '../../support/fake-chain.ts'

const address = (digits: string) => `0x${digits.padStart(40, '0')}`
const word = (value: bigint | number | string) => zeroPadValue(toBeHex(BigInt(value)), 32)

/** Returns the word on the stack. */
const RETURN = '5f5260205ff3'
/** The first argument at memory 0, slot 3 behind it: a mapping of Solidity. */
const SOLIDITY = `0x6004355f52600360205260405f2054${RETURN}`
/** Slot 3 first: a mapping of Vyper. */
const VYPER = `0x60035f5260043560205260405f2054${RETURN}`
/** Both arguments, nested, of slot 4. */
const ALLOWANCE = `0x6004355f52600460205260405f206020526024355f5260405f2054${RETURN}`
/** Twice the word: no slot holds the balance. */
const COMPUTED = `0x6004355f52600360205260405f2054600202${RETURN}`
/** Passes all call data on to the address in slot 1, as DELEGATECALL. */
const PROXY = '0x365f5f375f5f365f6001545af4503d5f5f3e3d5ff3'
/** Asks another contract. */
const asking = (other: string) => `0x365f5f375f5f365f73${other.slice(2)}5afa503d5f5f3e3d5ff3`

const [solidity, vyper, proxy, outer, computed, allowance, none] = [
  address('e1'),
  address('e2'),
  address('e3'),
  address('e4'),
  address('e5'),
  address('e6'),
  address('e7'),
] as const

let node: Node
const ask = (method: string, ...params: unknown[]) => node.request({ method, params })
beforeAll(async () => {
  node = await createNode()
  for (const [at, code] of [
    [solidity, SOLIDITY],
    [vyper, VYPER],
    [proxy, PROXY],
    [outer, asking(vyper)],
    [computed, COMPUTED],
    [allowance, ALLOWANCE],
  ] as const) {
    await ask('hardhat_setCode', at, code)
  }
  await ask('hardhat_setStorageAt', proxy, '0x1', word(solidity))
})
afterAll(() => node.close())

const balanceOf = (token: string, owner: string) =>
  ask('eth_call', { to: token, data: concat(['0x70a08231', word(owner)]) }, 'latest')
const slotOf = (...words: readonly string[]) => keccak256(concat(words))

describe('anvil_dealERC20', () => {
  it.each([
    ['Solidity', solidity, slotOf(word(A), word(3)), solidity],
    ['Vyper', vyper, slotOf(word(3), word(B)), vyper, B],
    ['a proxy', proxy, slotOf(word(A), word(3)), proxy],
    ['a contract that keeps its balances in another', outer, slotOf(word(3), word(A)), vyper],
  ] as const)('finds the slot of %s', async (_, token, slot, holder, owner: string = A) => {
    expect(await ask('anvil_dealERC20', owner, token, '0x3e8')).toBeNull()
    expect(await balanceOf(token, owner)).toBe(word(1000))
    expect(await ask('eth_getStorageAt', holder, slot, 'latest')).toBe(word(1000))
    // Nothing but that slot, and the same balance again, and none.
    await ask('anvil_setERC20Balance', owner, token, 1000)
    await ask('hardhat_dealERC20', owner, token, '0x0')
    expect(await balanceOf(token, owner)).toBe(word(0))
  })

  it('does not change the implementation of a proxy', async () => {
    await ask('anvil_dealERC20', A, proxy, '0x7')
    expect(await ask('eth_getStorageAt', proxy, '0x1', 'latest')).toBe(word(solidity))
    expect(await balanceOf(solidity, A)).toBe(word(0))
  })

  it.each([
    ['a balance that is computed', computed],
    ['an address without code', none],
  ])('refuses %s', async (_, token) => {
    await expect(ask('anvil_dealERC20', A, token, '0x1')).rejects.toMatchObject({
      code: -32602,
      message: `token: no storage slot of ${token} holds only this value`,
    })
  })
})

it('anvil_setERC20Allowance writes the slot of owner and spender', async () => {
  expect(await ask('anvil_setERC20Allowance', A, B, allowance, '0x2a')).toBeNull()
  const slot = slotOf(word(B), slotOf(word(A), word(4)))
  expect(await ask('eth_getStorageAt', allowance, slot, 'latest')).toBe(word(42))
})
