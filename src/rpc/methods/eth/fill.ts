/** Fills in a transaction for its sender to sign. */
import { z } from 'zod'
import { encodeUnsigned } from '../../../chain/transaction.ts'
import { TYPE } from '../../../chain/transaction-types.ts'
import { EMPTY } from '../../../encoding/bytes.ts'
import { keccakHex } from '../../../encoding/hash.ts'
import { toHex } from '../../../encoding/hex.ts'
import { timeLeft } from '../../deadlines.ts'
import { method } from '../../method.ts'
import { sendRequest } from '../../signing.ts'
import { asFeeMarket } from '../../typed-request.ts'
import { PricedCallObject } from '../../wire/call.ts'
import { DataText } from '../../wire/scalars.ts'
import { TransactionObject, toRpcTransaction } from '../../wire/transaction.ts'
import { COW, COW1 } from '../example-accounts.ts'

export const eth_fillTransaction = method({
  name: 'eth_fillTransaction',
  answeredBy: 'leader',
  heavy: true,
  summary:
    'Fills in nonce, gas (by estimate on the pending block) and gas price; the RLP with an empty signature, and the transaction object. Where the chain has no typed transactions `maxFeePerGas` becomes the gas price of a legacy one.',
  params: { transaction: PricedCallObject },
  result: () => z.strictObject({ raw: DataText, tx: TransactionObject }),
  errors: ['block-not-found', 'reverted', 'insufficient-funds'],
  examples: [
    {
      params: [{ from: COW, to: COW1, value: '0x1', gasPrice: '0x1' }],
      result: {
        raw: '0xdf8001825208947986b3df570230288501eea3d890bd66948c9b790180808080',
        tx: {
          hash: '0x9da30f3873449bb8cb89f28b0c40d4a9dcb50f9ffbf1cbf53ba1de105750ea1d',
          nonce: '0x0',
          blockHash: null,
          blockNumber: null,
          transactionIndex: null,
          from: COW,
          to: COW1,
          gas: '0x5208',
          gasPrice: '0x1',
          value: '0x1',
          input: '0x',
          v: '0x0',
          r: '0x0',
          s: '0x0',
          type: '0x0',
        },
      },
    },
  ],
  async run({ transaction }, context) {
    const { queries, config } = context.engine
    const request = sendRequest(asFeeMarket(transaction, context.engine), context.engine)
    const { from, to = null, value = 0n, data = EMPTY, type = TYPE.legacy, typed } = request
    const gasPrice = request.gasPrice ?? queries.gasPrice()
    const priced = { ...request, gasPrice }
    const filled = {
      nonce: request.nonce ?? queries.pendingNonce(from),
      gasPrice,
      gasLimit:
        request.gas ??
        (await queries.estimateGas(priced, { tag: 'pending' }, 'cost', { timeoutMs: timeLeft(context) })),
      to,
      value,
      data,
      chainId: config.chainId,
      type,
      typed,
    }
    const raw = encodeUnsigned(filled)
    const tx = { ...filled, hash: keccakHex(raw), from, v: 0, r: 0n, s: 0n, raw, isRemasc: false }
    return { raw: toHex(raw), tx: toRpcTransaction(tx) }
  },
})

/** The methods of this file, in the order of the document. */
export const FILL_METHODS = [eth_fillTransaction] as const
