/** What transactions call, in a word: the name of a function by a known ABI or a widespread one, or its selector. */
import { decodeAll } from './decode.ts'
import { byteLength, type Hex } from './format.ts'
import { isRemasc } from './remasc.ts'
import { knownSignature } from './selectors.ts'

/** The members of a transaction that its method is read from. */
export interface Called {
  readonly to: Hex | null
  readonly input: Hex
  readonly gas: Hex
}

/** A method's name, and the whole call where it is decoded. */
export interface Method {
  readonly name: string
  readonly text?: string | undefined
}

function nameOf(called: Called, known: string | undefined): string {
  const { to, input } = called
  if (isRemasc(called)) return 'REMASC'
  if (to === null) return `new ${known ?? 'contract'}`
  if (known !== undefined) return known
  const selector = input.slice(0, 10)
  return byteLength(input) >= 4 ? (knownSignature(selector)?.replace(/\(.*/, '') ?? selector) : 'transfer'
}

/** The methods of transactions, in order. */
export async function methodsOf(transactions: readonly Called[], signal?: AbortSignal): Promise<Method[]> {
  const decoded = await decodeAll(
    transactions.map(({ to, input }) =>
      to === null ? { kind: 'creation', data: input } : { kind: 'call', address: to, data: input },
    ),
    signal,
  )
  return transactions.map((each, i) => ({ name: nameOf(each, decoded[i]?.name), text: decoded[i]?.text }))
}
