/** Transactions of Ethereum's official tests (fixtures/typed-transactions), and how ours reads them. */
import { decodeTransaction } from '../../src/chain/transaction.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { NodeError } from '../../src/errors.ts'

/** The bytes of a transaction, and what the test states of it. */
export interface TypedVector {
  readonly name: string
  readonly bytes: Hex
  readonly sender?: Hex
  readonly hash?: Hex
  readonly exception?: string
  readonly nonce?: string
  readonly gasLimit?: string
  readonly gasPrice?: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
  readonly value?: string
  readonly to?: string
  readonly data?: Hex
  readonly accessList?: readonly { readonly address: Hex; readonly storageKeys: readonly Hex[] }[]
}

/** Refusals that the state decides, or another chain's base fee and prices; the bytes are well formed. */
const OF_STATE = /INTRINSIC_GAS|INSUFFICIENT|GAS_ALLOWANCE|SENDER_NOT_EOA/
/** No account can pay for so much gas: the balance refuses it, not the form. */
const UNPAYABLE = /GASLIMIT_PRICE_PRODUCT_OVERFLOW/
const WORD = 1n << 256n

const lower = (text: string) => text.toLowerCase()

/** What is stated, as far as it is, and what was read. */
function members(vector: TypedVector, found: ReturnType<typeof decodeTransaction>) {
  const { typed } = found
  const numbers: [string | undefined, bigint | undefined][] = [
    [vector.nonce, found.nonce],
    [vector.gasLimit, found.gasLimit],
    [vector.value, found.value],
    [vector.gasPrice, found.gasPrice],
    [vector.maxFeePerGas, typed?.maxFeePerGas],
    [vector.maxPriorityFeePerGas, typed?.maxPriorityFeePerGas],
  ]
  const lists = typed?.accessList.map(({ address, storageKeys }) => ({ address, storageKeys }))
  const texts: [unknown, unknown][] = [
    [vector.sender && lower(vector.sender), found.from],
    [vector.hash, found.hash],
    [vector.to === undefined ? undefined : lower(vector.to), found.to ?? ''],
    [vector.data, toHex(found.data)],
    [vector.accessList && lower(JSON.stringify(vector.accessList)), lists && lower(JSON.stringify(lists))],
  ]
  return [
    ...numbers.map(([stated, read]) => [stated === undefined ? undefined : BigInt(stated), read] as const),
    ...texts,
  ]
}

/** What is wrong with our reading of a transaction; `undefined` where nothing is. */
export function faultOf(vector: TypedVector): string | undefined {
  const { bytes, exception } = vector
  let found: ReturnType<typeof decodeTransaction>
  try {
    found = decodeTransaction(fromHex(bytes), true)
  } catch (error) {
    const isRefusal = error instanceof NodeError && error.kind === 'invalid-params'
    if (isRefusal && exception !== undefined && !OF_STATE.test(exception)) return undefined
    return `refused: ${error instanceof Error ? error.message : error}`
  }
  if (exception !== undefined && !OF_STATE.test(exception)) {
    const most = found.typed?.maxFeePerGas ?? found.gasPrice
    if (UNPAYABLE.test(exception) && found.gasLimit * most >= WORD) return undefined
    return `accepted in spite of ${exception}`
  }
  const wrong = members(vector, found).find(([stated, read]) => stated !== undefined && stated !== read)
  return wrong && `${wrong[1]} instead of ${wrong[0]}`
}
