/**
 * What the page simulates, in the form of its files: the block, overrides, and steps as `evm_simulate` takes them, and
 * beside each whether it is switched off.
 */
import {
  ADDRESS,
  BYTES,
  countShape,
  JSON_VALUE,
  listShape,
  objectShape,
  patternShape,
  QUANTITY,
  recordShape,
  refined,
  type Shaped,
  shaped,
  TRUE,
  textShape,
  WORD,
} from './shapes.ts'

/** Steps of a scenario, accounts of a set of overrides, and slots or variables of an account. */
export const MOST_STEPS = 100
const MOST_ACCOUNTS = 200
const MOST_SLOTS = 1000
/** Characters of the path of a variable. */
const MOST_PATH = 4096
/** Blocks or seconds of a step, and transactions of a block. */
const MOST_COUNT = 2 ** 40

const BLOCK = patternShape(
  'a block: latest, pending, earliest, safe, finalized, a height in hex, or a hash',
  /^(?:latest|pending|earliest|safe|finalized|0x(?:0|[1-9a-f][0-9a-f]{0,15})|0x[0-9a-f]{64})$/i,
)

const MESSAGE = objectShape(
  {},
  {
    from: ADDRESS,
    to: ADDRESS,
    data: BYTES,
    value: QUANTITY,
    gas: QUANTITY,
    gasPrice: QUANTITY,
    nonce: QUANTITY,
  },
)
/** A message that is called or sent. */
export type ScenarioMessage = Shaped<typeof MESSAGE>

const SLOTS = recordShape(WORD, WORD, MOST_SLOTS)
const ACCOUNT = refined(
  objectShape(
    {},
    {
      balance: QUANTITY,
      nonce: QUANTITY,
      code: BYTES,
      state: SLOTS,
      stateDiff: SLOTS,
      variables: recordShape(textShape(MOST_PATH), JSON_VALUE, MOST_SLOTS),
      movePrecompileToAddress: ADDRESS,
    },
  ),
  ({ state, stateDiff }) =>
    state !== undefined && stateDiff !== undefined ? 'state and stateDiff exclude each other' : undefined,
)
/** The overrides of an account. */
export type AccountOverrides = Shaped<typeof ACCOUNT>

const ACCOUNTS = recordShape(ADDRESS, ACCOUNT, MOST_ACCOUNTS)
/** Overrides by address. */
export type StateOverrides = Shaped<typeof ACCOUNTS>

const BLOCK_OVERRIDES = objectShape(
  {},
  {
    number: QUANTITY,
    time: QUANTITY,
    gasLimit: QUANTITY,
    feeRecipient: ADDRESS,
    difficulty: QUANTITY,
    prevRandao: WORD,
    baseFeePerGas: QUANTITY,
    blockHash: recordShape(QUANTITY, WORD, MOST_SLOTS),
  },
)
/** Overrides of the block's fields. */
export type BlockOverrides = Shaped<typeof BLOCK_OVERRIDES>

const COUNT = countShape(MOST_COUNT)
const WARP = refined(objectShape({}, { seconds: COUNT, blocks: COUNT, time: COUNT }), ({ seconds, time }) =>
  seconds !== undefined && time !== undefined ? 'seconds and time exclude each other' : undefined,
)
/** How the clock and the height move: seconds or blocks forward, or a time in Unix seconds. */
export type Warp = Shaped<typeof WARP>

/** The kinds of steps, in the order of their buttons. */
export const KINDS = ['call', 'send', 'set', 'warp'] as const
export type StepKind = (typeof KINDS)[number]

const STEP = refined(
  objectShape({}, { call: MESSAGE, send: MESSAGE, set: ACCOUNTS, warp: WARP, off: TRUE }),
  (step) =>
    KINDS.filter((kind) => step[kind] !== undefined).length === 1
      ? undefined
      : 'expected exactly one of call, send, set and warp',
)
/** A step; `off` leaves it out of the simulation. */
export type ScenarioStep = Shaped<typeof STEP>

const SCENARIO = objectShape(
  { block: BLOCK, steps: listShape(STEP, MOST_STEPS) },
  { transactionIndex: countShape(1_000_000), stateOverrides: ACCOUNTS, blockOverrides: BLOCK_OVERRIDES },
)
/** Everything that the page simulates. `transactionIndex` is a place in the block: before its transaction of this index. */
export type Scenario = Shaped<typeof SCENARIO>

/** A scenario of a file or a link. Throws an Error with the path of the wrong member. */
export function scenarioFrom(value: unknown): Scenario {
  return shaped(SCENARIO, value)
}

/** Is the text a block parameter? */
export function isBlockText(text: string): boolean {
  return BLOCK.isValue(text)
}

/** The steps that are on, without the mark. */
function stepsOf({ steps }: Scenario): object[] {
  return steps.filter(({ off }) => off !== true)
}

/** The parameters of `evm_simulate`. */
export function parametersOf(scenario: Scenario): readonly [request: object, block: string] {
  const { block, transactionIndex, stateOverrides, blockOverrides } = scenario
  return [
    {
      steps: stepsOf(scenario),
      ...(stateOverrides !== undefined && { stateOverrides }),
      ...(blockOverrides !== undefined && { blockOverrides }),
      ...(transactionIndex !== undefined && { transactionIndex }),
    },
    block,
  ]
}
