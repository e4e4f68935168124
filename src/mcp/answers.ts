/** Answers cut to a size that an agent can read, and the rest of each for a while, by a cursor. */
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { NodeError } from '../errors.ts'

/** Characters of one part of an answer, unless the agent asks for another number. */
export const USUAL_LENGTH = 20_000
/** Characters of one part at most. */
export const MOST_LENGTH = 200_000

/** How much is kept of answers that were cut, characters, and how long, milliseconds. */
const MOST_KEPT = 32 * 1024 * 1024
const KEPT_MS = 10 * 60_000

/** A part of an answer. */
export interface AnswerPart {
  readonly text: string
  /** How many characters are left, and where they begin; without a cursor the answer is too long to be kept. Absent at the end. */
  readonly rest?: { readonly characters: number; readonly cursor?: string }
}

interface Kept {
  readonly text: string
  /** The key of the caller, who alone may read on. */
  readonly owner: string
}

/** The answers of one node. */
export class Answers {
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MOST_KEPT,
    sizeCalculation: ({ text }) => text.length,
    ttl: KEPT_MS,
  })

  /** The first part of an answer. */
  first(text: string, owner: string, length: number = USUAL_LENGTH): AnswerPart {
    if (text.length <= length) return { text }
    const id = randomUUID()
    this.#kept.set(id, { text, owner })
    return this.#part(id, text, 0, length)
  }

  /** The part that a cursor names. Throws `invalid-params` for one that is malformed, of another caller, or no longer kept. */
  next(cursor: string, owner: string, length: number = USUAL_LENGTH): AnswerPart {
    const [, id = '', offset = ''] = /^([0-9a-f-]{36}):(\d{1,9})$/.exec(cursor) ?? []
    const kept = this.#kept.get(id)
    if (kept === undefined || kept.owner !== owner || Number(offset) >= kept.text.length) {
      const message = 'The cursor is not known, or its answer is no longer kept: make the call again.'
      throw new NodeError('invalid-params', message)
    }
    return this.#part(id, kept.text, Number(offset), length)
  }

  #part(id: string, text: string, from: number, length: number): AnswerPart {
    const end = endOfPart(text, from, length)
    const part = text.slice(from, end)
    if (end === text.length) return { text: part }
    const characters = text.length - end
    return {
      text: part,
      rest: this.#kept.has(id) ? { characters, cursor: `${id}:${end}` } : { characters },
    }
  }
}

/** The end of a part: behind the last comma or line of its second half, so that values are whole where they are short. */
function endOfPart(text: string, from: number, length: number): number {
  const most = from + length
  if (most >= text.length) return text.length
  const least = from + Math.ceil(length / 2)
  const at = Math.max(text.lastIndexOf(',', most - 1), text.lastIndexOf('\n', most - 1))
  if (at >= least) return at + 1
  // Never between the two halves of a character.
  return /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most
}
