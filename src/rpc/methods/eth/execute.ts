/** Methods that run a message without sending it (docs/internals/rpc-reference.md#74-calls-and-estimates). */
import { z } from 'zod'
import { fromBigIntFixed } from '../../../encoding/bytes.ts'
import { toHex, toQuantity } from '../../../encoding/hex.ts'
import { invalidParams } from '../../../errors.ts'
import { andThen } from '../../../maybe-promise.ts'
import { requireCallable } from '../../block-lookup.ts'
import { timeLeft } from '../../deadlines.ts'
import { type Context, method, requireStateOverride } from '../../method.ts'
import { optional } from '../../parameter.ts'
import { CallBlock, EstimateBlock } from '../../wire/block-reference.ts'
import { type CallArgument, CallObject } from '../../wire/call.ts'
import { requireSupported, SentOverrideSet } from '../../wire/overrides.ts'
import { AddressText, DataText, HashText, QuantityText } from '../../wire/scalars.ts'
import { COW, COW1, NOBODY } from '../example-accounts.ts'

/** What an estimate asks of the sender's balance: of Hardhat nothing, of Anvil (1.7.1) as that node does. */
const FUNDS_RULES = { rsk: 'cost', hardhat: 'none', anvil: 'allowance' } as const

/**
 * Throws `invalid-params` for a creation when the profile only simulates calls
 * (docs/internals/rpc-reference.md#10-hosted-profile).
 */
function requireReceiver({ to }: CallArgument, { options }: Context): void {
  if (options.profile === 'hosted' && to === undefined) {
    throw invalidParams(
      'Invalid transaction.to: expected an address; the hosted profile simulates calls only.',
    )
  }
}

export const eth_call = method({
  name: 'eth_call',
  hosted: true,
  heavy: true,
  summary: 'Runs a message on the state of a block and returns its output, without changing the state.',
  params: {
    transaction: CallObject,
    block: optional(CallBlock, 'latest'),
    stateOverrides: optional(SentOverrideSet, {}),
  },
  result: () => DataText,
  errors: ['block-not-found', 'reverted'],
  examples: [
    { params: [{ to: NOBODY }, 'latest'], result: '0x' },
    {
      params: [{ to: NOBODY }, 'latest', { [NOBODY]: { code: '0x600160005260206000f3' } }],
      result: `0x${'1'.padStart(64, '0')}`,
    },
  ],
  run({ transaction, block, stateOverrides }, context) {
    const { engine } = context
    if (stateOverrides.size > 0) requireStateOverride(context)
    requireReceiver(transaction, context)
    requireCallable(block, engine.queries)
    const overrides = stateOverrides.size > 0 ? requireSupported(stateOverrides, 'stateOverrides') : undefined
    const output = engine.queries.call(transaction, block.reference, overrides, timeLeft(context))
    return andThen(output, toHex)
  },
})

export const eth_estimateGas = method({
  name: 'eth_estimateGas',
  hosted: true,
  heavy: true,
  summary: 'Gas that a transaction needs to succeed.',
  params: { transaction: CallObject, block: optional(EstimateBlock, 'latest') },
  result: () => QuantityText,
  errors: ['block-not-found', 'reverted', 'insufficient-funds'],
  examples: [{ params: [{ from: COW, to: COW1, value: '0x1' }], result: '0x5208' }],
  async run({ transaction, block }, context) {
    const { engine, options } = context
    requireReceiver(transaction, context)
    requireCallable(block, engine.queries)
    const { estimateGas } = engine.queries
    const fundsRule = FUNDS_RULES[options.dialect]
    return toQuantity(await estimateGas(transaction, block.reference, fundsRule, timeLeft(context)))
  },
})

export const eth_createAccessList = method({
  name: 'eth_createAccessList',
  heavy: true,
  summary:
    'Accounts and slots that a message touches, and the gas that it uses; `error` is the reason when it fails.',
  params: { transaction: CallObject, block: optional(CallBlock, 'latest') },
  result: () =>
    z.strictObject({
      accessList: z.array(z.strictObject({ address: AddressText, storageKeys: z.array(HashText) })),
      gasUsed: QuantityText,
      error: z.string().optional(),
    }),
  errors: ['block-not-found'],
  examples: [
    { params: [{ from: COW, to: COW1, value: '0x1' }], result: { accessList: [], gasUsed: '0x5208' } },
  ],
  async run({ transaction, block }, context) {
    const { engine } = context
    requireCallable(block, engine.queries)
    const { entries, simulation } = await engine.queries.accessList(
      transaction,
      block.reference,
      timeLeft(context),
    )
    const { failure, gasUsed, refund } = simulation
    const back = refund < gasUsed / 2n ? refund : gasUsed / 2n
    return {
      accessList: entries.map(({ address, slots }) => ({
        address,
        storageKeys: slots.map((slot) => toHex(fromBigIntFixed(slot, 32))),
      })),
      gasUsed: toQuantity(gasUsed - back),
      ...(failure && { error: failure.reason }),
    }
  },
})

/** The methods of this file, in the order of the document. */
export const EXECUTE_METHODS = [eth_call, eth_estimateGas, eth_createAccessList] as const
