/**
 * Gas as a profile of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto), compressed. The message has
 * seven fields of three types, so it is written here: encoders for pprof take profiles of V8, or a schema at run time.
 */
import { gzipSync } from 'node:zlib'
import type { GasReport } from './model.ts'

const WIRE = { varint: 0, bytes: 2 } as const

/** Writes the fields of a message. */
class Message {
  readonly #bytes: number[] = []

  /** An integer from 0 to 2^53. */
  number(field: number, value: number): this {
    if (value === 0) return this
    this.#varint(field * 8 + WIRE.varint)
    this.#varint(value)
    return this
  }

  numbers(field: number, values: readonly number[]): this {
    const packed = new Message()
    for (const value of values) packed.#varint(value)
    return this.bytes(field, packed.#bytes)
  }

  message(field: number, message: Message): this {
    return this.bytes(field, message.#bytes)
  }

  bytes(field: number, bytes: ArrayLike<number>): this {
    this.#varint(field * 8 + WIRE.bytes)
    this.#varint(bytes.length)
    for (let at = 0; at < bytes.length; at++) this.#bytes.push(bytes[at] ?? 0)
    return this
  }

  finish(): Uint8Array {
    return Uint8Array.from(this.#bytes)
  }

  #varint(value: number): void {
    let left = value
    while (left >= 0x80) {
      this.#bytes.push((left % 0x80) + 0x80)
      left = Math.floor(left / 0x80)
    }
    this.#bytes.push(left)
  }
}

/** Numbers of texts, in the order of their first use; the empty text is 0. */
class Texts {
  readonly #numbers = new Map<string, number>([['', 0]])

  number(text: string): number {
    const known = this.#numbers.get(text) ?? this.#numbers.size
    this.#numbers.set(text, known)
    return known
  }

  get all(): Iterable<string> {
    return this.#numbers.keys()
  }
}

const FIELD = {
  profile: { sampleType: 1, sample: 2, location: 4, function: 5, strings: 6, comment: 13, defaultType: 14 },
  valueType: { type: 1, unit: 2 },
  sample: { locations: 1, values: 2 },
  location: { id: 1, line: 4 },
  line: { function: 1, line: 2 },
  function: { id: 1, name: 2, systemName: 3, file: 4, startLine: 5 },
} as const

/** The file: samples of the type `gas`, in gas. Stacks that got back more than they spent are left out. */
export function pprofFile({ frames, stacks, gasUsed, refunds }: GasReport): Uint8Array {
  const texts = new Texts()
  const { profile: own, sample, location, line, function: named, valueType } = FIELD
  const profile = new Message()
  const type = new Message()
    .number(valueType.type, texts.number('gas'))
    .number(valueType.unit, texts.number('gas'))
  profile.message(own.sampleType, type)
  for (const stack of stacks) {
    if (stack.gas <= 0) continue
    // The innermost frame comes first; ids are from 1.
    const locations = stack.frames.map((frame) => frame + 1).reverse()
    profile.message(
      own.sample,
      new Message().numbers(sample.locations, locations).numbers(sample.values, [stack.gas]),
    )
  }
  for (const [index, frame] of frames.entries()) {
    const id = index + 1
    const place = new Message().number(line.function, id).number(line.line, frame.line ?? 0)
    profile.message(own.location, new Message().number(location.id, id).message(location.line, place))
    const name = texts.number(frame.name)
    profile.message(
      own.function,
      new Message()
        .number(named.id, id)
        .number(named.name, name)
        .number(named.systemName, name)
        .number(named.file, texts.number(frame.file ?? ''))
        .number(named.startLine, frame.line ?? 0),
    )
  }
  const comment = texts.number(`${gasUsed} gas used, ${refunds} gas refunded`)
  for (const text of texts.all) profile.bytes(own.strings, Buffer.from(text))
  profile.number(own.comment, comment).number(own.defaultType, texts.number('gas'))
  return gzipSync(profile.finish())
}
