/** Traces in the short form of fixtures/traces: one row per step, digests in place of memory and of long stacks. */
import { createHash } from 'node:crypto'

interface WireStep {
  readonly depth: number
  readonly pc: number
  readonly op: string | null
  readonly gas: number
  readonly gasCost: number
  readonly stack?: readonly string[]
  readonly memory?: readonly string[]
  readonly storage?: Readonly<Record<string, string>>
}

/** Members of a step in the order of a row. */
export const STEP_MEMBERS = ['depth', 'pc', 'op', 'gas', 'gasCost', 'stack', 'memory', 'storage'] as const

const short = (word: string): string => word.replace(/^0+(?=.)/, '')

/** Number of words, the last one, and a digest of all. */
function digest(words: readonly string[] | undefined): string | null {
  if (words === undefined) return null
  const last = words.at(-1)
  if (last === undefined) return ''
  const hash = createHash('sha256').update(words.join(',')).digest('hex').slice(0, 8)
  return `${words.length} ${short(last)} ${hash}`
}

function slots(storage: WireStep['storage']): string | null {
  if (storage === undefined) return null
  const entries = Object.entries(storage).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([slot, value]) => `${short(slot)}=${short(value)}`).join(' ')
}

function row({ depth, pc, op, gas, gasCost, stack, memory, storage }: WireStep): readonly unknown[] {
  return [depth, pc, op, gas, gasCost, digest(stack), digest(memory), slots(storage)]
}

/** Replaces every `structLogs` in a value by rows. */
export function compactTrace(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compactTrace)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === 'structLogs' ? (member as WireStep[]).map(row) : compactTrace(member),
    ]),
  )
}
