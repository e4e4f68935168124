/**
 * Damaged envelopes of typed transactions at the door of a node: `FUZZED_ENVELOPES` of them (400 in the suite, 10,000 by
 * `npm run fuzz:envelopes`). Each is refused with one clear error and leaves the pool as it is, or it is a transaction by
 * `@ethereumjs/tx` too, with the same hash and sender.
 */
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createTxFromRLP } from '@ethereumjs/tx'
import { concat, encodeRlp, getBytes, hexlify, toBeHex, Wallet } from 'ethers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'

const COW = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
const wallet = new Wallet(COW)
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const LIST = [{ address: BOB, storageKeys: [`0x${'11'.repeat(32)}`] }]
const RUNS = Number(process.env.FUZZED_ENVELOPES ?? 400)
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const common = new Common({ chain: { ...Mainnet, chainId: 33 }, hardfork: Hardfork.Prague })

let node: Node
let envelopes: Uint8Array[]
const ask = (method: string, ...params: unknown[]) => node.request({ method, params })
beforeAll(async () => {
  node = await createNode({ rules: 'next', mining: 'manual', minGasPrice: 60_000_000n })
  const base = { chainId: 33, nonce: 0, gasLimit: 200_000, to: BOB, accessList: LIST }
  const fees = { maxFeePerGas: 80_000_000, maxPriorityFeePerGas: 70_000_000 }
  const authorizationList = [await wallet.authorize({ address: BOB, chainId: 33, nonce: 1 })]
  const signed = await Promise.all([
    wallet.signTransaction({ ...base, type: 1, gasPrice: 70_000_000 }),
    wallet.signTransaction({ ...base, type: 2, ...fees }),
    wallet.signTransaction({ ...base, type: 4, ...fees, authorizationList }),
  ])
  envelopes = signed.map((raw) => getBytes(raw))
})
afterAll(() => node.close())

/** Sends bytes: the message of the refusal, or `undefined`. */
async function refusal(raw: Uint8Array): Promise<string | undefined> {
  try {
    await ask('eth_sendRawTransaction', hexlify(raw))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

type Damage = {
  readonly kind: 'flip' | 'cut' | 'drop' | 'insert' | 'double'
  readonly at: number
  readonly byte: number
}
const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('flip', 'cut', 'drop', 'insert', 'double'),
  at: fc.nat(1000),
  byte: fc.nat(255),
})

function damaged(raw: Uint8Array, { kind, at, byte }: Damage): Uint8Array {
  const place = at % Math.max(1, raw.length)
  const [before, after] = [raw.subarray(0, place), raw.subarray(place)]
  const one = Uint8Array.of(byte)
  if (kind === 'cut') return before
  if (kind === 'drop') return getBytes(concat([before, after.subarray(1)]))
  if (kind === 'insert') return getBytes(concat([before, one, after]))
  if (kind === 'double') return getBytes(concat([before, after, after]))
  return getBytes(concat([before, one, after.subarray(1)]))
}

describe('fuzzed envelopes', () => {
  it('are refused with one clear error, and leave the pool as it is', async () => {
    const which = fc.nat(2)
    await fc.assert(
      fc.asyncProperty(which, fc.array(damage, { minLength: 1, maxLength: 3 }), async (index, list) => {
        const raw = list.reduce(damaged, envelopes[index] as Uint8Array)
        const before = await ask('txpool_content')
        const message = await refusal(raw)
        if (message === undefined) {
          const theirs = createTxFromRLP(raw, { common })
          const hash = hexlify(theirs.hash())
          const found = (await ask('eth_getTransactionByHash', hash)) as { from: string }
          expect(found.from).toBe(theirs.getSenderAddress().toString())
          await ask('anvil_dropTransaction', hash)
          return
        }
        expect(message).toMatch(/^[ -~]{5,400}$/)
        expect(await ask('txpool_content')).toEqual(before)
      }),
      { numRuns: RUNS },
    )
    expect(await ask('txpool_status')).toMatchObject({ pending: 0, queued: 0 })
  })

  const number = (value: number) => (value === 0 ? '0x' : toBeHex(value))
  const head = [33, 0, 70_000_000, 80_000_000, 200_000].map(number)

  it('with a high s, without authorizations, of another chain and below the minimum price have their own words', async () => {
    const typed = { type: 2, nonce: 0, gasLimit: 30_000, to: BOB }
    const fees = { maxFeePerGas: 80_000_000, maxPriorityFeePerGas: 70_000_000 }
    const good = createTxFromRLP(getBytes(await wallet.signTransaction({ ...typed, ...fees, chainId: 33 })), {
      common,
    })
    const [r, s, v] = [good.r, good.s, good.v].map((value) => value ?? 0n) as [bigint, bigint, bigint]
    const payload = [...head.slice(0, 4), number(30_000), BOB, '0x', '0x', []]
    const highS = encodeRlp([...payload, v === 0n ? '0x01' : '0x', toBeHex(r), toBeHex(ORDER - s)])
    const noList = encodeRlp([...head, BOB, '0x', '0x', [], [], '0x', '0x01', '0x01'])
    const cases: [raw: string, message: string][] = [
      [concat(['0x02', highS]), 'Invalid chainId: 33'],
      [concat(['0x04', noList]), 'Set-code transaction authorization_list must not be empty'],
      [await wallet.signTransaction({ ...typed, ...fees, chainId: 30 }), 'Invalid chainId: 30'],
      [
        await wallet.signTransaction({
          ...typed,
          chainId: 33,
          maxFeePerGas: 80_000_000,
          maxPriorityFeePerGas: 1,
        }),
        "transaction's gas price lower than block's minimum",
      ],
    ]
    for (const [raw, message] of cases) {
      expect(await refusal(getBytes(raw))).toContain(message)
      expect(await ask('txpool_status')).toMatchObject({ pending: 0, queued: 0 })
    }
  })
})
