/** Random bytes of a node: keys, ids of filters and subscriptions, its instance id. From a seed they are reproducible. */
import { randomBytes } from 'node:crypto'
import { keccak256 } from '../encoding/hash.ts'

/** What random bytes are for; each has a sequence of its own, so that calls of one kind do not shift those of another. */
export type RandomPurpose = 'key' | 'filter' | 'subscription' | 'instance' | 'bitcoin'

/** Random bytes, at most 32. */
export type RandomBytes = (purpose: RandomPurpose, length: number) => Uint8Array

/** Keccak-256 of the JSON text `[seed,purpose,count]`: 32 bytes that are the same in every run. */
export function seededBytes(seed: string, purpose: string, count: number): Uint8Array {
  return keccak256(new TextEncoder().encode(JSON.stringify([seed, purpose, count])))
}

/**
 * Makes the randomness of a node: that of the system, or with a seed the first bytes of `seededBytes`, where the first
 * call of a purpose has the count 0.
 */
export function createRandomness(seed: string | undefined): RandomBytes {
  if (seed === undefined) return (_purpose, length) => randomBytes(length)
  const counts = new Map<RandomPurpose, number>()
  return (purpose, length) => {
    const count = counts.get(purpose) ?? 0
    counts.set(purpose, count + 1)
    return seededBytes(seed, purpose, count).slice(0, length)
  }
}
