/** How one method of the Bridge is described: signature, price, who may call it, and what it answers. */
import type { IsActive } from '../../../chain/activations.ts'
import type { RuleName } from '../../../chain/consensus-rules.ts'
import { type Hex, toFixedHex } from '../../../encoding/hex.ts'
import { readBytes, readBytesArray, readInt, readWord, readWordArray } from '../abi.ts'
import type { PrecompileEnvironment } from '../precompile.ts'
import type { BridgeNetwork } from './constants/network.ts'
import type { Federations } from './federation/federations.ts'
import type { HeaderChain } from './headers/header-chain.ts'
import type { FederationCells } from './storage/federation-cells.ts'
import type { PegCells } from './storage/peg-cells.ts'
import type { BridgeStore } from './storage/store.ts'

type Value = bigint | Uint8Array | readonly Uint8Array[]

const READERS: Readonly<Record<string, (data: Uint8Array, head: number) => Value>> = {
  int256: readInt,
  uint256: readInt,
  bool: readInt,
  address: readInt,
  bytes32: readWord,
  bytes: readBytes,
  string: readBytes,
  'bytes[]': readBytesArray,
  'bytes32[]': readWordArray,
}

/** The arguments of a call; asking for one as a type that it is not throws a TypeError. */
export class Arguments {
  readonly #values: readonly Value[]

  constructor(values: readonly Value[]) {
    this.#values = values
  }

  /** An `int256`; a `uint256` too is read as signed. */
  integer(position: number): bigint {
    const value = this.#values[position]
    if (typeof value !== 'bigint') throw new TypeError(`argument ${position} is no integer`)
    return value
  }

  /** An integer as the reference node reads indices and heights: its low 32 bits, signed. */
  index(position: number): number {
    return Number(BigInt.asIntN(32, this.integer(position)))
  }

  /** A `bool`: any of the low 32 bits. */
  flag(position: number): boolean {
    return this.index(position) !== 0
  }

  /** An `address`: the low 160 bits. */
  address(position: number): Hex {
    return toFixedHex(BigInt.asUintN(160, this.integer(position)), 20)
  }

  /** A `bytes`, `bytes32` or `string`. */
  bytes(position: number): Uint8Array {
    const value = this.#values[position]
    if (!(value instanceof Uint8Array)) throw new TypeError(`argument ${position} is no byte string`)
    return value
  }

  /** A string; bytes that are not ASCII become characters that no check lets pass. */
  text(position: number): string {
    return Buffer.from(this.bytes(position)).toString('latin1')
  }

  /** A `bytes[]` or `bytes32[]`. */
  list(position: number): readonly Uint8Array[] {
    const value = this.#values[position]
    if (!Array.isArray(value)) throw new TypeError(`argument ${position} is no list`)
    return value
  }
}

/** The Bridge as one call finds it: what it keeps and what changes until the call succeeds. */
export interface BridgeState {
  readonly network: BridgeNetwork
  /** Is a rule in force in the executing block? */
  readonly isActive: IsActive
  readonly store: BridgeStore
  readonly headers: HeaderChain
  readonly peg: PegCells
  readonly federationCells: FederationCells
  readonly federations: Federations
}

/** A call of a method. */
export interface BridgeCall extends BridgeState {
  readonly args: Arguments
  readonly env: PrecompileEnvironment
}

/** A method. Gas without the price of the data. */
export interface BridgeMethod {
  /** Name and canonical types. */
  readonly signature: string
  readonly gas: bigint | ((args: Arguments, state: BridgeState) => bigint)
  /** The rule that brings it; absent: it was always there. */
  readonly since?: RuleName
  /** The rule that takes it away. */
  readonly until?: RuleName
  /** Answers only simulations, always or until a rule. */
  readonly isLocalOnly?: boolean | RuleName
  /** Serves STATICCALL as well as CALL; the others serve CALL only (RSKIP-417). */
  readonly isView?: boolean
  /** Serves members only: of the active and the retiring federation, or of the proposed one too. */
  readonly servesOnly?: 'federators' | 'signers'
  /** The rules under which it serves everyone, whatever `servesOnly` says. */
  readonly isPublic?: (isActive: IsActive) => boolean
  /** The encoded result. Throws PrecompileFailure, or a RangeError for malformed data of the parent chain. */
  readonly run: (call: BridgeCall) => Uint8Array
}

/** A reader of arguments by a signature's types. The reader throws a RangeError when they are not all there. */
export function argumentReader(signature: string): (data: Uint8Array) => Arguments {
  const types = signature.slice(signature.indexOf('(') + 1, -1)
  const readers = (types === '' ? [] : types.split(',')).map((type) => {
    const reader = READERS[type]
    if (reader === undefined) throw new Error(`no reader for ${type}`)
    return reader
  })
  return (data) => new Arguments(readers.map((read, i) => read(data, 32 * i)))
}
