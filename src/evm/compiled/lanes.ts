/** 256-bit words in WebAssembly: four 64-bit lanes, in locals or known when the code is written. */
import { type FunctionBody, I64, OP } from '../../wasm/function-body.ts'

/** 64 bits: a constant, or the number of a local. */
export type Lane = bigint | number

/** Lowest lane first. */
export type Word = readonly [Lane, Lane, Lane, Lane]

export const LANE_MASK = (1n << 64n) - 1n

export const ZERO: Word = [0n, 0n, 0n, 0n]

/** A word that is known. */
export function constant(value: bigint): Word {
  const lane = (i: bigint) => (value >> (64n * i)) & LANE_MASK
  return [lane(0n), lane(1n), lane(2n), lane(3n)]
}

/** The value of a word that is known; `undefined` of any other. */
export function knownValue(word: Word): bigint | undefined {
  let value = 0n
  for (let i = 3; i >= 0; i--) {
    const lane = word[i] as Lane
    if (typeof lane !== 'bigint') return undefined
    value = (value << 64n) | lane
  }
  return value
}

/** Pushes whether the three upper lanes of the word that begins at a local are not all 0. */
export function pushHigh(body: FunctionBody, first: number): void {
  body.get(first + 1)
  body.get(first + 2)
  body.op(OP.i64_or)
  body.get(first + 3)
  body.op(OP.i64_or, OP.i64_eqz, OP.i32_eqz)
}

const indexes = [0, 1, 2, 3] as const

/** Writes into one function; its locals are used again when no word that is held has them any more. */
export class LaneWriter {
  readonly body: FunctionBody
  /** How many lanes of held words each local is; absent of one that is free. */
  readonly #uses = new Map<number, number>()
  readonly #free: number[] = []
  /** Locals that were taken or let go since the last `freeLocals`. */
  readonly #loose = new Set<number>()

  constructor(body: FunctionBody) {
    this.body = body
  }

  /** A local for a lane. */
  local(): number {
    const local = this.#free.pop() ?? this.body.local(I64)
    this.#uses.set(local, 0)
    this.#loose.add(local)
    return local
  }

  /** Keeps the locals of a word until it is let go as often. */
  hold(word: Word): void {
    for (const lane of word)
      if (typeof lane === 'number') this.#uses.set(lane, (this.#uses.get(lane) ?? 0) + 1)
  }

  /** Lets a held word go. Its locals stay until `freeLocals`. */
  letGo(word: Word): void {
    for (const lane of word) {
      if (typeof lane !== 'number') continue
      this.#uses.set(lane, (this.#uses.get(lane) ?? 0) - 1)
      this.#loose.add(lane)
    }
  }

  /** Frees the locals that no held word has; takes as long as there were changes. */
  freeLocals(): void {
    for (const local of this.#loose) {
      if (this.#uses.get(local) !== 0) continue
      this.#uses.delete(local)
      this.#free.push(local)
    }
    this.#loose.clear()
  }

  push(lane: Lane): void {
    if (typeof lane === 'bigint') this.body.i64(lane)
    else this.body.get(lane)
  }

  /** Pops a lane into a new local. */
  take(): number {
    const local = this.local()
    this.body.set(local)
    return local
  }

  /** The word at the address in a local plus `offset`. */
  load(address: number, offset: number): Word {
    return this.lanes((i) => {
      this.body.get(address)
      this.body.memory(OP.i64_load, offset + 8 * i)
      return this.take()
    })
  }

  store(address: number, offset: number, word: Word): void {
    for (const i of indexes) {
      this.body.get(address)
      this.push(word[i])
      this.body.memory(OP.i64_store, offset + 8 * i)
    }
  }

  /** The word in the EVM's memory at an address on the WebAssembly stack plus `offset`, kept in `scratch`. */
  loadBytes(address: number, offset: number, vector: number): Word {
    const [low, second] = this.#loadReversed(address, offset + 16, vector)
    const [third, highest] = this.#loadReversed(address, offset, vector)
    return [low, second, third, highest]
  }

  /** Two lanes from 16 bytes in reverse order. */
  #loadReversed(address: number, offset: number, vector: number): readonly [number, number] {
    this.body.get(address)
    this.body.loadReversed(offset)
    this.body.set(vector)
    return [this.#extract(vector, 0), this.#extract(vector, 1)]
  }

  #extract(vector: number, half: 0 | 1): number {
    this.body.get(vector)
    this.body.extract(half)
    return this.take()
  }

  storeBytes(address: number, offset: number, word: Word): void {
    for (const [at, low, high] of [
      [16, 0, 1],
      [0, 2, 3],
    ] as const) {
      this.body.get(address)
      this.push(word[low])
      this.body.splat()
      this.push(word[high])
      this.body.replace(1)
      this.body.storeReversed(offset + at)
    }
  }

  protected lanes(make: (i: 0 | 1 | 2 | 3) => Lane): Word {
    return [make(0), make(1), make(2), make(3)]
  }

  protected combined(code: number, x: Lane, y: Lane): number {
    this.push(x)
    this.push(y)
    this.body.op(code)
    return this.take()
  }

  /** A comparison as a lane, 0 or 1. */
  protected compared(code: number, x: Lane, y: Lane): number {
    this.push(x)
    this.push(y)
    this.body.op(code, OP.i64_extend_i32_u)
    return this.take()
  }

  protected flag(): Word {
    this.body.op(OP.i64_extend_i32_u)
    return [this.take(), 0n, 0n, 0n]
  }
}
