/** All names that the node knows: of functions, events and errors by selector and by address, and of contracts by their code. */
import { keccakHex } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { type Artifact, codeKey } from './artifact.ts'
import { type AbiCodec, type AbiValue, loadAbiCodec } from './codec.ts'
import type { AbiEntry, AbiParameter } from './entry.ts'
import { KnownNames, type NameTable } from './known-names.ts'
import { valuesText } from './value-text.ts'

/** Something decoded: its name, and its values beside their parameters. */
export interface Decoded {
  readonly name: string
  readonly parameters: readonly AbiParameter[]
  readonly values: readonly AbiValue[]
}

/** A decoded call; `outputs` are the types of its result. */
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
  /** Takes in a contract for good; later ones come first where two name the same. */
  add(artifact: Artifact): Promise<void>
  /**
   * Takes in a contract, with an address for that one alone, where its names come before all others. Registrations
   * come before what was added, and are bounded: the oldest registrations are evicted.
   * Throws an Error in words for one that is too large to be kept.
   */
  register(artifact: Artifact, address?: Hex): Promise<void>
  /** The same names in a registry of its own. */
  copy(): AbiRegistry
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
  /** What is known of the contract at an address; `code` is what stands there. */
  contractAt(address: Hex, code?: Uint8Array): Artifact | undefined
  /** All contracts: the registered ones, the latest first and some of one address each, then those that were added. */
  contracts(): Generator<{ readonly artifact: Artifact; readonly address?: Hex }>
}

/** Bytes. */
const WORD = 32

/** Longest text of something decoded, characters. */
const MAX_TEXT = 2000

/** `name(a: 1, b: 2)`. */
export function decodedText({ name, parameters, values }: Decoded): string {
  const text = `${name}(${valuesText(parameters, values)})`
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
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

/** How much may be registered. */
export interface RegistrationBounds {
  /** Contracts. */
  readonly most?: number
  /** Characters of their entries as JSON; in memory they take several times that. */
  readonly mostText?: number
}

/** A contract that was registered. */
interface Registration {
  readonly artifact: Artifact
  readonly address: Hex | undefined
  /** Of its address alone. */
  readonly own: KnownNames | undefined
  /** Characters of JSON. */
  readonly length: number
}

/** What a copy of a registry begins with. */
interface Contents {
  readonly codec: AbiCodec | undefined
  /** In the order of their addition. */
  readonly added: readonly Artifact[]
  readonly registrations: Iterable<readonly [key: string, registration: Registration]>
}

/** Makes an empty registry; by default 4096 contracts of 8 Mi characters may be registered. */
export function createAbiRegistry(bounds: RegistrationBounds = {}): AbiRegistry {
  return registryOf(bounds, { codec: undefined, added: [], registrations: [] })
}

/**
 * A registry that reads from another one, which must not change any more, and copies it before its own first change. A
 * copy of it takes the same time however many names there are: it reads from the same registry.
 */
export function copyOnWrite(shared: AbiRegistry): AbiRegistry {
  let names = shared
  let isShared = true
  const own = (): AbiRegistry => {
    if (isShared) names = names.copy()
    isShared = false
    return names
  }
  return {
    get isEmpty() {
      return names.isEmpty
    },
    add: (artifact) => own().add(artifact),
    register: (artifact, address) => own().register(artifact, address),
    copy() {
      // Until the first registration has loaded the codec, it would still change what is shared.
      if (names.isEmpty) return names.copy()
      isShared = true
      return copyOnWrite(names)
    },
    call: (input, address) => names.call(input, address),
    returned: (call, output) => names.returned(call, output),
    event: (log) => names.event(log),
    error: (payload, address) => names.error(payload, address),
    creation: (initcode) => names.creation(initcode),
    contractName: (address, code) => names.contractName(address, code),
    contractAt: (address, code) => names.contractAt(address, code),
    contracts: () => names.contracts(),
  }
}

function registryOf(bounds: RegistrationBounds, from: Contents): AbiRegistry {
  const { most = 4096, mostText = 8_388_608 } = bounds
  const added = new KnownNames()
  const registered = new KnownNames()
  const bound = new Map<Hex, Registration>()
  /** By the hash of all they say, the oldest first. */
  const registrations = new Map<string, Registration>()
  let length = 0
  let codec = from.codec
  const artifacts: Artifact[] = []

  function addArtifact(artifact: Artifact): void {
    artifacts.push(artifact)
    added.add(artifact)
  }

  function enter(key: string, registration: Registration): void {
    registrations.set(key, registration)
    registered.add(registration.artifact)
    if (registration.address !== undefined) bound.set(registration.address, registration)
  }

  for (const artifact of from.added) addArtifact(artifact)
  for (const [key, registration] of from.registrations) {
    length += registration.length
    enter(key, registration)
  }

  function candidates(table: NameTable, key: Hex, address: Hex | undefined): readonly AbiEntry[] {
    const own = address === undefined ? undefined : bound.get(address)?.own?.entries(table, key)
    const late = registered.entries(table, key)
    const early = added.entries(table, key)
    return own === undefined && late.length === 0 ? early : [...(own ?? []), ...late, ...early]
  }

  function forget(key: string, { artifact, address, length: its }: Registration): void {
    registrations.delete(key)
    length -= its
    registered.remove(artifact)
    if (address !== undefined && bound.get(address)?.artifact === artifact) bound.delete(address)
  }

  /** A repeated registration replaces the earlier one, so that repetition evicts no other. */
  function registrationOf(
    artifact: Artifact,
    address: Hex | undefined,
  ): [key: string, registration: Registration] {
    const text = JSON.stringify(artifact)
    if (text.length > mostText) {
      throw new Error(`it has ${text.length} characters of names, and there is room for ${mostText}`)
    }
    const key = keccakHex(new TextEncoder().encode(`${address} ${text}`))
    const known = registrations.get(key)
    if (known !== undefined) return [key, known]
    const own = address === undefined ? undefined : new KnownNames()
    own?.add(artifact)
    return [key, { artifact, address, own, length: text.length }]
  }

  function decodeArguments(
    table: Exclude<NameTable, 'events'>,
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

  /** Contracts whose creation code may stand at the start of init code: arguments behind it are whole words. */
  function* creations(initcode: Uint8Array): Generator<Artifact> {
    for (const names of [registered, added]) {
      for (let length = initcode.length; length >= WORD; length -= WORD) yield* names.creationsOf(length)
    }
  }

  /** The named contract of which the code is. */
  function contractOf(code: Uint8Array | undefined): Artifact | undefined {
    const key = code === undefined ? undefined : codeKey(code)
    return key === undefined ? undefined : (registered.contract(key) ?? added.contract(key))
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

  return {
    get isEmpty() {
      return codec === undefined
    },
    async add(artifact) {
      codec ??= await loadAbiCodec()
      addArtifact(artifact)
    },
    async register(artifact, address) {
      const [key, registration] = registrationOf(artifact, address)
      codec ??= await loadAbiCodec()
      if (!registrations.delete(key)) length += registration.length
      enter(key, registration)
      for (const [oldest, its] of registrations) {
        if (registrations.size <= most && length <= mostText) return
        forget(oldest, its)
      }
    },
    copy: () => registryOf(bounds, { codec, added: artifacts, registrations }),
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
      for (const { name, entries, creation } of creations(initcode)) {
        if (creation === undefined) continue
        const code = initcode.subarray(0, creation.length)
        if (toHex(code.subarray(-WORD)) !== creation.end || keccakHex(code) !== creation.hash) continue
        const parameters = entries.find(({ kind }) => kind === 'constructor')?.inputs ?? []
        const values = codec?.decode(parameters, initcode.subarray(creation.length))
        return values === undefined ? { name, parameters: [], values: [] } : { name, parameters, values }
      }
      return undefined
    },
    contractName(address, code) {
      const known = bound.get(address)?.artifact.name
      return known !== undefined && known !== '' ? known : contractOf(code)?.name
    },
    contractAt: (address, code) => bound.get(address)?.artifact ?? contractOf(code),
    *contracts() {
      for (const { artifact, address } of [...registrations.values()].reverse()) {
        yield address === undefined ? { artifact } : { artifact, address }
      }
      for (const artifact of artifacts) yield { artifact }
    },
  }
}
