/** Decodes logs by the entries of events: indexed values from the topics, the others from the data. */
import { fromHex, type Hex } from '../encoding/hex.ts'
import type { AbiCodec, AbiValue } from './codec.ts'
import type { AbiEntry, AbiParameter } from './entry.ts'

/** A decoded call, event or error: its name, and its values with their parameters. */
export interface Decoded {
  readonly name: string
  readonly parameters: readonly AbiParameter[]
  readonly values: readonly AbiValue[]
}

/** A decoded call; `outputs` are the types of its result. */
export interface DecodedCall extends Decoded {
  readonly outputs: readonly AbiParameter[]
}

/** A log to decode. */
export interface LogData {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}

/** Whether an indexed value of this type is logged by its hash, because it does not fit a topic. */
function isHashed({ type }: AbiParameter): boolean {
  return type === 'string' || type === 'bytes' || type.startsWith('tuple') || type.endsWith(']')
}

const HASHED: Omit<AbiParameter, 'name'> = { type: 'bytes32', components: [], indexed: true }

/** Where the values of an event are: in its topics, or together in its data. */
interface EventLayout {
  readonly parameters: readonly AbiParameter[]
  readonly data: readonly AbiParameter[]
  /** One parameter each, as lists for the decoder. */
  readonly topics: readonly (readonly AbiParameter[])[]
}

function layoutOf(entry: AbiEntry): EventLayout {
  const parameters = entry.inputs.map((input) =>
    input.indexed && isHashed(input) ? { ...HASHED, name: input.name } : input,
  )
  return {
    parameters,
    data: parameters.filter(({ indexed }) => !indexed),
    topics: parameters.filter(({ indexed }) => indexed).map((parameter) => [parameter]),
  }
}

/** Decodes logs, and keeps the layouts of the events that it has seen. */
export class EventDecoder {
  readonly #layouts = new WeakMap<AbiEntry, EventLayout>()

  /** The log as an event of this entry; `undefined` when it does not fit. */
  decode(entry: AbiEntry, { topics, data }: LogData, codec: AbiCodec): Decoded | undefined {
    const layout = this.#layoutOf(entry)
    if (layout.topics.length !== topics.length - 1) return undefined
    const plain = codec.decode(layout.data, data)
    if (plain === undefined) return undefined
    const indexed = layout.topics.map((list, i) => codec.decode(list, fromHex(topics[i + 1] as Hex))?.[0])
    if (indexed.includes(undefined)) return undefined
    let topic = 0
    let at = 0
    const values = layout.parameters.map(
      (parameter) => (parameter.indexed ? indexed[topic++] : plain[at++]) as AbiValue,
    )
    return { name: entry.name, parameters: layout.parameters, values }
  }

  #layoutOf(entry: AbiEntry): EventLayout {
    const known = this.#layouts.get(entry)
    if (known !== undefined) return known
    const layout = layoutOf(entry)
    this.#layouts.set(entry, layout)
    return layout
  }
}
