/** Counts calls by function selector and length of arguments, for the look-up of unknown signatures. */
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { FrameStart, Tracer } from './tracer.ts'

/** Counts calls with a selector; creations and precompiled contracts are not counted. */
export class FourByteTracer implements Tracer {
  readonly #counts = new Map<string, number>()

  /** Counts by selector and number of bytes after it: `0x27dc297e-128`. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  enter({ kind, isPrecompile, input }: FrameStart): void {
    if (kind === 'create' || kind === 'create2' || isPrecompile || input.length < 4) return
    const selector: Hex = toHex(input.subarray(0, 4))
    const key = `${selector}-${input.length - 4}`
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }
}
