/** The answer of `evm_simulate`: what each step does and changes. */
import { type Checked, either, isFlag, isNumber, isOneOf, isText, listOf, objectOf } from '../checks.ts'
import { isDecodedItem } from '../decode.ts'
import { isHex } from '../format.ts'
import { isRawFrame } from '../trace.ts'

/** A transfer, or an approval of a spender (`to`) by an owner (`from`). */
export const isAssetChange = objectOf(
  {
    type: isOneOf('native', 'erc20', 'erc721', 'erc1155'),
    change: isOneOf('transfer', 'approve'),
    from: isHex,
    to: isHex,
  },
  {
    amount: isHex,
    tokenId: isHex,
    // Of an approval of all tokens: given, or taken back.
    approved: isFlag,
    token: isHex,
    name: isText,
    symbol: isText,
    decimals: isNumber,
  },
)
export type AssetChange = Checked<typeof isAssetChange>

const isChange = objectOf({ from: isHex, to: isHex })

const isVariable = either(isText, isFlag)

const isStateChange = objectOf(
  { address: isHex },
  {
    balance: isChange,
    nonce: isChange,
    code: isChange,
    storage: listOf(objectOf({ slot: isHex, from: isHex, to: isHex })),
    variables: listOf(objectOf({ path: isText, from: isVariable, to: isVariable })),
  },
)
/** A changed account; a variable's values are JSON. */
export type StateChange = Checked<typeof isStateChange>

const isStepLog = objectOf({ address: isHex, topics: listOf(isHex), data: isHex }, { decoded: isDecodedItem })

const BLOCK = { block: objectOf({ number: isHex, timestamp: isHex }) }

const isMessageOutcome = objectOf(
  {
    kind: isOneOf('call', 'send'),
    ...BLOCK,
    status: isHex,
    returnData: isHex,
    gasUsed: isHex,
    logs: listOf(isStepLog),
    assetChanges: listOf(isAssetChange),
    stateChanges: listOf(isStateChange),
  },
  // A message that could not run has no trace.
  { error: objectOf({ message: isText }, { data: isHex }), contractAddress: isHex, trace: isRawFrame },
)
/** What a message does. */
export type MessageOutcome = Checked<typeof isMessageOutcome>

const isOutcome = either(isMessageOutcome, objectOf({ kind: isOneOf('set', 'warp'), ...BLOCK }))
/** What a step does. */
export type Outcome = Checked<typeof isOutcome>

/** The answer: an outcome for each step. */
export const areOutcomes = listOf(isOutcome)
