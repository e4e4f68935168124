/** Writes the arithmetic of 256-bit words as WebAssembly. */
import { OP } from '../../wasm/function-body.ts'
import { constant, knownValue, LANE_MASK, type Lane, LaneWriter, type Word, ZERO } from './lanes.ts'

const indexes = [0, 1, 2, 3] as const

/** What is known when it is written is computed at once. */
export class WordWriter extends LaneWriter {
  and(a: Word, b: Word): Word {
    return this.#bitwise(a, b, OP.i64_and, (x, y) => x & y, 0n, LANE_MASK)
  }

  or(a: Word, b: Word): Word {
    return this.#bitwise(a, b, OP.i64_or, (x, y) => x | y, LANE_MASK, 0n)
  }

  xor(a: Word, b: Word): Word {
    return this.#bitwise(a, b, OP.i64_xor, (x, y) => x ^ y, undefined, 0n)
  }

  not(a: Word): Word {
    return this.xor(a, [LANE_MASK, LANE_MASK, LANE_MASK, LANE_MASK])
  }

  add(a: Word, b: Word): Word {
    /** What the lower lanes carry: 0 or 1. */
    let carry: Lane = 0n
    return this.lanes((i) => {
      const [x, y] = [a[i], b[i]]
      if (typeof x === 'bigint' && typeof y === 'bigint' && typeof carry === 'bigint') {
        const sum = x + y + carry
        carry = sum >> 64n
        return sum & LANE_MASK
      }
      const isLast = i === 3
      let sum: Lane = x
      let over: Lane = 0n
      if (y !== 0n) {
        if (x === 0n) sum = y
        else {
          const total = this.combined(OP.i64_add, x, y)
          if (!isLast) over = this.compared(OP.i64_lt_u, total, y)
          sum = total
        }
      }
      if (carry !== 0n) {
        const total: Lane = sum === 0n ? carry : this.combined(OP.i64_add, sum, carry)
        if (sum === 0n) over = 0n
        else if (!isLast) {
          const again = this.compared(OP.i64_lt_u, total, carry)
          over = over === 0n ? again : this.combined(OP.i64_or, over, again)
        }
        sum = total
      }
      carry = over
      return sum
    })
  }

  sub(a: Word, b: Word): Word {
    let borrow: Lane = 0n
    return this.lanes((i) => {
      const [x, y] = [a[i], b[i]]
      if (typeof x === 'bigint' && typeof y === 'bigint' && typeof borrow === 'bigint') {
        const difference = x - y - borrow
        borrow = difference < 0n ? 1n : 0n
        return difference & LANE_MASK
      }
      const isLast = i === 3
      let rest: Lane = x
      let under: Lane = 0n
      if (y !== 0n) {
        if (!isLast) under = this.compared(OP.i64_lt_u, x, y)
        rest = this.combined(OP.i64_sub, x, y)
      }
      if (borrow !== 0n) {
        if (!isLast) {
          const again = this.compared(OP.i64_lt_u, rest, borrow)
          under = under === 0n ? again : this.combined(OP.i64_or, under, again)
        }
        rest = this.combined(OP.i64_sub, rest, borrow)
      }
      borrow = under
      return rest
    })
  }

  /** 1 where `a` is less than `b`. */
  less(a: Word, b: Word, isSigned: boolean): Word {
    const { body } = this
    let isWritten = false
    /** The result of the lower lanes when nothing is written yet. */
    let known = false
    for (const i of indexes) {
      const [x, y] = [a[i], b[i]]
      const signed = isSigned && i === 3
      if (typeof x === 'bigint' && typeof y === 'bigint') {
        if (x === y) continue
        if (isWritten) body.op(OP.drop)
        isWritten = false
        known = signed ? BigInt.asIntN(64, x) < BigInt.asIntN(64, y) : x < y
        continue
      }
      // (x == y & lower) | x < y
      const lessThan = signed ? OP.i64_lt_s : OP.i64_lt_u
      if (isWritten || known) {
        if (!isWritten) body.i32(1)
        this.push(x)
        this.push(y)
        body.op(OP.i64_eq, OP.i32_and)
        this.push(x)
        this.push(y)
        body.op(lessThan, OP.i32_or)
      } else {
        this.push(x)
        this.push(y)
        body.op(lessThan)
      }
      isWritten = true
    }
    return isWritten ? this.flag() : constant(known ? 1n : 0n)
  }

  equal(a: Word, b: Word): Word {
    return this.isZero(this.xor(a, b))
  }

  /** 1 where the word is 0. */
  isZero(a: Word): Word {
    const value = knownValue(a)
    if (value !== undefined) return constant(value === 0n ? 1n : 0n)
    if (!this.#pushUnion(a)) return ZERO
    this.body.op(OP.i64_eqz)
    return this.flag()
  }

  /** Pushes an i32 that is not 0 where the word is not 0. */
  pushTruth(a: Word): void {
    const value = knownValue(a)
    if (value !== undefined || !this.#pushUnion(a)) {
      this.body.i32(value === 0n ? 0 : 1)
      return
    }
    this.body.op(OP.i64_eqz, OP.i32_eqz)
  }

  /** Shifts by a number of bits that is known. */
  shiftLeft(a: Word, bits: number): Word {
    return this.#shift(a, bits, 0n, (i, lanes, rest) =>
      this.#funnel(a[i - lanes] ?? 0n, a[i - lanes - 1] ?? 0n, rest),
    )
  }

  shiftRight(a: Word, bits: number): Word {
    return this.#shift(a, bits, 0n, (i, lanes, rest) =>
      rest === 0 ? (a[i + lanes] ?? 0n) : this.#funnel(a[i + lanes + 1] ?? 0n, a[i + lanes] ?? 0n, 64 - rest),
    )
  }

  /** The high 64 bits of `high` and `low` in a row, shifted left by less than 64 bits. */
  #funnel(high: Lane, low: Lane, bits: number): Lane {
    if (bits === 0) return high
    const shift = BigInt(bits)
    if (typeof high === 'bigint' && typeof low === 'bigint') {
      return ((high << shift) | (low >> (64n - shift))) & LANE_MASK
    }
    if (high === 0n) return this.combined(OP.i64_shr_u, low, 64n - shift)
    if (low === 0n) return this.combined(OP.i64_shl, high, shift)
    this.push(high)
    this.body.i64(shift)
    this.body.op(OP.i64_shl)
    this.push(low)
    this.body.i64(64n - shift)
    this.body.op(OP.i64_shr_u, OP.i64_or)
    return this.take()
  }

  #shift(a: Word, bits: number, fill: bigint, lane: (i: number, lanes: number, rest: number) => Lane): Word {
    if (bits === 0) return a
    return this.lanes((i) => (bits >= 256 ? fill : lane(i, bits >> 6, bits & 63)))
  }

  /** Pushes the lanes that are not 0 in one; false, and nothing, where some lane is known not to be 0. */
  #pushUnion(a: Word): boolean {
    if (a.some((lane) => typeof lane === 'bigint' && lane !== 0n)) return false
    const lanes = a.filter((lane) => lane !== 0n)
    for (const [i, lane] of lanes.entries()) {
      this.push(lane)
      if (i > 0) this.body.op(OP.i64_or)
    }
    return true
  }

  /** `absorbing` with anything gives itself, `neutral` leaves the other as it is. */
  #bitwise(
    a: Word,
    b: Word,
    code: number,
    fold: (x: bigint, y: bigint) => bigint,
    absorbing: bigint | undefined,
    neutral: bigint,
  ): Word {
    return this.lanes((i) => {
      const [x, y] = [a[i] as Lane, b[i] as Lane]
      if (typeof x === 'bigint' && typeof y === 'bigint') return fold(x, y)
      if (x === neutral) return y
      if (y === neutral) return x
      if (absorbing !== undefined && (x === absorbing || y === absorbing)) return absorbing
      return this.combined(code, x, y)
    })
  }
}
