/** Sends a transaction if the state is what its sender expects (EIP-7796). */
import type { Engine } from '../../../engine/engine.ts'
import { NodeError } from '../../../errors.ts'
import { method } from '../../method.ts'
import { ConditionObject, type TransactionCondition } from '../../wire/condition.ts'
import { Data, HashText } from '../../wire/scalars.ts'
import { answer, readSigned, refuseTyped } from './submit.ts'

function unmet(reason: string): NodeError {
  return new NodeError('transaction-refused', `transaction condition is not met: ${reason}`)
}

function checkBounds(name: string, value: number, least: bigint | undefined, most: bigint | undefined): void {
  if (least !== undefined && BigInt(value) < least) throw unmet(`${name} ${value} is below ${least}`)
  if (most !== undefined && BigInt(value) > most) throw unmet(`${name} ${value} is above ${most}`)
}

/** Throws `transaction-refused` when the condition does not hold for the next block on the state after the head. */
async function checkCondition(condition: TransactionCondition, { queries }: Engine): Promise<void> {
  const { knownAccounts, blockNumberMin, blockNumberMax, timestampMin, timestampMax } = condition
  const head = queries.head()
  checkBounds('block number', head.block.header.number + 1, blockNumberMin, blockNumberMax)
  checkBounds('timestamp', queries.nextTimestamp(), timestampMin, timestampMax)
  if (knownAccounts === undefined) return
  const state = await queries.state({ tag: 'latest' })
  if (state === undefined) throw new Error('the head has no state')
  for (const [address, known] of knownAccounts) {
    if (typeof known === 'string') {
      const root = queries.storageHash(head, address)
      if (root !== known) throw unmet(`the storage root of ${address} is ${root}`)
      continue
    }
    for (const [slot, word] of known) {
      if (state.storage(address, slot) !== word)
        throw unmet(`slot ${slot} of ${address} has a different value`)
    }
  }
}

export const eth_sendRawTransactionConditional = method({
  name: 'eth_sendRawTransactionConditional',
  changesState: true,
  counts: 'validTransactions',
  summary:
    'Sends a signed transaction if storage, block number and timestamp meet the given condition (EIP-7796). The condition is checked once, on sending, against the state after the head and the next block.',
  params: { transaction: Data, condition: ConditionObject },
  result: () => HashText,
  errors: ['transaction-refused', 'reverted', 'not-mined', 'mining-refused'],
  examples: [
    {
      params: [
        '0xf85f8001825208947986b3df570230288501eea3d890bd66948c9b79018065a0ed009c50edd6adf86011e28200b5a16eb58f9515c71727eb6500df52ea93f01ba05ef1c506a89b2d519fae419b795524db87c71f6e68a34c52f27cd944e0173cc6',
        { blockNumberMax: '0xa' },
      ],
      result: '0x8a6f66e7e1c0edaa6eafc05bc22f8f3161efefb98e2dae4f638aeb764011674c',
    },
  ],
  async run({ transaction, condition }, context) {
    const { engine, options } = context
    refuseTyped(transaction, context)
    const decoded = readSigned(transaction, engine)
    await checkCondition(condition, engine)
    return answer(await engine.commands.submit(decoded), options)
  },
})

/** The methods of this file, in the order of the document. */
export const CONDITIONAL_METHODS = [eth_sendRawTransactionConditional] as const
