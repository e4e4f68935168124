/** Random situations for differential tests: a few contracts of random bytecode, and a transaction among them. */
import fc from 'fast-check'
import { EMPTY } from '../../src/encoding/bytes.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import type { GivenAccount, Situation } from './differential.ts'
import { COINBASE, ENVIRONMENT, NOBODY, SENDER, transaction } from './execution.ts'
import type { RuleSet } from './oracle-vm.ts'
import { CONTRACTS, HOLLOW, programs } from './random-programs.ts'

const balance = fc.constantFrom(0n, 1n, 10n, 10n ** 18n)

function contract(ruleSet: RuleSet): fc.Arbitrary<GivenAccount> {
  const storage = fc.array(fc.constantFrom(0n, 0n, 1n, 77n, 2n ** 255n), { minLength: 4, maxLength: 4 })
  return fc.record({
    nonce: fc.constantFrom(0n, 1n, 2n ** 64n - 2n),
    balance,
    code: programs(ruleSet),
    storage: storage.map(
      (words) => new Map(words.flatMap((value, i) => (value === 0n ? [] : [[BigInt(i), value] as const]))),
    ),
  })
}

const gasLimit = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 100_000, max: 2_500_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 53_000, max: 150_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 20_000, max: 60_000 }) },
)

/** A plain account. */
function plain(balance: bigint, nonce = 0n): GivenAccount {
  return { nonce, balance, code: EMPTY, storage: new Map() }
}

/** A world of four contracts and a transaction that mostly calls one of them. */
export function situations(ruleSet: RuleSet): fc.Arbitrary<Situation> {
  const code = programs(ruleSet)
  const receiver = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...CONTRACTS).map((to) => ({ to, code: EMPTY })) },
    { weight: 3, arbitrary: code.map((code) => ({ to: null, code })) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom<Hex>(NOBODY, HOLLOW, SENDER, COINBASE, `0x${'3'.padStart(40, '0')}`)
        .map((to) => ({ to, code: EMPTY })),
    },
  )
  // Without fast-check's leaning towards small values: they would mostly end at once.
  return fc.noBias(
    fc
      .record({
        contracts: fc.tuple(contract(ruleSet), contract(ruleSet), contract(ruleSet), contract(ruleSet)),
        receiver,
        data: fc.uint8Array({ maxLength: 68 }),
        value: fc.oneof(
          { weight: 30, arbitrary: fc.constantFrom(0n, 0n, 1n, 10n ** 18n) },
          { weight: 1, arbitrary: fc.constant(10n ** 25n) },
        ),
        gasPrice: fc.constantFrom(0n, 1n, 100_000n),
        gasLimit,
        coinbase: fc.constantFrom(COINBASE, COINBASE, CONTRACTS[1] as Hex, SENDER),
      })
      .map(({ contracts, receiver, data, value, gasPrice, gasLimit, coinbase }) => ({
        accounts: new Map<Hex, GivenAccount>([
          [SENDER, plain(10n ** 24n, 1n)],
          [HOLLOW, plain(0n)],
          ...CONTRACTS.map((address, i) => [address, contracts[i] as GivenAccount] as const),
        ]),
        transaction: transaction({
          to: receiver.to,
          data: receiver.to === null ? receiver.code : data,
          value,
          gasPrice,
          gasLimit: BigInt(gasLimit),
        }),
        env: {
          ...ENVIRONMENT,
          minimumGasPrice: 0n,
          coinbase,
          ancestorHash: (height) => keccakHex(Buffer.from(`${height}`)),
        },
      })),
  )
}
