/**
 * LevelDB as the store sees it: batches whole and in order. Those that were not synced survive the process, and of them a
 * first part the machine. After a batch has failed all fail until it is opened again.
 */
import type { Level } from '../../src/store/level-entries.ts'
import type { Operation } from '../../src/store/table.ts'
import { ProcessEnded, type SimulatedDisk, systemError } from './file-system.ts'
import type { SimulatedProcess } from './process.ts'

const textOf = (key: Uint8Array): string => Buffer.from(key).toString('latin1')
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'))

type Entries = Map<string, Uint8Array>

function apply(entries: Entries, operations: readonly Operation[]): void {
  for (const operation of operations) {
    if (operation.type === 'put') entries.set(textOf(operation.key), operation.value.slice())
    else entries.delete(textOf(operation.key))
  }
}

/** Its files, which outlive processes. */
export class LevelFiles {
  readonly disk: SimulatedDisk
  /** One batch in so many fails; `undefined` is none. */
  failedBatch: number | undefined
  entries: Entries = new Map()
  #synced: Entries = new Map()
  #unsynced: (readonly Operation[])[] = []
  /** How often the machine has ended: what was being written then is not. */
  #powerLosses = 0

  constructor(disk: SimulatedDisk) {
    this.disk = disk
  }

  write(operations: readonly Operation[], sync: boolean): void {
    this.disk.world.note(`level: ${operations.length} operations`)
    apply(this.entries, operations)
    this.#unsynced.push(operations)
    if (!sync) return
    for (const batch of this.#unsynced) apply(this.#synced, batch)
    this.#unsynced = []
  }

  losePower(): void {
    this.#powerLosses++
    const left = this.disk.world.random.below(this.#unsynced.length + 1)
    for (const batch of this.#unsynced.slice(0, left)) apply(this.#synced, batch)
    this.#unsynced = []
    this.entries = new Map(this.#synced)
  }

  /** Opens it as a part of a process. */
  open(process: SimulatedProcess): Level {
    const { disk } = this
    const { world } = disk
    const { random } = world
    let hasFailed = false
    let isOpen = true
    const requireAlive = () => {
      if (process.isDead) throw new ProcessEnded('the process has ended')
    }
    return {
      get isOpen() {
        return isOpen
      },
      getSync: (key) => {
        requireAlive()
        return this.entries.get(textOf(key))
      },
      batch: (operations, { sync }) => {
        requireAlive()
        const copy = [...operations]
        const powerLosses = this.#powerLosses
        return new Promise((resolve, reject) => {
          const duration = random.oneIn(6) ? random.below(300) : random.below(30) / 10
          // A thread of the process writes: it may be done with it when the process ends.
          world.after(duration, undefined, () => {
            if (powerLosses !== this.#powerLosses || (process.isDead && random.oneIn(2))) return
            const { failedBatch } = this
            const isRefused = failedBatch !== undefined && random.oneIn(failedBatch)
            const isFull = disk.used >= disk.faults.capacity
            if (hasFailed || isRefused || isFull) {
              world.note(`a batch of ${copy.length} operations fails`)
              // An error says nothing of what is in the file.
              if (!hasFailed && random.oneIn(3)) this.write(copy, false)
              hasFailed = true
              const error = systemError(isFull ? 'ENOSPC' : 'EIO', 'write 000003.log')
              world.after(0, process, () => reject(error))
              return
            }
            this.write(copy, sync)
            world.after(0, process, resolve)
          })
        })
      },
      iterator: ({ gte, lt, reverse }) => {
        requireAlive()
        const [from, to] = [textOf(gte), textOf(lt)]
        const keys = [...this.entries.keys()].filter((key) => key >= from && key < to).sort()
        const found = keys.map((key) => [bytesOf(key), this.entries.get(key) as Uint8Array] as const)
        if (reverse) found.reverse()
        return (async function* () {
          for (const [key, value] of found) yield [key, value] as [Uint8Array, Uint8Array]
        })()
      },
      reopen: async () => {
        await world.wait(random.below(20), process)
        if (disk.used >= disk.faults.capacity) throw systemError('ENOSPC', 'open')
        hasFailed = false
        isOpen = true
      },
      close: async () => {
        requireAlive()
        isOpen = false
      },
    }
  }
}
