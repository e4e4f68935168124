/** All names that the node knows: of functions, events and errors by selector and by address, and of contracts by their code. */
import { keccakHex } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { type Artifact, codeKey } from './artifact.ts'
import { type AbiCodec, type AbiValue, loadAbiCodec } from './codec.ts'
import { type AbiEntry, type AbiParameter, selectorOf, topicOf } from './entry.ts'
import { valuesText } from './value-text.ts'

/** Something decoded: its name, and its values beside their parameters. */
export interface Decoded {
  readonly name: string
  readonly parameters: readonly AbiParameter[]
  readonly values: readonly AbiValue[]
}

/** A decoded call; `outputs` says what it will return. */
export interface DecodedCall extends Decoded {
  readonly outputs: readonly AbiParameter[]
}

/** A log as decoding needs it. */
interface LogData {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}

/** Names, fed from artifacts and asked for words; whatever it does not know is `undefined`. */
export interface AbiRegistry {
  /** Has nothing been fed? */
  readonly isEmpty: boolean
  /** Takes in a contract; later ones come first where two name the same. */
  add(artifact: Artifact): Promise<void>
  /** Takes in the contract at an address; names there are its own before all others. */
  bind(address: Hex, artifact: Artifact): Promise<void>
  call(input: Uint8Array, address?: Hex): DecodedCall | undefined
  /** What a call returned, as text. */
  returned(call: DecodedCall, output: Uint8Array): string | undefined
  event(log: LogData): Decoded | undefined
  /** A custom error of a revert's payload. */
  error(payload: Uint8Array, address?: Hex): Decoded | undefined
  /** The contract that this init code makes, with the arguments of its constructor. */
  creation(initcode: Uint8Array): Decoded | undefined
  /** Name of the contract at an address; `code` is what stands there. */
  contractName(address: Hex, code?: Uint8Array): string | undefined
}

/** Longest text of something decoded, characters. */
const MAX_TEXT = 2000

/** `name(a: 1, b: 2)`. */
export function decodedText({ name, parameters, values }: Decoded): string {
  const text = `${name}(${valuesText(parameters, values)})`
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

/** Entries of one contract or of all, by what they are called by; the latest first. */
class Names {
  readonly functions = new Map<Hex, AbiEntry[]>()
  readonly errors = new Map<Hex, AbiEntry[]>()
  readonly events = new Map<Hex, AbiEntry[]>()

  add(entry: AbiEntry): void {
    if (entry.kind === 'constructor' || (entry.kind === 'event' && entry.anonymous)) return
    const table = { function: this.functions, error: this.errors, event: this.events }[entry.kind]
    const key = entry.kind === 'event' ? topicOf(entry) : selectorOf(entry)
    const known = table.get(key) ?? []
    const shape = JSON.stringify(entry)
    table.set(key, [entry, ...known.filter((other) => JSON.stringify(other) !== shape)])
  }
}

/** Values that do not fit a topic are logged by their hash. */
function isHashed({ type }: AbiParameter): boolean {
  return type === 'string' || type === 'bytes' || type.startsWith('tuple') || type.endsWith(']')
}

const HASHED: Omit<AbiParameter, 'name'> = { type: 'bytes32', components: [], indexed: true }

/** Where the values of an event stand: in its topics, or together in its data. */
interface EventLayout {
  readonly parameters: readonly AbiParameter[]
  readonly plain: readonly AbiParameter[]
  readonly topics: readonly (readonly AbiParameter[])[]
}

/** Makes an empty registry. */
export function createAbiRegistry(): AbiRegistry {
  const all = new Names()
  const bound = new Map<Hex, { readonly names: Names; readonly name: string }>()
  const contracts = new Map<string, Artifact>()
  const creations = new Map<string, Artifact>()
  let codec: AbiCodec | undefined

  function candidates(
    table: 'functions' | 'errors' | 'events',
    key: Hex,
    address: Hex | undefined,
  ): readonly AbiEntry[] {
    const own = address === undefined ? undefined : bound.get(address)?.names[table].get(key)
    const others = all[table].get(key)
    return own === undefined ? (others ?? []) : [...own, ...(others ?? [])]
  }

  function decodeArguments(
    table: 'functions' | 'errors',
    bytes: Uint8Array,
    address: Hex | undefined,
  ): { entry: AbiEntry; values: readonly AbiValue[] } | undefined {
    if (codec === undefined || bytes.length < 4) return undefined
    for (const entry of candidates(table, toHex(bytes.subarray(0, 4)), address)) {
      const values = codec.decode(entry.inputs, bytes.subarray(4))
      if (values !== undefined) return { entry, values }
    }
    return undefined
  }

  const layouts = new WeakMap<AbiEntry, EventLayout>()
  function layoutOf(entry: AbiEntry): EventLayout {
    const known = layouts.get(entry)
    if (known !== undefined) return known
    const parameters = entry.inputs.map((input) =>
      input.indexed && isHashed(input) ? { ...HASHED, name: input.name } : input,
    )
    const layout = {
      parameters,
      plain: parameters.filter(({ indexed }) => !indexed),
      topics: parameters.filter(({ indexed }) => indexed).map((parameter) => [parameter]),
    }
    layouts.set(entry, layout)
    return layout
  }

  function decodeEvent(entry: AbiEntry, { topics, data }: LogData, by: AbiCodec): Decoded | undefined {
    const { parameters, ...layout } = layoutOf(entry)
    if (layout.topics.length !== topics.length - 1) return undefined
    const plain = by.decode(layout.plain, data)
    if (plain === undefined) return undefined
    const indexed = layout.topics.map((list, i) => by.decode(list, fromHex(topics[i + 1] as Hex))?.[0])
    if (indexed.includes(undefined)) return undefined
    let topic = 0
    let at = 0
    const values = parameters.map(
      (parameter) => (parameter.indexed ? indexed[topic++] : plain[at++]) as AbiValue,
    )
    return { name: entry.name, parameters, values }
  }

  async function add(artifact: Artifact): Promise<void> {
    codec ??= await loadAbiCodec()
    for (const entry of artifact.entries) all.add(entry)
    if (artifact.name === '') return
    if (artifact.codeKey !== undefined) contracts.set(artifact.codeKey, artifact)
    if (artifact.creation !== undefined) creations.set(artifact.creation.hash, artifact)
  }

  return {
    get isEmpty() {
      return codec === undefined
    },
    add,
    async bind(address, artifact) {
      await add(artifact)
      const names = new Names()
      for (const entry of artifact.entries) names.add(entry)
      bound.set(address, { names, name: artifact.name })
    },
    call(input, address) {
      const found = decodeArguments('functions', input, address)
      if (found === undefined) return undefined
      const { entry, values } = found
      return { name: entry.name, parameters: entry.inputs, values, outputs: entry.outputs }
    },
    returned({ outputs }, output) {
      const values = outputs.length === 0 ? undefined : codec?.decode(outputs, output)
      return values && valuesText(outputs, values)
    },
    event(log) {
      const [topic] = log.topics
      if (codec === undefined || topic === undefined) return undefined
      for (const entry of candidates('events', topic, log.address)) {
        const decoded = decodeEvent(entry, log, codec)
        if (decoded !== undefined) return decoded
      }
      return undefined
    },
    error(payload, address) {
      const found = decodeArguments('errors', payload, address)
      return found && { name: found.entry.name, parameters: found.entry.inputs, values: found.values }
    },
    creation(initcode) {
      for (const { name, entries, creation } of creations.values()) {
        if (creation === undefined || creation.length > initcode.length) continue
        const code = initcode.subarray(0, creation.length)
        if (toHex(code.subarray(-32)) !== creation.end || keccakHex(code) !== creation.hash) continue
        const parameters = entries.find(({ kind }) => kind === 'constructor')?.inputs ?? []
        const values = codec?.decode(parameters, initcode.subarray(creation.length))
        return values === undefined ? { name, parameters: [], values: [] } : { name, parameters, values }
      }
      return undefined
    },
    contractName(address, code) {
      const known = bound.get(address)?.name
      if (known !== undefined && known !== '') return known
      const key = code === undefined ? undefined : codeKey(code)
      return key === undefined ? undefined : contracts.get(key)?.name
    },
  }
}
