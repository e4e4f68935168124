/** Random scenarios, in the form that the page writes: addresses in lower case, quantities without leading zeros. */
import fc from 'fast-check'
import type { Scenario } from '../../../src/ui/simulation/scenario.ts'

const digits = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes).toString('hex'))
const hex = (text: string) => `0x${text}` as const
const address = digits(20).map(hex)
const word = digits(32).map(hex)
const bytes = fc.uint8Array({ maxLength: 80 }).map((each) => hex(Buffer.from(each).toString('hex')))
const quantity = fc.bigInt(0n, 2n ** 256n - 1n).map((value) => hex(value.toString(16)))
const count = fc.nat()

const message = fc.record(
  {
    from: address,
    to: address,
    data: bytes,
    value: quantity,
    gas: quantity,
    gasPrice: quantity,
    nonce: quantity,
  },
  { requiredKeys: ['to'] },
)
const creation = fc.record({ data: bytes, from: address }, { requiredKeys: ['data'] })
const slots = fc.dictionary(word, word, { minKeys: 1, maxKeys: 3 })
const variable = fc.oneof(
  fc.string(),
  fc.constantFrom('[', '{"a"', '"', ' [1]', '0x12', 'true', '-5'),
  fc.array(fc.oneof(fc.constantFrom('5', '0xff', 'a b', '"'), fc.boolean()), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', "it's"), { maxKeys: 2 }),
)
const path = fc.string({ minLength: 1 }).filter((text) => text === text.trim() && text !== '')
const account = fc
  .record(
    {
      balance: quantity,
      nonce: quantity,
      code: bytes,
      stateDiff: slots,
      variables: fc.dictionary(path, variable, { minKeys: 1, maxKeys: 3 }),
      movePrecompileToAddress: address,
    },
    { requiredKeys: [] },
  )
  .filter((each) => Object.keys(each).length > 0)
const emptied = fc.record(
  { state: fc.oneof(slots, fc.constant({})), code: bytes },
  { requiredKeys: ['state'] },
)
const accounts = fc.dictionary(address, fc.oneof(account, emptied), { minKeys: 1, maxKeys: 3 })

const warp = fc
  .record({ seconds: count, blocks: count, time: count }, { requiredKeys: [] })
  .filter(({ seconds, blocks, time }) =>
    seconds === undefined ? (blocks ?? time) !== undefined : time === undefined,
  )

const off = fc.constantFrom({}, { off: true as const })
const step = fc
  .tuple(
    fc.oneof(
      fc.oneof(message, creation).map((call) => ({ call })),
      fc.oneof(message, creation).map((send) => ({ send })),
      accounts.map((set) => ({ set })),
      warp.map((each) => ({ warp: each })),
    ),
    off,
  )
  .map(([each, mark]) => ({ ...each, ...mark }))

const blockOverrides = fc
  .record(
    {
      number: quantity,
      time: quantity,
      gasLimit: quantity,
      feeRecipient: address,
      difficulty: quantity,
      prevRandao: word,
      baseFeePerGas: quantity,
      blockHash: fc.dictionary(quantity, word, { minKeys: 1, maxKeys: 2 }),
    },
    { requiredKeys: [] },
  )
  .filter((each) => Object.keys(each).length > 0)

const block = fc.oneof(
  fc.constantFrom('latest', 'pending', 'earliest', 'safe', 'finalized'),
  fc.nat().map((height) => hex(height.toString(16))),
  word,
)

/** A scenario. */
export const anyScenario: fc.Arbitrary<Scenario> = fc.record(
  {
    block,
    steps: fc.array(step, { maxLength: 5 }),
    transactionIndex: fc.nat(1000),
    stateOverrides: accounts,
    blockOverrides,
  },
  { requiredKeys: ['block', 'steps'] },
)
