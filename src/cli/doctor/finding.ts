/** What `tandem doctor` finds: one finding for each thing that it looks at. */

/** In order, worth knowing, likely to matter later, or in the way of a start. */
export type Verdict = 'ok' | 'note' | 'warning' | 'problem'

/** The outcome of one check. */
export interface Finding {
  /** What was looked at: `port 4444`. */
  readonly check: string
  readonly verdict: Verdict
  /** What is there, a sentence. */
  readonly found: string
  /** What to do, a sentence; absent where nothing has to be done. */
  readonly advice?: string
}

/** A finding without anything to do. */
export function inOrder(check: string, found: string): Finding {
  return { check, verdict: 'ok', found }
}
