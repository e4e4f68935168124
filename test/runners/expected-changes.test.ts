/** `expectChanges`: what mined transactions really did is what has to be expected of them, and nothing else. */
import { AssertionError } from 'node:assert'
import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/index.ts'
import type { ExpectedChanges } from '../../src/runners/change-comparison.ts'
import { type ChangesSubject, expectChanges } from '../../src/runners/expected-changes.ts'
import { artifact } from '../support/contracts.ts'
import { A, B } from '../support/fake-chain.ts'
import { type Deployed, deployKinds, solcArtifact } from '../support/kinds.ts'
import { account, tokenAbi, word } from '../support/steps.ts'

const [C, C2] = [account('c1'), account('c2')]
const kindsAbi = new Interface(solcArtifact('Kinds').abi.filter(({ name }) => name !== 'callback'))
const token = artifact('Token')

let kinds: Deployed
let tokenAddress: Hex
const ask = <T = unknown>(method: string, ...params: unknown[]) =>
  kinds.node.request({ method, params }) as Promise<T>
const check = (subject: ChangesSubject, expected: ExpectedChanges) =>
  expectChanges(kinds.node, subject, expected)
const send = (transaction: object) => ask<Hex>('eth_sendTransaction', { gas: '0x4c4b40', ...transaction })

beforeAll(async () => {
  kinds = await deployKinds('Kinds')
  await ask('evm_setAbi', 'Kinds', solcArtifact('Kinds'))
  const hash = await send({ from: A, data: token.bytecode + word(1000).slice(2) })
  tokenAddress = (await ask<{ contractAddress: Hex }>('eth_getTransactionReceipt', hash)).contractAddress
  await ask('evm_setAbi', tokenAddress, { ...token, contractName: 'Token' })
})
afterAll(() => kinds.close())

const setTitle = (title: string) =>
  ({ from: A, to: kinds.address, data: kindsAbi.encodeFunctionData('setTitle', [title]) as Hex }) as const
const transfer = (to: Hex, amount: bigint, from: Hex = A) =>
  ({ from, to: tokenAddress, data: tokenAbi.encodeFunctionData('transfer', [to, amount]) as Hex }) as const

/** What is wrong with an expectation. */
async function complaint(subject: ChangesSubject, expected: ExpectedChanges): Promise<string> {
  try {
    await check(subject, expected)
  } catch (error) {
    return String((error as Error).message)
  }
  throw new Error('the expectation holds')
}

describe('expectChanges', () => {
  it('holds for what a transaction would do, and writes nothing', async () => {
    const head = await ask('eth_getBlockByNumber', 'latest', false)
    const { logs } = await check(transfer(B, 7n), {
      gas: { atLeast: 21_000, atMost: 100_000n },
      balances: { [A]: 0 },
      tokens: { [tokenAddress]: { [A]: -7n, [B]: 7 } },
      events: [{ name: 'Transfer', address: tokenAddress, arguments: { from: A, to: B, value: 7n } }],
    })
    expect(logs).toHaveLength(1)
    await check(setTitle('new'), { storage: { [kinds.address]: { title: { from: '', to: 'new' } } } })
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toEqual(head)
  })

  it('holds for what a mined transaction did at its place', async () => {
    await ask('evm_setAutomine', false)
    const hashes = [
      await send({ from: A, to: C, value: '0x5', gasPrice: '0x7' }),
      await send({ from: A, to: C, value: '0x6', gasPrice: '0x7' }),
      await send(transfer(C, 9n)),
      await send(setTitle('mined')),
    ] as const
    await expect(check(hashes[0], {})).rejects.toMatchObject({
      kind: 'invalid-params',
      message: `expectChanges: ${hashes[0]} is not the hash of a mined transaction of an account`,
    })
    await ask('evm_mine')
    await ask('evm_setAutomine', true)
    await send(transfer(C, 100n))
    for (const hash of hashes) {
      const { gasUsed } = await ask<{ gasUsed: Hex }>('eth_getTransactionReceipt', hash)
      await check(hash, { gas: BigInt(gasUsed) })
    }
    await check(hashes[1], { balances: { [C]: { from: 5, to: 11n, by: 6 }, [A]: -6 } })
    await check(hashes[2], { events: [{ name: 'Transfer', arguments: [A, C, 9] }] })
    await check(hashes[3], { storage: { [kinds.address]: { title: { from: '', to: 'mined' } } } })
  })

  it('checks the last of steps that share state', async () => {
    const point = { x: 4n, shown: true }
    const steps = [
      {
        set: {
          [kinds.address]: { variables: { title: 'old', point, list: [1n, 2n] } },
          [C]: { balance: 9n },
        },
      },
      { warp: { seconds: 5 } },
    ] as const
    await check([...steps, { send: setTitle('x'.repeat(40)) }], {
      balances: { [C]: { from: 9, to: 9 } },
      storage: {
        [kinds.address]: {
          title: { from: 'old', to: 'x'.repeat(40) },
          point: { to: { x: 4 } },
          list: { from: [1, 2], to: [1, 2] },
          'list[1]': { by: 0 },
        },
      },
    })
    expect(await complaint([steps[0]], {})).toBe('expectChanges: the last step is not a call or a send')
    expect(await complaint([], {})).toBe('expectChanges: the last step is not a call or a send')
  })

  it.each<[string, string | RegExp | true]>([
    ['any failure', true],
    ['its reason', 'ERC20InsufficientBalance'],
    ['a pattern', /ERC20InsufficientBalance.*needed: 5\)$/],
  ])('expects %s', async (_, reverts) => {
    const { error } = await check(transfer(A, 5n, C2), { reverts })
    expect(error?.data).toMatch(/^0xe450d38c/)
  })

  it('lists all that differs', async () => {
    const storage = { [kinds.address]: { title: { from: 'z', to: 'new', by: undefined }, total: { by: 1 } } }
    const text = await complaint(setTitle('other'), {
      reverts: 'no',
      gas: { atMost: 5 },
      balances: { [B]: { by: 3 } },
      tokens: { [tokenAddress]: { [B]: 1 } },
      storage,
      events: [{ name: 'Transfer' }],
    })
    const lines = text.split('\n')
    expect(lines[0]).toBe('8 expected changes did not happen:')
    expect(lines.slice(1)).toEqual([
      '  reverts: expected no, is success',
      expect.stringMatching(/^ {2}gas: expected at most 5, is \d+$/),
      `  balances.${B}.by: expected 3, is 0`,
      `  tokens.${tokenAddress}.${B}.by: expected 1, is 0`,
      `  storage.${kinds.address}.title.from: expected "z", is "mined"`,
      `  storage.${kinds.address}.title.to: expected "new", is "other"`,
      `  storage.${kinds.address}.total.by: expected 1, is 0`,
      '  events[0]: expected {"name":"Transfer"}, is no event',
    ])
    await expect(check(setTitle('other'), { gas: 1 })).rejects.toBeInstanceOf(AssertionError)
  })

  it.each<[string, object, string]>([
    ['another name', { name: 'Approval' }, 'Transfer(from: '],
    ['another contract', { name: 'Transfer', address: B }, 'Transfer(from: '],
    ['another value', { name: 'Transfer', arguments: { value: 8 } }, 'Transfer(from: '],
    ['an argument that it has not', { name: 'Transfer', arguments: { amount: 7 } }, 'Transfer(from: '],
    ['fewer values', { name: 'Transfer', arguments: [A, B] }, 'Transfer(from: '],
  ])('finds no event with %s', async (_, event, emitted) => {
    expect(await complaint(transfer(B, 7n), { events: [event as { name: string }] })).toContain(emitted)
  })

  it('finds each event once, in order', async () => {
    const events = [{ name: 'Transfer' }, { name: 'Transfer' }]
    expect(await complaint(transfer(B, 7n), { events })).toContain('events[1]')
  })

  it.each<[string, ExpectedChanges]>([
    ['titel: no variable has this name; the nearest: ', { storage: { '0xK': { titel: { to: 'x' } } } }],
    ['the storage layout of', { storage: { '0xT': { owner: { to: 'x' } } } }],
    ['expected uint8', { storage: { '0xK': { small: { to: 'x' } } } }],
    ['title.by: the variable is not a number', { storage: { '0xK': { title: { by: 1 } } } }],
  ])('refuses %s', async (message, { storage = {} }) => {
    const named = Object.entries(storage).map(([key, value]) => [
      key === '0xK' ? kinds.address : tokenAddress,
      value,
    ])
    const refusal = check(setTitle('x'), { storage: Object.fromEntries(named) })
    await expect(refusal).rejects.toMatchObject({
      kind: 'invalid-params',
      message: expect.stringContaining(message),
    })
  })

  it('names a transaction that cannot run', async () => {
    expect(await complaint({ from: C2, to: A, value: 5n }, { reverts: true })).toMatch(
      /^1 expected change did not happen:\n {2}reverts: expected a transaction that can run, is insufficient funds/,
    )
  })
})
