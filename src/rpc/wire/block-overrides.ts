/** Overrides of the block that simulated calls run in. */

import { LATEST_TIMESTAMP } from '../../chain/config.ts'
import type { BlockOverrideValues } from '../../execution/request.ts'
import { literals } from '../json-forms.ts'
import { mapped, object, type Parameter, refine, scalar } from '../parameter.ts'
import { Address, Quantity, wholeNumber } from './scalars.ts'

/** Frames count gas in safe integers. */
const MAX_GAS = BigInt(Number.MAX_SAFE_INTEGER)

/** A gas limit of a block that frames can count. */
export const GasLimit = refine(Quantity, { where: (gas) => gas <= MAX_GAS, what: `gas up to ${MAX_GAS}` })

/** Null or absent only. */
const Unsupported = scalar({
  form: literals(null),
  description: 'not supported',
  decode: () => undefined,
  refusal: (_, name) => `${name} is not supported`,
})

/** Null members count as absent; members for fields that blocks of this chain do not have are refused by name. */
export const BlockOverridesObject: Parameter<BlockOverrideValues> = mapped(
  object(
    {
      number: wholeNumber('block number', Number.MAX_SAFE_INTEGER),
      time: wholeNumber('seconds since 1970', LATEST_TIMESTAMP),
      gasLimit: GasLimit,
      feeRecipient: Address,
      coinbase: Address,
      difficulty: Quantity,
      baseFeePerGas: Quantity,
      prevRandao: Unsupported,
      blobBaseFee: Unsupported,
      beaconRoot: Unsupported,
      withdrawals: Unsupported,
    },
    { nullIsAbsent: true },
  ),
  ({ number, time, gasLimit, feeRecipient, coinbase = feeRecipient, difficulty, baseFeePerGas }) => ({
    ...(number !== undefined && { number }),
    ...(time !== undefined && { timestamp: time }),
    ...(gasLimit !== undefined && { gasLimit }),
    ...(coinbase !== undefined && { coinbase }),
    ...(difficulty !== undefined && { difficulty }),
    ...(baseFeePerGas !== undefined && { minimumGasPrice: baseFeePerGas }),
  }),
)
