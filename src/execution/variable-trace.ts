/** Changed variables of a traced transaction, beside the accounts and slots that it touched. */
import type { VariableChange } from '../abi/storage/changes.ts'
import { SeenWords } from '../abi/storage/seen-words.ts'
import type { Log } from '../chain/receipt.ts'
import type { Hex } from '../encoding/hex.ts'
import { PrestateTracer } from '../evm/tracing/prestate-tracer.ts'
import type { FrameEnd, FrameStart, TraceEnd, Tracer } from '../evm/tracing/tracer.ts'
import type { StateReader } from '../state/model.ts'
import { VariableChanges } from './variable-changes.ts'
import type { LayoutAt } from './variables.ts'

/** A `PrestateTracer` that names changed slots; both are complete once the transaction is over. */
export class VariableTracer implements Tracer {
  readonly recorder = new PrestateTracer()
  /** By account. */
  readonly changes = new Map<Hex, readonly VariableChange[]>()
  readonly #layoutAt: LayoutAt
  readonly #words = new SeenWords()
  #before: StateReader | undefined

  constructor(layoutAt: LayoutAt) {
    this.#layoutAt = layoutAt
  }

  wrapState(before: StateReader): StateReader {
    this.#before = before
    return this.recorder.wrapState(before)
  }

  enter({ kind, from, to, input }: FrameStart): void {
    this.#words.addAddress(from)
    this.#words.addAddress(to)
    if (kind !== 'create' && kind !== 'create2') this.#words.addCallData(input)
  }

  exit(end: FrameEnd): void {
    this.recorder.exit(end)
    this.#words.addAddress(end.created)
  }

  log(log: Log): void {
    this.#words.addLog(log)
  }

  finish(end: TraceEnd): void {
    this.recorder.finish(end)
    if (this.#before === undefined) return
    const changes = new VariableChanges(this.#before, end.after, this.#layoutAt, this.#words)
    for (const { address, before, after } of this.recorder.touched) {
      if (after === undefined) continue
      const slots = [...after.storage.keys()].filter(
        (slot) => after.storage.get(slot) !== before.storage.get(slot),
      )
      const found = changes.of(address, slots)
      if (found.length > 0) this.changes.set(address, found)
    }
  }
}
