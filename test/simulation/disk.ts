/** The disk of a simulated node, and its database on it. */
import type { Store } from '../../src/store/level.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import type { SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

export interface Disk {
  open(process: SimulatedProcess): Promise<Store>
}

export function createDisk(world: World): Disk {
  const memory = createMemoryStore()
  return {
    async open(process) {
      return {
        ...memory,
        get: (prefix, id, keys) => memory.get(prefix, id, keys),
        async batch(writes) {
          await world.wait(world.random.below(5), process)
          await memory.batch(writes)
        },
      }
    },
  }
}
