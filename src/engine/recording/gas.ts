/** The gas of an engine: of the blocks that join its chain, and of a transaction that runs again. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Vm } from '../../evm/rules.ts'
import { GasProfile } from '../../gas/gas-profile.ts'
import { type GasMessage, GasRecorder } from '../../gas/gas-recorder.ts'
import { mergeGas } from '../../gas/gas-report.ts'
import type { GasReport } from '../../gas/model.ts'
import type { CodeOf } from '../../source-level/stack/message-run.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { Emitter } from '../events.ts'
import type { EngineEvents } from '../model.ts'
import type { Replays } from '../queries/replay.ts'
import type { CodeMaps } from '../sources/code-maps.ts'
import type { Gas } from './model.ts'
import type { Recordings } from './recordings.ts'

interface Parts {
  readonly recordings: Recordings
  readonly maps: CodeMaps
  readonly vm: Vm
  readonly events: Emitter<EngineEvents>
  readonly queries: Pick<Replays, 'replay'>
}

/** Gas by the sources of one engine. */
export class EngineGas implements Gas {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
    parts.events.on('chain', ({ added }) => {
      for (const block of added) this.#record(block)
    })
  }

  get isOn(): boolean {
    return this.#parts.recordings.gas !== undefined
  }

  start(): void {
    this.#parts.recordings.startGas()
  }

  stop(): void {
    this.#parts.recordings.stopGas()
  }

  async report(): Promise<GasReport> {
    const { recordedGas } = this.#parts.recordings
    await recordedGas?.settle()
    return recordedGas?.profile.report([]) ?? mergeGas([])
  }

  async ofTransaction(block: ExecutedBlock, index: number, timeoutMs?: number): Promise<GasReport> {
    const recorder = new GasRecorder()
    const tracerOf = (_: unknown, at: number) => (at === index ? recorder : undefined)
    await this.#parts.queries.replay(block, tracerOf, { lastIndex: index, timeoutMs })
    const profile = new GasProfile()
    await this.#add(profile, block, index, recorder.root)
    return profile.report([])
  }

  /** Adds the transactions of a block that has joined the chain. */
  #record(block: ExecutedBlock): void {
    const { gas } = this.#parts.recordings
    if (gas === undefined) return
    const isNew = gas.isNew(block.hash)
    for (const [index, transaction] of block.block.transactions.entries()) {
      if (transaction.isRemasc) continue
      const run = gas.take(transaction)
      // A reorganisation brings back a block without running it; a block that is equal to one of before a revert has run.
      if (run === undefined && !isNew) continue
      gas.add(run?.bytes ?? 0, () => this.#add(gas.profile, block, index, run?.root))
    }
  }

  async #add(
    profile: GasProfile,
    { block, receipts }: ExecutedBlock,
    index: number,
    root: GasMessage | undefined,
  ): Promise<void> {
    const { maps, vm } = this.#parts
    const transaction = block.transactions[index]
    const receipt = receipts[index]
    if (transaction === undefined || receipt === undefined) return
    const rules = vm.rulesAt(block.header.number)
    const unknown: CodeOf = () => undefined
    const codeOf = root === undefined ? unknown : await maps.of(root).catch(() => unknown)
    const intrinsic = transaction.isRemasc ? 0 : Number(rules.intrinsicGas(transaction))
    const spent = { transaction, gasUsed: Number(receipt.gasUsed), intrinsic, root }
    await profile.add(spent, codeOf, createEventLoopYield('query'))
  }
}
