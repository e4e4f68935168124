/** The state of the simulation page: its fields, the last run, and what was sent. It stays while other pages are open. */
import { signal } from '@preact/signals'
import type { Hex } from '../format.ts'
import { type Draft, EMPTY_DRAFT, type StepDraft } from './draft.ts'
import type { Outcome } from './outcome.ts'

/** A simulation that has run. */
export interface Run {
  /** Counts up. */
  readonly id: number
  /** The fields as they were. */
  readonly draft: Draft
  /** By the ids of the steps that were on. */
  readonly outcomes: ReadonlyMap<number, Outcome>
}

/** How the sending of a step ended. */
export interface Sent {
  readonly text: string
  readonly hash?: Hex
  readonly hasFailed: boolean
}

/** The fields. */
export const draft = signal<Draft>(EMPTY_DRAFT)
/** The last run; absent before the first one, and after other fields were opened. */
export const run = signal<Run | undefined>(undefined)
/** What was sent, by the ids of the steps. */
export const sent = signal<ReadonlyMap<number, Sent>>(new Map())

/** Shows other fields, without the results of earlier ones. */
export function openDraft(opened: Draft): void {
  draft.value = opened
  run.value = undefined
  sent.value = new Map()
}

/** Changes some fields. */
export function changeDraft(change: Partial<Draft>): void {
  draft.value = { ...draft.value, ...change }
}

/** Changes some fields of a step. */
export function changeStep(id: number, change: Partial<StepDraft>): void {
  changeDraft({ steps: draft.value.steps.map((step) => (step.id === id ? { ...step, ...change } : step)) })
}

/** Moves a step before or after its neighbour. */
export function moveStep(id: number, by: -1 | 1): void {
  const { steps } = draft.value
  const at = steps.findIndex((step) => step.id === id)
  const [moved, other] = [steps[at], steps[at + by]]
  if (moved !== undefined && other !== undefined) {
    changeDraft({ steps: steps.with(at, other).with(at + by, moved) })
  }
}

/** Notes how the sending of a step ended. */
export function noteSent(id: number, outcome: Sent): void {
  sent.value = new Map([...sent.value, [id, outcome]])
}
