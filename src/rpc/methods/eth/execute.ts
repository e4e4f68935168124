/** Methods that run a message without sending it (docs/internals/rpc-reference.md#74-calls-and-estimates). */
import { z } from 'zod'
import { fromBigIntFixed } from '../../../encoding/bytes.ts'
import { toHex, toQuantity } from '../../../encoding/hex.ts'
import { invalidParams } from '../../../errors.ts'
import { andThen } from '../../../maybe-promise.ts'
import { type Context, method } from '../../method.ts'
import { optional, orNull, refuse } from '../../parameter.ts'
import { writtenHex } from '../../raw-json.ts'
import { placedSimulation } from '../../simulation-options.ts'
import { placedRequest } from '../../typed-request.ts'
import { BlockOverrides } from '../../wire/block-overrides.ts'
import { CallBlock, EstimateBlock } from '../../wire/block-reference.ts'
import { type CallArgument, CallObject } from '../../wire/call.ts'
import { NO_OVERRIDES, OverriddenAccounts, StateOverrideSet } from '../../wire/overrides.ts'
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
  summary:
    'Executes a message on the state of a block and returns its output, without changing the state; state and block overrides apply to this call only.',
  params: {
    transaction: CallObject,
    block: optional(CallBlock, 'latest'),
    stateOverrides: optional(orNull(OverriddenAccounts, undefined), {}),
    blockOverrides: optional(BlockOverrides, null),
  },
  result: () => DataText,
  errors: ['block-not-found', 'reverted'],
  examples: [
    { params: [{ to: NOBODY }, 'latest'], result: '0x' },
    {
      params: [{ to: NOBODY }, 'latest', { [NOBODY]: { code: '0x600160005260206000f3' } }],
      result: `0x${'1'.padStart(64, '0')}`,
    },
    {
      params: [{ to: NOBODY }, 'latest', { [NOBODY]: { code: '0x4360005260206000f3' } }, { number: '0x64' }],
      result: `0x${'64'.padStart(64, '0')}`,
    },
  ],
  run({ transaction, block, stateOverrides, blockOverrides }, context) {
    // The reference node refuses null here; Hardhat and Anvil take it for no override.
    if (stateOverrides === undefined && context.options.dialect === 'rsk')
      refuse('stateOverrides', 'an object')
    const sent = { block, stateOverrides: stateOverrides ?? NO_OVERRIDES, blockOverrides }
    const place = placedSimulation(sent, context)
    requireReceiver(transaction, context)
    const request = placedRequest(transaction, context.engine, place)
    return andThen(context.engine.queries.call(request, place.reference, place.options), writtenHex)
  },
})

export const eth_estimateGas = method({
  name: 'eth_estimateGas',
  hosted: true,
  heavy: true,
  pendingInDialects: true,
  summary:
    'Gas limit that a transaction needs to succeed. Without a block on the latest one, with --dialect hardhat or anvil on the pending one.',
  params: {
    transaction: CallObject,
    block: optional(orNull(EstimateBlock, EstimateBlock.read('latest', 'block')), null),
    stateOverrides: optional(StateOverrideSet, null),
    blockOverrides: optional(BlockOverrides, null),
  },
  result: () => QuantityText,
  errors: ['block-not-found', 'reverted', 'insufficient-funds'],
  examples: [{ params: [{ from: COW, to: COW1, value: '0x1' }], result: '0x5208' }],
  async run({ transaction, ...sent }, context) {
    const place = placedSimulation(sent, context)
    requireReceiver(transaction, context)
    const { queries } = context.engine
    const fundsRule = FUNDS_RULES[context.options.dialect]
    const request = placedRequest(transaction, context.engine, place)
    return toQuantity(await queries.estimateGas(request, place.reference, fundsRule, place.options))
  },
})

export const eth_createAccessList = method({
  name: 'eth_createAccessList',
  heavy: true,
  summary:
    'Accounts and slots that a message touches, and the gas that it uses; `error` is the reason when it fails.',
  params: {
    transaction: CallObject,
    block: optional(CallBlock, 'latest'),
    stateOverrides: optional(StateOverrideSet, null),
    blockOverrides: optional(BlockOverrides, null),
  },
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
  async run({ transaction, ...sent }, context) {
    const place = placedSimulation(sent, context)
    const { reference, options } = place
    const request = placedRequest(transaction, context.engine, place)
    const { entries, simulation } = await context.engine.queries.accessList(request, reference, options)
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
