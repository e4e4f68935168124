/** What contracts write to the console, and the failures of calls and transactions: the last ones of the node, and those that come while the page is open. */
import { effect, signal } from '@preact/signals'
import { type Checked, isNumber, isText, listOf, objectOf, orNull } from './checks.ts'
import { callFor } from './client.ts'
import { failureText, type Hex, isHex } from './format.ts'
import { may, subscribe } from './store.ts'

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
  if (!isOutput(event)) return
  const lines = linesOf(event, Math.floor(Date.now() / 1000))
  since?.push(...lines)
  output.value = [...output.value, ...lines].slice(-MOST_LINES)
}

function linesOf({ transactionHash, console, failure }: Checked<typeof isOutput>, at: number): OutputLine[] {
  const texts = [
    ...console.map((text) => ({ kind: 'log' as const, text })),
    ...(failure === null ? [] : [{ kind: 'failure' as const, text: failureText(failure) }]),
  ]
  return texts.map((each) => ({ ...each, id: ++lastId, at, transactionHash }))
}

/** Forgets all lines. */
export function clearOutput(): void {
  output.value = []
}

const isHistory = listOf(
  objectOf({
    transactionHash: orNull(isHex),
    console: listOf(isText),
    failure: orNull(isText),
    age: isNumber,
  }),
)

/** Lines that have come since the history was asked for. */
let since: OutputLine[] | undefined

/** Puts what was written before the page was opened before what has come since. */
async function loadHistory(): Promise<void> {
  since = []
  try {
    const now = Math.floor(Date.now() / 1000)
    const entries = await callFor(isHistory, 'evm_consoleOutput')
    const before = entries.flatMap((entry) => linesOf(entry, now - entry.age))
    // The answer may hold lines that the subscription has brought as well.
    const known = new Set(before.map(keyOf))
    output.value = [...before, ...since.filter((line) => !known.has(keyOf(line)))].slice(-MOST_LINES)
  } catch {
    // The lines that come are shown all the same.
  } finally {
    since = undefined
  }
}

const keyOf = ({ kind, transactionHash, text }: OutputLine): string => `${kind} ${transactionHash} ${text}`

/** Subscribes, and asks for what was written before; called once, after the store has started. */
export function startOutput(): void {
  subscribe(['console'], onOutput)
  let isLoaded = false
  effect(() => {
    if (isLoaded || !may('evm_consoleOutput')) return
    isLoaded = true
    void loadHistory()
  })
}
