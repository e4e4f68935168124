/** Counts calls by method and key, cheaply enough to run always: reports are computed only when they are requested. */
import type { CallOrigin, OnCall } from '../options/options.ts'
import { toErrorObject } from './error-codes.ts'
import { type MethodNames, namesOf } from './method-names.ts'

/** Upper bounds of the classes of duration, seconds; the last class has none. */
export const DURATION_BOUNDS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10] as const

/** The name under which calls of unknown methods are counted: callers may send any number of names. */
export const UNKNOWN = 'unknown'

/** The calls of one method by the holder of one key. */
export interface CallFigures {
  readonly method: string
  /** Name of the key; empty where no keys are in use. */
  readonly key: string
  /** How many calls fell into each class of `DURATION_BOUNDS`; the counts are not cumulative. */
  readonly classes: readonly number[]
  /** Seconds of all calls together. */
  readonly seconds: number
  /** Failed calls by JSON-RPC code. */
  readonly errors: ReadonlyMap<number, number>
}

interface Figures extends CallFigures {
  readonly classes: number[]
  seconds: number
  readonly errors: Map<number, number>
}

/** Counts calls. */
export class CallMeter {
  readonly #names: ReadonlyMap<string, string>
  readonly #byKey = new Map<string, Map<string, Figures>>()

  /** `methods` are counted by name; a call by an alias counts for its method. */
  constructor(methods: readonly MethodNames[]) {
    this.#names = new Map(
      methods.flatMap((method) => namesOf(method).map((name) => [name, method.name] as const)),
    )
  }

  /** Counts a call. */
  readonly count: OnCall = (called, milliseconds, error, { owner }: CallOrigin) => {
    const figures = this.#figuresOf(this.#names.get(called) ?? UNKNOWN, owner)
    const seconds = milliseconds / 1000
    const bounded = DURATION_BOUNDS.findIndex((bound) => seconds <= bound)
    const at = bounded === -1 ? DURATION_BOUNDS.length : bounded
    figures.classes[at] = (figures.classes[at] ?? 0) + 1
    figures.seconds += seconds
    if (error === undefined) return
    const { code } = toErrorObject(error)
    figures.errors.set(code, (figures.errors.get(code) ?? 0) + 1)
  }

  /** The counts since the start. */
  figures(): readonly CallFigures[] {
    return [...this.#byKey.values()].flatMap((byMethod) => [...byMethod.values()])
  }

  #figuresOf(method: string, key: string): Figures {
    let byMethod = this.#byKey.get(key)
    if (byMethod === undefined) {
      byMethod = new Map()
      this.#byKey.set(key, byMethod)
    }
    let figures = byMethod.get(method)
    if (figures === undefined) {
      const classes = new Array<number>(DURATION_BOUNDS.length + 1).fill(0)
      figures = { method, key, classes, seconds: 0, errors: new Map() }
      byMethod.set(method, figures)
    }
    return figures
  }
}
