/** All names that the node knows: of functions, events and errors by selector and by address, and of contracts by their code. */
import { keccakHex } from '../encoding/hash.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import { type Artifact, codeKey } from './artifact.ts'
import { type AbiCodec, type AbiValue, loadAbiCodec } from './codec.ts'
import type { AbiEntry } from './entry.ts'
import { type Decoded, type DecodedCall, EventDecoder, type LogData } from './event-decoder.ts'
import { KnownNames, type NameTable } from './known-names.ts'
import type { StorageLayout } from './storage/layout.ts'
import { valuesText } from './value-text.ts'

export type { Decoded, DecodedCall } from './event-decoder.ts'

/** Decodes calls, logs and errors by the ABIs of known contracts; what it does not know is `undefined`. */
export interface AbiRegistry {
  /** Whether it knows no contract. */
  readonly isEmpty: boolean
  /** Adds a contract for good. Where contracts share a selector or topic, the latest comes first. */
  add(artifact: Artifact): Promise<void>
  /**
   * Registers a contract; with an address, for that address alone, where its names come before all others. Registered
   * contracts come before added ones. Their number is bounded: the oldest are evicted. Throws an Error that tells the
   * limit when the artifact is too large.
   */
  register(artifact: Artifact, address?: Hex): Promise<void>
  /** An independent copy. */
  copy(): AbiRegistry
  call(input: Uint8Array, address?: Hex): DecodedCall | undefined
  /** The values that a call returned, in order of its outputs. */
  returnedValues(call: DecodedCall, output: Uint8Array): readonly AbiValue[] | undefined
  /** What a call returned, as text. */
  returned(call: DecodedCall, output: Uint8Array): string | undefined
  event(log: LogData): Decoded | undefined
  /** A custom error of a revert's payload. */
  error(payload: Uint8Array, address?: Hex): Decoded | undefined
  /** The contract that this init code makes, with the arguments of its constructor. */
  creation(initcode: Uint8Array): Decoded | undefined
  /** Name of the contract at an address; `code` is the code there. */
  contractName(address: Hex, code?: Uint8Array): string | undefined
  /** The contract at an address; `code` is the code there. */
  contractAt(address: Hex, code?: Uint8Array): Artifact | undefined
  /** The layout of the contract at an address; `code` is the code there. */
  layoutAt(address: Hex, code?: Uint8Array): StorageLayout | undefined
  /** All contracts: first the registered ones, the latest first, then the added ones. `address` is that of a registration. */
  contracts(): Generator<{ readonly artifact: Artifact; readonly address?: Hex }>
}

/** Bytes of a word of constructor arguments. */
const WORD_BYTES = 32

/** Longest text of something decoded, characters. */
const MAX_TEXT = 2000

/** `name(a: 1, b: 2)`. */
export function decodedText({ name, parameters, values }: Decoded): string {
  const text = `${name}(${valuesText(parameters, values)})`
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
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

/** The initial contents of a copy. */
interface Contents {
  readonly codec: AbiCodec | undefined
  /** In the order of their addition. */
  readonly added: readonly Artifact[]
  readonly registrations: Iterable<readonly [key: string, registration: Registration]>
}

/** Makes an empty registry; by default 4096 contracts of 8 Mi characters may be registered. */
export function createAbiRegistry(bounds: RegistrationBounds = {}): AbiRegistry {
  return new NameRegistry(bounds, { codec: undefined, added: [], registrations: [] })
}

/**
 * A registry that reads from a shared one, which must not change from then on, and copies it before its own first change.
 * Copying it takes constant time: the copy reads from the same registry.
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
      // An empty registry still loads its codec at the first registration, which would change what is shared.
      if (names.isEmpty) return names.copy()
      isShared = true
      return copyOnWrite(names)
    },
    call: (input, address) => names.call(input, address),
    returnedValues: (call, output) => names.returnedValues(call, output),
    returned: (call, output) => names.returned(call, output),
    event: (log) => names.event(log),
    error: (payload, address) => names.error(payload, address),
    creation: (initcode) => names.creation(initcode),
    contractName: (address, code) => names.contractName(address, code),
    contractAt: (address, code) => names.contractAt(address, code),
    layoutAt: (address, code) => names.layoutAt(address, code),
    contracts: () => names.contracts(),
  }
}

/** A layout has big integers, and a map of its types. */
function toPlain(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Map ? [...value] : value
}

class NameRegistry implements AbiRegistry {
  readonly #bounds: RegistrationBounds
  readonly #most: number
  readonly #mostText: number
  /** Added contracts in the order of their addition, and their names. */
  readonly #artifacts: Artifact[] = []
  readonly #added = new KnownNames()
  /** By the hash of their content, the oldest first. */
  readonly #registrations = new Map<string, Registration>()
  readonly #registered = new KnownNames()
  readonly #byAddress = new Map<Hex, Registration>()
  readonly #events = new EventDecoder()
  /** Characters of all registrations. */
  #length = 0
  #codec: AbiCodec | undefined

  constructor(bounds: RegistrationBounds, { codec, added, registrations }: Contents) {
    this.#bounds = bounds
    this.#most = bounds.most ?? 4096
    this.#mostText = bounds.mostText ?? 8_388_608
    this.#codec = codec
    for (const artifact of added) this.#addNow(artifact)
    for (const [key, registration] of registrations) {
      this.#length += registration.length
      this.#enter(key, registration)
    }
  }

  get isEmpty(): boolean {
    return this.#codec === undefined
  }

  async add(artifact: Artifact): Promise<void> {
    this.#codec ??= await loadAbiCodec()
    this.#addNow(artifact)
  }

  async register(artifact: Artifact, address?: Hex): Promise<void> {
    const [key, registration] = this.#registrationOf(artifact, address)
    this.#codec ??= await loadAbiCodec()
    if (!this.#registrations.delete(key)) this.#length += registration.length
    this.#enter(key, registration)
    for (const [oldest, evicted] of this.#registrations) {
      if (this.#registrations.size <= this.#most && this.#length <= this.#mostText) return
      this.#evict(oldest, evicted)
    }
  }

  copy(): AbiRegistry {
    return new NameRegistry(this.#bounds, {
      codec: this.#codec,
      added: this.#artifacts,
      registrations: this.#registrations,
    })
  }

  call(input: Uint8Array, address?: Hex): DecodedCall | undefined {
    const found = this.#decodeArguments('functions', input, address)
    if (found === undefined) return undefined
    const { entry, values } = found
    return { name: entry.name, parameters: entry.inputs, values, outputs: entry.outputs }
  }

  returnedValues({ outputs }: DecodedCall, output: Uint8Array): readonly AbiValue[] | undefined {
    return outputs.length === 0 ? undefined : this.#codec?.decode(outputs, output)
  }

  returned(call: DecodedCall, output: Uint8Array): string | undefined {
    const values = this.returnedValues(call, output)
    return values && valuesText(call.outputs, values)
  }

  event(log: LogData): Decoded | undefined {
    const [topic] = log.topics
    if (this.#codec === undefined || topic === undefined) return undefined
    for (const entry of this.#candidates('events', topic, log.address)) {
      const decoded = this.#events.decode(entry, log, this.#codec)
      if (decoded !== undefined) return decoded
    }
    return undefined
  }

  error(payload: Uint8Array, address?: Hex): Decoded | undefined {
    const found = this.#decodeArguments('errors', payload, address)
    return found && { name: found.entry.name, parameters: found.entry.inputs, values: found.values }
  }

  creation(initcode: Uint8Array): Decoded | undefined {
    for (const { name, entries, creation } of this.#creations(initcode)) {
      if (creation === undefined) continue
      const code = initcode.subarray(0, creation.length)
      if (toHex(code.subarray(-WORD_BYTES)) !== creation.end || keccakHex(code) !== creation.hash) continue
      const parameters = entries.find(({ kind }) => kind === 'constructor')?.inputs ?? []
      const values = this.#codec?.decode(parameters, initcode.subarray(creation.length))
      return values === undefined ? { name, parameters: [], values: [] } : { name, parameters, values }
    }
    return undefined
  }

  contractName(address: Hex, code?: Uint8Array): string | undefined {
    const known = this.#byAddress.get(address)?.artifact.name
    return known !== undefined && known !== '' ? known : this.#contractOf(code)?.name
  }

  contractAt(address: Hex, code?: Uint8Array): Artifact | undefined {
    return this.#byAddress.get(address)?.artifact ?? this.#contractOf(code)
  }

  layoutAt(address: Hex, code?: Uint8Array): StorageLayout | undefined {
    const given = this.#byAddress.get(address)?.artifact.layout
    const key = given !== undefined || code === undefined ? undefined : codeKey(code)
    return key === undefined ? given : (this.#registered.layout(key) ?? this.#added.layout(key))
  }

  *contracts(): Generator<{ readonly artifact: Artifact; readonly address?: Hex }> {
    for (const { artifact, address } of [...this.#registrations.values()].reverse()) {
      yield address === undefined ? { artifact } : { artifact, address }
    }
    for (const artifact of this.#artifacts) yield { artifact }
  }

  #addNow(artifact: Artifact): void {
    this.#artifacts.push(artifact)
    this.#added.add(artifact)
  }

  #enter(key: string, registration: Registration): void {
    this.#registrations.set(key, registration)
    this.#registered.add(registration.artifact)
    if (registration.address !== undefined) this.#byAddress.set(registration.address, registration)
  }

  #evict(key: string, { artifact, address, length }: Registration): void {
    this.#registrations.delete(key)
    this.#length -= length
    this.#registered.remove(artifact)
    if (address !== undefined && this.#byAddress.get(address)?.artifact === artifact) {
      this.#byAddress.delete(address)
    }
  }

  /** A repeated registration replaces the earlier one, so that repetition evicts no other. */
  #registrationOf(artifact: Artifact, address: Hex | undefined): [key: string, registration: Registration] {
    const text = JSON.stringify(artifact, toPlain)
    if (text.length > this.#mostText) {
      throw new Error(`it has ${text.length} characters of names, and there is room for ${this.#mostText}`)
    }
    const key = keccakHex(new TextEncoder().encode(`${address} ${text}`))
    const known = this.#registrations.get(key)
    if (known !== undefined) return [key, known]
    const own = address === undefined ? undefined : new KnownNames()
    own?.add(artifact)
    return [key, { artifact, address, own, length: text.length }]
  }

  /** Entries with a selector or topic: those of the address first, then registered ones, then added ones. */
  #candidates(table: NameTable, key: Hex, address: Hex | undefined): readonly AbiEntry[] {
    const own = address === undefined ? undefined : this.#byAddress.get(address)?.own?.entries(table, key)
    const registered = this.#registered.entries(table, key)
    const added = this.#added.entries(table, key)
    return own === undefined && registered.length === 0 ? added : [...(own ?? []), ...registered, ...added]
  }

  #decodeArguments(
    table: Exclude<NameTable, 'events'>,
    bytes: Uint8Array,
    address: Hex | undefined,
  ): { entry: AbiEntry; values: readonly AbiValue[] } | undefined {
    if (this.#codec === undefined || bytes.length < 4) return undefined
    for (const entry of this.#candidates(table, toHex(bytes.subarray(0, 4)), address)) {
      const values = this.#codec.decode(entry.inputs, bytes.subarray(4))
      if (values !== undefined) return { entry, values }
    }
    return undefined
  }

  /** Contracts whose creation code may be the start of init code: the arguments behind it are whole words. */
  *#creations(initcode: Uint8Array): Generator<Artifact> {
    for (const names of [this.#registered, this.#added]) {
      for (let length = initcode.length; length >= WORD_BYTES; length -= WORD_BYTES) {
        yield* names.creationsOf(length)
      }
    }
  }

  /** The named contract with this code. */
  #contractOf(code: Uint8Array | undefined): Artifact | undefined {
    const key = code === undefined ? undefined : codeKey(code)
    return key === undefined ? undefined : (this.#registered.contract(key) ?? this.#added.contract(key))
  }
}
