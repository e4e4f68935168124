/** What contracts write to the console, and the failures of calls and transactions, kept while the page is open. */
import { signal } from '@preact/signals'
import { type Checked, isText, listOf, objectOf, orNull } from './checks.ts'
import { failureText, type Hex, isHex } from './format.ts'
import { subscribe } from './store.ts'

/** One line. */
export interface OutputLine {
  /** Counts up. */
  readonly id: number
  /** Unix seconds of this machine. */
  readonly at: number
  readonly kind: 'log' | 'failure'
  /** Null for a simulated call. */
  readonly transactionHash: Hex | null
  readonly text: string
}

/** Lines that are kept. */
const MOST_LINES = 500

/** The lines, the newest last. */
export const output = signal<readonly OutputLine[]>([])

let lastId = 0

/** A notification of `eth_subscribe("console")`. */
const isOutput = objectOf({
  transactionHash: orNull(isHex),
  console: listOf(isText),
  failure: orNull(isText),
})

function onOutput(event: unknown): void {
  if (isOutput(event)) add(event)
}

function add({ transactionHash, console, failure }: Checked<typeof isOutput>): void {
  const at = Math.floor(Date.now() / 1000)
  const texts = [
    ...console.map((text) => ({ kind: 'log' as const, text })),
    ...(failure === null ? [] : [{ kind: 'failure' as const, text: failureText(failure) }]),
  ]
  const lines = texts.map((each): OutputLine => ({ ...each, id: ++lastId, at, transactionHash }))
  output.value = [...output.value, ...lines].slice(-MOST_LINES)
}

/** Forgets all lines. */
export function clearOutput(): void {
  output.value = []
}

/** Subscribes; called once, after the store has started. */
export function startOutput(): void {
  subscribe(['console'], onOutput)
}
