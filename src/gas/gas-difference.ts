/** How the gas of deployments and methods differs between two reports. */
import type { GasReport, GasStats } from './model.ts'

/** The average gas of one deployment or method in both reports. */
export interface GasDifference {
  readonly contract: string
  /** Absent for deployments. */
  readonly function?: string
  /** Absent where the report has none. */
  readonly before?: number
  readonly after?: number
  /** Percent of the average before; absent where one of them is. */
  readonly percent?: number
}

const averageOf = ({ total, calls }: GasStats): number => Math.round(total / calls)

function keyOf({ contract, function: called }: GasStats): string {
  return JSON.stringify([contract, called])
}

function differencesOf(before: readonly GasStats[], after: readonly GasStats[]): GasDifference[] {
  const earlier = new Map(before.map((row) => [keyOf(row), row]))
  const later = new Map(after.map((row) => [keyOf(row), row]))
  return [...new Map([...earlier, ...later])].map(([key, { contract, function: called }]) => {
    const [old, now] = [earlier.get(key), later.get(key)]
    const [was, is] = [old && averageOf(old), now && averageOf(now)]
    return {
      contract,
      ...(called !== undefined && { function: called }),
      ...(was !== undefined && { before: was }),
      ...(is !== undefined && { after: is }),
      ...(was !== undefined && is !== undefined && { percent: percentOf(was, is) }),
    }
  })
}

function percentOf(before: number, after: number): number {
  if (before === after) return 0
  return before === 0 ? Number.POSITIVE_INFINITY : ((after - before) / before) * 100
}

/** All deployments and methods of both, deployments first. */
export function gasDifferences(before: GasReport, after: GasReport): readonly GasDifference[] {
  return [
    ...differencesOf(before.deployments, after.deployments),
    ...differencesOf(before.methods, after.methods),
  ]
}

/** Those that spend more than so many percent more. */
export function increases(differences: readonly GasDifference[], percent: number): readonly GasDifference[] {
  return differences.filter((difference) => (difference.percent ?? 0) > percent)
}
