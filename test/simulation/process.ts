/** A process of a world, with a clock that may be fast or slow. */
import type { Owner, World } from './world.ts'

/** It lives until it is killed. */
export class SimulatedProcess implements Owner {
  readonly name: string
  readonly #world: World
  /** Its milliseconds in one of the world, and its clock when the world began. */
  readonly #rate: number
  readonly #origin: number
  isDead = false
  stalledUntil = 0

  constructor(world: World, name: string, rate: number, origin: number) {
    this.#world = world
    this.name = name
    this.#rate = rate
    this.#origin = origin
  }

  clockAt(time: number): number {
    return this.#origin + time * this.#rate
  }

  durationOf(milliseconds: number): number {
    return milliseconds / this.#rate
  }

  /** Runs a step as code of the process. */
  run(step: () => void): void {
    this.#world.after(0, this, step)
  }

  kill(): void {
    this.isDead = true
    this.#world.note(`${this.name} is killed`)
  }

  /** It does nothing for so long. */
  stall(milliseconds: number): void {
    this.stalledUntil = this.#world.now + milliseconds
    this.#world.note(`${this.name} does nothing for ${milliseconds} ms`)
  }
}
