/** Names of contracts by address, asked for in batches and kept. */
import { signal } from '@preact/signals'
import { isText, listOf, orNull } from './checks.ts'
import { callFor } from './client.ts'
import type { Hex } from './format.ts'
import { epoch, may } from './store.ts'

/** Absent: not asked for yet; `undefined`: no name is known. */
const known = signal<ReadonlyMap<Hex, string | undefined>>(new Map())
let wanted = new Set<Hex>()
let asked = new Set<Hex>()
let isScheduled = false
let epochOfNames = 0

async function ask(): Promise<void> {
  isScheduled = false
  const addresses = [...wanted].slice(0, 200)
  wanted = new Set([...wanted].slice(200))
  if (addresses.length === 0) return
  try {
    const names = await callFor(listOf(orNull(isText)), 'evm_contractNames', [addresses])
    known.value = new Map([
      ...known.peek(),
      ...addresses.map((address, i): [Hex, string | undefined] => [address, names[i] ?? undefined]),
    ])
  } catch {
    // Addresses are shown without names.
  }
}

/** Forgets all names, after one was registered. */
export function forgetNames(): void {
  asked = new Set()
  known.value = new Map()
}

/** The name of the contract at an address, once it is known; read in a component, it updates the component. */
export function contractName(address: Hex): string | undefined {
  if (epochOfNames !== epoch.value) {
    epochOfNames = epoch.value
    asked = new Set()
  }
  if (!asked.has(address) && may('evm_contractNames')) {
    asked.add(address)
    wanted.add(address)
    if (!isScheduled) {
      isScheduled = true
      queueMicrotask(() => void ask())
    }
  }
  return known.value.get(address)
}
