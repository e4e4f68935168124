/** How one method of the bridge is described: signature, price, who may call it, and what it answers. */
import { type Hex, toFixedHex } from '../../../encoding/hex.ts'
import { readBytes, readBytesArray, readInt, readWord, readWordArray } from '../abi.ts'
import type { PrecompileEnvironment } from '../precompile.ts'
import type { HeaderChain } from './header-chain.ts'
import type { BridgeStore } from './store.ts'

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

/** Where a method runs. */
export interface BridgeCall {
  readonly args: Arguments
  readonly headers: HeaderChain
  readonly store: BridgeStore
  readonly env: PrecompileEnvironment
}

/** A method. Gas without the price of the data. */
export interface BridgeMethod {
  /** Name and canonical types. */
  readonly signature: string
  readonly gas: bigint | ((args: Arguments, headers: HeaderChain) => bigint)
  /** Answers only simulations. */
  readonly isLocalOnly?: boolean
  /** Serves STATICCALL as well as CALL; the others serve CALL only (RSKIP-417). */
  readonly isView?: boolean
  /** Serves members of the federation only. */
  readonly isForFederators?: boolean
  /** The encoded result. Throws PrecompileFailure. Absent: this node does not simulate it. */
  readonly run?: (call: BridgeCall) => Uint8Array
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
