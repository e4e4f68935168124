/** Queries of a chain whose states are collected. */
import type { Queries } from '../engine.ts'

type Query = (...given: never[]) => unknown

/** Runs a query; where it waits, the states that are there now are kept until it has settled. */
function holding(query: Query, hold: () => () => void): Query {
  return (...given) => {
    const result = query(...given)
    if (result instanceof Promise) {
      const release = hold()
      result.then(release, release)
    }
    return result
  }
}

/**
 * The same queries, each of which may read the states that were there when it began until it has settled. `hold` keeps the
 * states that are there now until its result is called. Who reads a state after the query that gave it holds it itself.
 */
export function withHeldStates(queries: Queries, hold: () => () => void): Queries {
  const held = Object.entries<Query>({ ...queries }).map(([name, query]) => [name, holding(query, hold)])
  return { ...queries, ...Object.fromEntries(held) }
}
