/** `node.override`: what is written has the effect that the same override has on a call. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AccountChanges, Hex, NodeError } from '../../src/index.ts'
import { A, B } from '../support/kind-cases.ts'
import { type Deployed, deployKinds, solcArtifact } from '../support/kinds.ts'

let kinds: Deployed
let snapshot: unknown
const ask = (method: string, ...params: unknown[]) => kinds.node.request({ method, params })
beforeAll(async () => {
  kinds = await deployKinds('Kinds')
  await ask('evm_setAbi', 'Kinds', solcArtifact('Kinds'))
  snapshot = await ask('evm_snapshot')
})
beforeEach(() => ask('evm_revert', snapshot))
afterAll(() => kinds.close())

const quantity = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n })
const text = fc.string({ unit: 'binary', maxLength: 80 })
const variables = fc.record(
  {
    total: quantity,
    flag: fc.boolean(),
    small: fc.integer({ min: 0, max: 255 }),
    title: text,
    list: fc.array(quantity, { maxLength: 4 }),
    names: fc.array(text, { maxLength: 3 }),
    point: fc.record(
      { x: fc.bigInt({ min: -(1n << 127n), max: (1n << 127n) - 1n }), shown: fc.boolean() },
      { requiredKeys: [] },
    ),
    balances: fc.dictionary(fc.constantFrom(A, B), quantity),
  },
  { requiredKeys: [] },
)
const GETTERS = [
  ['total'],
  ['flag'],
  ['small'],
  ['title'],
  ['everyList'],
  ['everyName'],
  ['point'],
  ['balances', A],
  ['balances', B],
] as const

const json = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? each.toString() : each)))

describe('node.override', () => {
  it('leaves what the same override shows to a call', async () => {
    const answers = (override: object) =>
      Promise.all(GETTERS.map(([name, ...values]) => kinds.answer(override, name, values)))
    await fc.assert(
      fc.asyncProperty(variables, variables, async (before, after) => {
        await ask('evm_revert', snapshot)
        await kinds.node.override(kinds.address, { variables: before })
        expect(await answers({})).toEqual(await answers({ variables: json(before) }))
        const overridden = await answers({ variables: json(after) })
        await kinds.node.override(kinds.address, { variables: after })
        expect(await answers({})).toEqual(overridden)
      }),
      { numRuns: 40 },
    )
  })

  it('writes balance, nonce, code and storage, of an address in any case', async () => {
    const changes: AccountChanges = {
      balance: 5n,
      nonce: 7,
      code: '0x5f545f5260205ff3',
      state: { 0: 9n, 10: '0x2' },
    }
    await kinds.node.override(B, changes)
    expect(await ask('eth_getBalance', B, 'latest')).toBe('0x5')
    expect(await ask('eth_getTransactionCount', B, 'latest')).toBe('0x7')
    expect(BigInt((await ask('eth_call', { to: B })) as Hex)).toBe(9n)
    expect(BigInt((await ask('eth_getStorageAt', B, '0xa', 'latest')) as Hex)).toBe(2n)
    await kinds.node.override(B, { stateDiff: { '0x1': 3 }, code: new Uint8Array([0x5f]) })
    expect(BigInt((await ask('eth_getStorageAt', B, '0x0', 'latest')) as Hex)).toBe(9n)
    await kinds.node.override(B, { state: {} })
    expect(BigInt((await ask('eth_getStorageAt', B, '0x1', 'latest')) as Hex)).toBe(0n)
    expect(await ask('eth_getCode', B, 'latest')).toBe('0x5f')
  })

  it.each<[unknown, string]>([
    [{ balance: -1n }, 'Invalid override.balance: expected a hex number with 0x, within range.'],
    [{ balance: 0.5 }, 'Invalid override.balance: expected a hex number with 0x, within range.'],
    [{ code: 'code' }, 'Invalid override.code: expected hex text.'],
    [{ state: { x: 1n } }, 'Invalid override.state slot x: expected at most 32 bytes in hex.'],
    [{ state: {}, stateDiff: {} }, 'override.state and override.stateDiff cannot be set at the same time'],
    [
      { storage: {} },
      'Invalid override.storage: expected balance, nonce, code, state, stateDiff or variables only.',
    ],
    [
      { variables: { balnces: 1 } },
      'override.variables.balnces: no variable has this name; the nearest: balances',
    ],
    [
      { variables: { title: undefined } },
      'Invalid override.variables.title: expected a text, a number, a boolean, a list or an object.',
    ],
    [
      { balance: 1n, variables: { small: 256n } },
      'override.variables.small: 256 is out of the range of uint8',
    ],
  ])('refuses %o, and changes nothing', async (changes, message) => {
    await expect(kinds.node.override(kinds.address, changes as AccountChanges)).rejects.toMatchObject({
      kind: 'invalid-params',
      message,
    } satisfies Partial<NodeError>)
    expect(await ask('eth_getBalance', kinds.address, 'latest')).toBe('0x0')
  })

  it('refuses what is no address', async () => {
    await expect(kinds.node.override('0x12', {})).rejects.toMatchObject({
      message: 'Invalid address: expected an address.',
    })
  })
})
