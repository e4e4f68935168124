/**
 * Balances, allowances and owners of tokens in each layout of storage: hand-assembled where only the slots matter, and
 * contracts of OpenZeppelin and ERC721A (`fixtures/contracts/Tokens.sol`), asked by their own functions.
 */
import { readFileSync } from 'node:fs'
import { AbiCoder, concat, Interface, type JsonFragment, keccak256, toBeHex, zeroPadValue } from 'ethers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createNode, type Node, serve } from '../../../src/index.ts'
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
/** The low 96 bits of an allowance in that place. */
const ALLOWANCE96 = `0x6004355f52600460205260405f206020526024355f5260405f20546bffffffffffffffffffffffff16${RETURN}`
/** Twice the word: no slot holds the balance. */
const COMPUTED = `0x6004355f52600360205260405f2054600202${RETURN}`
/** Passes all call data on to the address in slot 1, as DELEGATECALL. */
const PROXY = '0x365f5f375f5f365f6001545af4503d5f5f3e3d5ff3'
/** Asks another contract. */
const asking = (other: string) => `0x365f5f375f5f365f73${other.slice(2)}5afa503d5f5f3e3d5ff3`
/** Fails with the reason "no". */
const REVERTING = `0x62461bcd60e51b5f526020600452600260245261${Buffer.from('no').toString('hex')}60f01b60445260645ffd`

const [solidity, vyper, proxy, outer, computed, allowance, none, allowance96, silent, reverting] = [
  address('e1'),
  address('e2'),
  address('e3'),
  address('e4'),
  address('e5'),
  address('e6'),
  address('e7'),
  address('e8'),
  address('e9'),
  address('ea'),
] as const

interface Compiled {
  readonly abi: readonly JsonFragment[]
  readonly bytecode: Hex
}
const TOKENS = JSON.parse(
  readFileSync(new URL('../../../fixtures/contracts/Tokens.json', import.meta.url), 'utf8'),
).contracts as Readonly<Record<string, Compiled>>

let node: Node
let snapshot: unknown
let from: string
const ask = (method: string, ...params: unknown[]) => node.request({ method, params })
beforeAll(async () => {
  node = await createNode()
  ;[from] = (await ask('eth_accounts')) as [string]
  for (const [at, code] of [
    [solidity, SOLIDITY],
    [vyper, VYPER],
    [proxy, PROXY],
    [outer, asking(vyper)],
    [computed, COMPUTED],
    [allowance, ALLOWANCE],
    [allowance96, ALLOWANCE96],
    [silent, '0x5f5ff3'],
    [reverting, REVERTING],
  ] as const) {
    await ask('hardhat_setCode', at, code)
  }
  await ask('hardhat_setStorageAt', proxy, '0x1', word(solidity))
  snapshot = await ask('evm_snapshot')
})
beforeEach(() => ask('evm_revert', snapshot))
afterAll(() => node.close())

const balanceOf = (token: string, owner: string) =>
  ask('eth_call', { to: token, data: concat(['0x70a08231', word(owner)]) }, 'latest')
const slotOf = (...words: readonly string[]) => keccak256(concat(words))

async function receipt(transaction: object): Promise<{ contractAddress: string; status: string }> {
  const hash = await ask('eth_sendTransaction', { from, gas: '0x5b8d80', ...transaction })
  return (await ask('eth_getTransactionReceipt', hash)) as { contractAddress: string; status: string }
}

/** A deployed contract of `Tokens.sol`: a function asks it, and `send` changes it. */
async function deployed(name: string, types: readonly string[] = [], values: readonly unknown[] = []) {
  const { abi, bytecode } = TOKENS[name] as Compiled
  const data = concat([bytecode, AbiCoder.defaultAbiCoder().encode(types, values)])
  const { contractAddress: at } = await receipt({ data })
  const coder = new Interface(abi)
  return {
    at,
    coder,
    async get(function_: string, ...args: unknown[]) {
      const output = await ask(
        'eth_call',
        { to: at, data: coder.encodeFunctionData(function_, args) },
        'latest',
      )
      const decoded = coder.decodeFunctionResult(function_, output as string)
      return decoded.length === 1 ? decoded[0] : decoded.toArray()
    },
    async send(function_: string, ...args: unknown[]) {
      const { status } = await receipt({ to: at, data: coder.encodeFunctionData(function_, args) })
      expect(status).toBe('0x1')
    },
  }
}

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

  it('leaves the total supply, and with `adjust` changes it by as much', async () => {
    const token = await deployed('Plain')
    await ask('anvil_dealERC20', B, token.at, '0x64')
    expect([await token.get('balanceOf', B), await token.get('totalSupply')]).toEqual([100n, 1000n])
    await ask('anvil_dealERC20', B, token.at, '0x3c', true)
    expect([await token.get('balanceOf', B), await token.get('totalSupply')]).toEqual([60n, 960n])
    await ask('anvil_dealERC20', from, token.at, '0x3e9', true)
    expect([await token.get('balanceOf', from), await token.get('totalSupply')]).toEqual([1001n, 961n])
  })

  it('writes balances in a namespace of ERC-7201 behind a proxy of ERC-1967', async () => {
    const implementation = await deployed('Upgradeable')
    const { at } = await deployed('Proxy', ['address'], [implementation.at])
    await ask('anvil_dealERC20', A, at, '0x64', true)
    const data = implementation.coder.encodeFunctionData('totalSupply')
    expect(await ask('eth_call', { to: at, data }, 'latest')).toBe(word(100))
    expect(await balanceOf(at, A)).toBe(word(100))
    expect(await balanceOf(implementation.at, A)).toBe(word(0))
    await ask('anvil_setERC20Allowance', A, B, at, '0x2a')
    const allowed = implementation.coder.encodeFunctionData('allowance', [A, B])
    expect(await ask('eth_call', { to: at, data: allowed }, 'latest')).toBe(word(42))
  })

  it('writes the bits of a balance alone where other values share its slot', async () => {
    const token = await deployed('Packed')
    for (const since of [0n, 7n]) {
      await token.send('hold', A, [since, 5n, false])
      await ask('anvil_dealERC20', A, token.at, '0x3e8')
      expect(await token.get('holders', A)).toEqual([since, 1000n, false])
    }
    const most = (1n << 128n) - 1n
    await ask('anvil_dealERC20', A, token.at, `0x${most.toString(16)}`)
    expect(await token.get('holders', A)).toEqual([7n, most, false])
  })

  it('writes a balance in the low bits of a word, with a flag above it', async () => {
    const token = await deployed('HighBit')
    await token.send('flag', A)
    await ask('anvil_dealERC20', A, token.at, '0x5')
    expect(await token.get('words', A)).toBe((1n << 255n) | 5n)
    expect(await token.get('balanceOf', A)).toBe(5n)
  })

  it.each([
    [
      'that is computed',
      computed,
      `no bits of storage alone hold balanceOf(${A}) of ${computed}: it is computed, as from shares or an index`,
    ],
    ['of an address without code', none, `there is no contract at ${none}`],
    ['of a contract that answers nothing', silent, `${silent} answers no number to balanceOf(${A})`],
    ['of a contract that reverts', reverting, `balanceOf(${A}) of ${reverting} fails: revert no`],
  ])('refuses a balance %s', async (_, token, message) => {
    await expect(ask('anvil_dealERC20', A, token, '0x1')).rejects.toMatchObject({
      code: -32602,
      message: `token: ${message}`,
    })
  })

  it('refuses a balance that is computed from shares, one that is too large, and one that is unreadable', async () => {
    const shares = await deployed('Shares')
    await expect(ask('anvil_dealERC20', A, shares.at, '0x1')).rejects.toMatchObject({
      code: -32602,
      message: `token: no bits of storage alone hold balanceOf(${A}) of ${shares.at}: it is computed, as from shares or an index`,
    })
    const capped = await deployed('Capped')
    await ask('anvil_dealERC20', A, capped.at, '0xff')
    expect(await capped.get('balanceOf', A)).toBe(255n)
    await expect(ask('anvil_dealERC20', A, capped.at, '0x100')).rejects.toMatchObject({
      code: -32602,
      message: `balance: 256 does not fit the 8 bits of balanceOf(${A})`,
    })
    const packed = await deployed('Packed')
    await packed.send('hold', A, [0n, 5n, true])
    await expect(ask('anvil_dealERC20', A, packed.at, '0x1')).rejects.toMatchObject({
      code: -32602,
      message: `token: balanceOf(${A}) of ${packed.at} fails: revert frozen`,
    })
    await expect(ask('anvil_dealERC20', A, packed.at, '0x1', true)).rejects.toMatchObject({
      code: -32602,
      message: `token: totalSupply() of ${packed.at} fails: transaction reverted`,
    })
  })
})

describe('anvil_setERC20Allowance', () => {
  it('writes the slot of owner and spender', async () => {
    expect(await ask('anvil_setERC20Allowance', A, B, allowance, '0x2a')).toBeNull()
    const slot = slotOf(word(B), slotOf(word(A), word(4)))
    expect(await ask('eth_getStorageAt', allowance, slot, 'latest')).toBe(word(42))
  })

  it('writes the bits of an allowance alone', async () => {
    const slot = slotOf(word(B), slotOf(word(A), word(4)))
    const other = 0xabcdn << 96n
    await ask('hardhat_setStorageAt', allowance96, slot, word(other))
    await ask('anvil_setERC20Allowance', A, B, allowance96, '0x2a')
    expect(await ask('eth_getStorageAt', allowance96, slot, 'latest')).toBe(word(other | 42n))
  })

  it('refuses an allowance that does not fit, and a token without allowances', async () => {
    const most = `0x${'f'.repeat(64)}`
    await expect(ask('anvil_setERC20Allowance', A, B, allowance96, most)).rejects.toMatchObject({
      code: -32602,
      message: `amount: ${BigInt(most)} does not fit the 96 bits of allowance(${A}, ${B})`,
    })
    const { at } = await deployed('Shares')
    await expect(ask('anvil_setERC20Allowance', A, B, at, '0x1')).rejects.toMatchObject({
      code: -32602,
      message: `token: allowance(${A}, ${B}) of ${at} fails: revert no allowances`,
    })
  })
})

describe('anvil_dealERC721', () => {
  it('makes an account the owner, and counts the token for it', async () => {
    const art = await deployed('Art')
    expect(await ask('anvil_dealERC721', B, art.at, '0x2')).toBeNull()
    expect(BigInt(await art.get('ownerOf', 2))).toBe(BigInt(B))
    expect(BigInt(await art.get('ownerOf', 1))).toBe(BigInt(from))
    expect([await art.get('balanceOf', from), await art.get('balanceOf', B)]).toEqual([1n, 1n])
    // The owner that it has.
    await ask('hardhat_dealERC721', B, art.at, '0x2')
    expect([await art.get('balanceOf', from), await art.get('balanceOf', B)]).toEqual([1n, 1n])
  })

  it.each([0n, 2n, 4n])('token %s of a batch changes its owner alone', async (id) => {
    const batch = await deployed('Batch')
    await ask('anvil_dealERC721', B, batch.at, `0x${id.toString(16)}`)
    for (let each = 0n; each < 5n; each++) {
      expect(BigInt(await batch.get('ownerOf', each)), `${each}`).toBe(BigInt(each === id ? B : from))
    }
    expect([await batch.get('balanceOf', from), await batch.get('balanceOf', B)]).toEqual([4n, 1n])
  })

  it('refuses a token that nobody owns, and a contract without owners', async () => {
    const art = await deployed('Art')
    await expect(ask('anvil_dealERC721', B, art.at, '0x9')).rejects.toMatchObject({
      code: -32602,
      message: 'tokenId: nobody owns 9: transaction reverted',
    })
    await expect(ask('anvil_dealERC721', B, silent, '0x9')).rejects.toMatchObject({
      code: -32602,
      message: `token: ${silent} answers no number to ownerOf(9)`,
    })
    await expect(ask('anvil_dealERC721', B, none, '0x9')).rejects.toMatchObject({
      code: -32602,
      message: `token: there is no contract at ${none}`,
    })
    expect(await art.get('balanceOf', B)).toBe(0n)
  })
})

it('deals tokens of a fork, whose storage is fetched from the upstream', async () => {
  const token = await deployed('Plain')
  const batch = await deployed('Batch')
  const server = await serve(node, { port: 0 })
  const fork = await createNode({ fork: [server.url], forkCache: false })
  const request = (method: string, ...params: unknown[]) => fork.request({ method, params })
  const call = (to: string, data: string) => request('eth_call', { to, data }, 'latest')
  try {
    await request('anvil_dealERC20', B, token.at, '0x7', true)
    expect(await call(token.at, token.coder.encodeFunctionData('balanceOf', [B]))).toBe(word(7))
    expect(await call(token.at, token.coder.encodeFunctionData('totalSupply'))).toBe(word(1007))
    await request('anvil_dealERC721', B, batch.at, '0x2')
    expect(await call(batch.at, batch.coder.encodeFunctionData('ownerOf', [2]))).toBe(word(B))
    expect(await call(batch.at, batch.coder.encodeFunctionData('ownerOf', [3]))).toBe(word(from))
    expect(await token.get('balanceOf', B)).toBe(0n)
  } finally {
    await fork.close()
    await server.close()
  }
})
