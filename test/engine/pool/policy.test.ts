import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT } from '../../../src/chain/account.ts'
import { PRECOMPILE_ADDRESS } from '../../../src/chain/config.ts'
import { remascTransaction, type Transaction } from '../../../src/chain/transaction.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { encodeRlp } from '../../../src/encoding/rlp.ts'
import { type PolicyContext, refusalOf, replacementRefusal } from '../../../src/engine/pool/policy.ts'
import { RICH, SENDERS, tx } from './pool-cases.ts'

const account = { ...EMPTY_ACCOUNT, balance: RICH, nonce: 3n }
const context: PolicyContext = {
  minimumGasPrice: 1n,
  account,
  maxTransactionGas: 6_800_000n,
  accountSlots: 16,
}

/** A call of the Bridge by the one who votes the fees on regtest. */
function freeCall(nonce: number, gasPrice = 1n): Transaction {
  const call = tx(0, nonce, { to: PRECOMPILE_ADDRESS.bridge, gasPrice })
  return { ...call, from: '0x53f8f6dabd612b6137215ddd7758bb5cdd638922' }
}

function withNonceBytes(bytes: Uint8Array): Transaction {
  const { data, raw } = tx(0, 3)
  const rest = Array.from({ length: 8 }, () => data)
  return { ...tx(0, 3), raw: raw.length > 0 ? encodeRlp([bytes, ...rest]) : raw }
}

const rows: readonly (readonly [string, Transaction, Partial<PolicyContext>, string | undefined])[] = [
  ['an ordinary transfer', tx(0, 3, { gasPrice: 1n }), {}, undefined],
  ['no account', tx(0, 3), { account: undefined }, "the sender account doesn't exist"],
  // What the reference node's TxPendingValidator lets a free call do without.
  ['a free call without an account', { ...freeCall(0), gasLimit: 0n }, { account: undefined }, undefined],
  ['a free call without coins', freeCall(3), { account: { ...account, balance: 0n } }, undefined],
  ['a free call with a low nonce', freeCall(2), {}, 'transaction nonce too low'],
  [
    'a free call below the minimum price',
    freeCall(3, 0n),
    {},
    "transaction's gas price lower than block's minimum",
  ],
  [
    'the same call of another sender',
    { ...freeCall(0), from: SENDERS[0] as Hex },
    { account: undefined },
    "the sender account doesn't exist",
  ],
  [
    'init code of 49,153 bytes',
    tx(0, 3, { to: null, data: new Uint8Array(49_153), gasLimit: 6_800_000n, gasPrice: 1n }),
    {},
    "transaction's init code size is invalid",
  ],
  [
    'init code of 49,152 bytes',
    tx(0, 3, { to: null, data: new Uint8Array(49_152), gasLimit: 6_800_000n, gasPrice: 1n }),
    {},
    undefined,
  ],
  [
    'payload as long as long init code',
    tx(0, 3, { data: new Uint8Array(60_000), gasLimit: 6_800_000n, gasPrice: 1n }),
    {},
    undefined,
  ],
  ['the REMASC transaction', remascTransaction(4), {}, 'transaction is a remasc transaction'],
  [
    'gas beyond a block',
    tx(0, 3, { gasLimit: 6_800_001n }),
    {},
    "transaction's gas limit of 6800001 is higher than the block's gas limit of 6800000",
  ],
  ['gas of a whole sublist', tx(0, 3, { gasLimit: 6_800_000n, gasPrice: 1n }), {}, undefined],
  [
    'a nonce of nine bytes',
    withNonceBytes(new Uint8Array(9).fill(1)),
    {},
    'transaction nonce byte length exceeds maximum: 9 > 8',
  ],
  [
    'a nonce with a leading zero',
    withNonceBytes(Uint8Array.of(0, 3)),
    {},
    'transaction nonce has non-canonical encoding',
  ],
  ['a nonce below', tx(0, 2), {}, 'transaction nonce too low'],
  ['a nonce 16 ahead', tx(0, 19), {}, 'transaction nonce too high'],
  ['a nonce 15 ahead', tx(0, 18, { gasPrice: 1n }), {}, undefined],
  ['a nonce 16 ahead with more slots', tx(0, 19, { gasPrice: 1n }), { accountSlots: 17 }, undefined],
  [
    'gas that the balance does not cover',
    tx(0, 3, { value: 0n }),
    { account: { ...account, balance: 2_099_999n } },
    'insufficient funds',
  ],
  [
    'gas that the balance just covers, the value not',
    tx(0, 3, { gasPrice: 80n, value: 1n }),
    { account: { ...account, balance: 1_680_000n } },
    undefined,
  ],
  [
    'a price below the minimum',
    tx(0, 3, { gasPrice: 0n }),
    {},
    "transaction's gas price lower than block's minimum",
  ],
  [
    'too little gas for its base cost',
    tx(0, 3, { gasLimit: 20_999n, gasPrice: 1n }),
    {},
    "transaction's basic cost is above the gas limit",
  ],
  ['a price 80 times the minimum', tx(0, 3, { gasPrice: 80n }), {}, undefined],
  ['a price beyond', tx(0, 3, { gasPrice: 81n }), {}, "transaction's gas price exceeds cap"],
  ['any price without a minimum', tx(0, 3, { gasPrice: 10n ** 9n }), { minimumGasPrice: 0n }, undefined],
]

describe('admission', () => {
  it.each(rows)('%s', (_, transaction, change, expected) => {
    expect(refusalOf(transaction, { ...context, ...change })).toBe(expected)
  })

  it('refuses more than 131,072 bytes', () => {
    const large = tx(0, 3, { data: new Uint8Array(131_072), gasLimit: 6_800_000n, gasPrice: 1n })
    expect(refusalOf(large, context)).toBe(
      `transaction's size is higher than defined maximum: ${large.raw.length} > 131072`,
    )
  })

  it('reports the first violated rule', () => {
    const wrong = {
      to: null,
      data: new Uint8Array(131_073),
      gasLimit: 9_000_000n,
      gasPrice: 10n ** 20n,
    } as const
    const steps: [Transaction, string][] = [
      [tx(0, 0, wrong), "transaction's init code size is invalid"],
      [
        tx(0, 0, { ...wrong, to: '0x00000000000000000000000000000000000000aa' }),
        "transaction's size is higher than defined maximum: 131185 > 131072",
      ],
      [
        tx(0, 0, { ...wrong, data: new Uint8Array(9) }),
        "transaction's gas limit of 9000000 is higher than the block's gas limit of 6800000",
      ],
      [tx(0, 0, { gasLimit: 1n, gasPrice: 10n ** 20n }), 'transaction nonce too low'],
      [tx(0, 19, { gasPrice: 10n ** 20n }), 'transaction nonce too high'],
      [tx(0, 3, { gasPrice: 10n ** 20n }), 'insufficient funds'],
      [tx(0, 3, { gasLimit: 1n, gasPrice: 0n }), "transaction's gas price lower than block's minimum"],
      [tx(0, 3, { gasLimit: 1n, gasPrice: 81n }), "transaction's basic cost is above the gas limit"],
    ]
    for (const [transaction, words] of steps) expect(refusalOf(transaction, context)).toBe(words)
  })
})

describe('replacement', () => {
  it.each([
    [139n, 100n, false],
    [140n, 100n, true],
    [0x8bn, 0x64n, false],
    [0x8cn, 0x64n, true],
    [0n, 0n, false],
    [1n, 0n, true],
    [1n, 1n, false],
    [2n, 1n, true],
    [99n, 100n, false],
  ])('a price of %d for one of %d: %s', (price, replaced, allowed) => {
    expect(replacementRefusal(price, replaced)).toBe(
      allowed ? undefined : 'gas price not enough to bump transaction',
    )
  })
})
