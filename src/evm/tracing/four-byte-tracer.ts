/** Counts which functions were called, with how much data: what a search for unknown signatures asks. */
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { FrameStart, Tracer } from './tracer.ts'

/** Counts calls with a selector; creations and native contracts are left out. */
export class FourByteTracer implements Tracer {
  readonly #counts = new Map<string, number>()

  /** How often each was called, by selector and length of the data behind it: `0x27dc297e-128`. */
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
