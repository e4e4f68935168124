/** The moves that an editor asks for, one after another. */
import { StoppedEvent, TerminatedEvent } from '@vscode/debugadapter'
import type { DebugProtocol } from '@vscode/debugprotocol'
import { messageOf } from '../../errors.ts'
import type { Move, RemoteSession, WireBreakpoints, WirePlace } from './wire.ts'

/** The only thread. */
export const THREAD = 1

/** What an editor shows for the reasons of a stop. */
const STOPS: Readonly<Record<WirePlace['reason'], readonly [reason: string, text?: string]>> = {
  step: ['step'],
  breakpoint: ['breakpoint'],
  event: ['breakpoint', 'an event was logged'],
  failure: ['exception'],
  start: ['entry', 'the beginning'],
  end: ['step', 'the end'],
}

/** The event that tells an editor where the execution stands. */
export function stoppedEvent({ reason, failure }: WirePlace): DebugProtocol.StoppedEvent {
  const [name, text] = STOPS[reason]
  const event: DebugProtocol.StoppedEvent = new StoppedEvent(name, THREAD)
  event.body.allThreadsStopped = true
  const shown = reason === 'failure' ? failure : text
  if (shown !== undefined) {
    event.body.text = shown
    event.body.description = shown
  }
  return event
}

/** What moves need of their session. */
interface Parts {
  session(): RemoteSession | undefined
  breakpoints(): WireBreakpoints
  /** The execution stands somewhere else, or a move failed. */
  onStop(place: WirePlace): void
  /** It has moved forward at its end. */
  onEnd(event: DebugProtocol.TerminatedEvent): void
}

/** Moves one at a time. */
export class Moves {
  readonly #parts: Parts
  #last: Promise<void> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Moves when the moves before have ended. */
  add(move: Move): void {
    this.#last = this.#last.then(() => this.#move(move))
  }

  /** Never rejects. */
  async #move(move: Move): Promise<void> {
    const session = this.#parts.session()
    if (session === undefined) return
    const before = session.place
    try {
      const place = await session.move(move, this.#parts.breakpoints())
      const isOver = place.reason === 'end' && before.step === place.step
      if (isOver) this.#parts.onEnd(new TerminatedEvent())
      else this.#parts.onStop(place)
    } catch (error) {
      this.#parts.onStop({ ...before, reason: 'step', failure: messageOf(error) })
    }
  }
}
