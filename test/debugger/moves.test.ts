/** Searches of moves in long executions. */
import { expect, it } from 'vitest'
import type { Execution } from '../../src/debugger/execution.ts'
import type { Statement } from '../../src/debugger/function-scope.ts'
import { type MoveKind, moved } from '../../src/debugger/moves.ts'
import { SourceSteps } from '../../src/debugger/source-steps.ts'
import type { RecordedMessage } from '../../src/source-level/message-recorder.ts'

const STOPS = 200_000

it.each<[MoveKind, 'forward' | 'back']>([
  ['continue', 'forward'],
  ['continue', 'back'],
  ['over', 'forward'],
  ['out', 'forward'],
])('pauses while it searches: %s %s', (kind, direction) => {
  const steps = new SourceSteps()
  const common = { message: {} as RecordedMessage, mapped: undefined, isBase: false, function: undefined }
  const outer = steps.open({ ...common, parent: undefined, entry: 0 })
  const own = steps.open({ ...common, parent: outer, entry: 1 })
  const inner = steps.open({ ...common, parent: own, entry: 2 })
  steps.change(0, outer)
  steps.change(1, own)
  steps.stop(1, own, {} as Statement)
  for (let step = 2; step < STOPS; step++) {
    steps.change(step, inner)
    steps.stop(step, inner, {} as Statement)
  }
  const parts = { steps, execution: { length: STOPS } as Execution }
  const from = direction === 'forward' ? 1 : STOPS - 1
  const search = moved(parts, from, kind, direction, { isAt: () => false, events: [], failures: [] })
  let pauses = 0
  let at = search.next()
  for (; at.done !== true; at = search.next()) pauses++
  expect(pauses).toBeGreaterThan(5)
  expect(at.value).toEqual(
    direction === 'forward' ? { step: STOPS - 1, reason: 'end' } : { step: 0, reason: 'start' },
  )
})
