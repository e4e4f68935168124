/**
 * The JSON of logs, cached between answers: test suites and explorers query the same ranges again, and most of the cost of
 * an answer with many logs is writing their JSON.
 */
import type { LogView } from '../../engine/model.ts'
import { WrittenJson } from '../raw-json.ts'

/** Bytes of a slab, into which texts are written one after another. */
const SLAB_BYTES = 256 << 10
/** Characters that are joined before they are copied into a slab: longer strings of many parts take longer to flatten. */
const JOINED = 16 << 10
/** A run of texts of at least this many bytes is sent without a copy; shorter runs are copied together. */
const LONG_RUN = 16 << 10

/** Texts, each followed by a comma. Written bytes are never overwritten; a slab without bytes has been dropped. */
interface Slab {
  bytes: Buffer | undefined
  used: number
}

/** A slab that is not full. */
interface OpenSlab extends Slab {
  bytes: Buffer
}

/** Where the text of a log is, including its comma. */
interface Place {
  readonly slab: Slab
  readonly start: number
  readonly end: number
}

/** Texts that follow one another. */
interface Run {
  readonly bytes: Buffer
  readonly start: number
  end: number
}

type Block = LogView['block']

/** The texts of logs, by the store's decoded block object: dropped with that object, or when they are the oldest. */
export class LogTexts {
  readonly #write: (view: LogView) => string
  readonly #slabBytes: number
  readonly #most: number
  /** By index of the log in its block. */
  readonly #places = new WeakMap<Block, (Place | undefined)[]>()
  /** Oldest first. */
  readonly #slabs: Slab[] = []
  /** The slab that is written to; at first one without room. */
  #last: OpenSlab = { bytes: Buffer.alloc(0), used: 0 }
  /** Texts that belong at the end of the last slab. */
  #pending = ''

  /**
   * @param write makes the JSON of a log, ASCII only, which depends only on the log's place in its block and on `removed`
   * @param most maximum bytes of text to keep
   */
  constructor(write: (view: LogView) => string, most: number, slabBytes = Math.min(SLAB_BYTES, most)) {
    this.#write = write
    this.#slabBytes = slabBytes
    this.#most = most
  }

  /** Bytes in memory for texts. */
  get bytes(): number {
    return this.#slabs.length * this.#slabBytes
  }

  /** The JSON array of these logs, at least one. */
  array(views: readonly LogView[]): WrittenJson {
    const runs: Run[] = []
    let run: Run | undefined
    let block: Block | undefined
    let places: (Place | undefined)[] = []
    let slab = this.#last
    for (const view of views) {
      if (view.block !== block) {
        block = view.block
        places = this.#placesOf(block)
      }
      // The text contains `removed`, so logs of removed blocks have other texts.
      let place = view.removed ? undefined : places[view.logIndex]
      let bytes = place?.slab.bytes
      if (place === undefined || bytes === undefined) {
        const text = this.#write(view)
        let start = slab.used
        let end = start + text.length + 1
        if (end > slab.bytes.length) {
          if (text.length >= this.#slabBytes) {
            run = { bytes: Buffer.from(`${text},`, 'latin1'), start: 0, end: text.length + 1 }
            runs.push(run)
            continue
          }
          slab = this.#nextSlab()
          start = 0
          end = text.length + 1
        }
        this.#pending += `${text},`
        slab.used = end
        if (this.#pending.length >= JOINED) this.#settle()
        bytes = slab.bytes
        place = { slab, start, end }
        if (!view.removed) places[view.logIndex] = place
      }
      const { start, end } = place
      if (run !== undefined && run.bytes === bytes && run.end === start) run.end = end
      else {
        run = { bytes, start, end }
        runs.push(run)
      }
    }
    this.#settle()
    return new WrittenJson(joined(runs))
  }

  #placesOf(block: Block): (Place | undefined)[] {
    let places = this.#places.get(block)
    if (places === undefined) {
      places = []
      this.#places.set(block, places)
    }
    return places
  }

  /** An empty slab; it drops the oldest one when there are too many. */
  #nextSlab(): OpenSlab {
    this.#settle()
    if (this.bytes + this.#slabBytes > this.#most) {
      const oldest = this.#slabs.shift()
      if (oldest !== undefined) oldest.bytes = undefined
    }
    const slab = { bytes: Buffer.allocUnsafeSlow(this.#slabBytes), used: 0 }
    this.#slabs.push(slab)
    this.#last = slab
    return slab
  }

  /** Writes what is pending. */
  #settle(): void {
    const text = this.#pending
    if (text === '') return
    this.#last.bytes.write(text, this.#last.used - text.length, 'latin1')
    this.#pending = ''
  }
}

/** The pieces of an array of texts; the last comma is dropped. */
function joined(runs: readonly Run[]): Buffer[] {
  const chunks: Buffer[] = []
  const short = Buffer.allocUnsafe(runs.reduce((sum, { start, end }) => sum + shortLength(end - start), 2))
  short[0] = 0x5b
  let from = 0
  let used = 1
  for (const [i, { bytes, start, end: after }] of runs.entries()) {
    const end = i === runs.length - 1 ? after - 1 : after
    if (shortLength(after - start) > 0) {
      used += bytes.copy(short, used, start, end)
      continue
    }
    if (used > from) chunks.push(short.subarray(from, used))
    from = used
    chunks.push(bytes.subarray(start, end))
  }
  short[used++] = 0x5d
  chunks.push(short.subarray(from, used))
  return chunks
}

function shortLength(length: number): number {
  return length < LONG_RUN ? length : 0
}
