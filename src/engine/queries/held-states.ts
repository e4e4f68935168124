/** Queries of a chain whose unreachable states are collected. */
import type { Queries } from '../engine.ts'

type Query = (...given: never[]) => unknown

/** Runs a query; if it waits, all present states are kept until it has settled. */
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
 * The same queries, each of which can read, until it has settled, all states that existed when it began. `hold` keeps all
 * present states until its result is called. A caller that reads a state after the query has settled must hold it itself.
 */
export function withHeldStates(queries: Queries, hold: () => () => void): Queries {
  const held = Object.entries<Query>({ ...queries }).map(([name, query]) => [name, holding(query, hold)])
  return { ...queries, ...Object.fromEntries(held) }
}
