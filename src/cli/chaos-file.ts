/** The plan of chaos that a command is given: a profile's name, or a JSON file. */
import { readFile } from 'node:fs/promises'
import { NodeError } from '../errors.ts'
import type { NodeOptions } from '../options/options.ts'

/** The options with the plan of the file that `chaos` names, where it names no profile. Throws `invalid-options`. */
export async function withChaosFile(given: NodeOptions): Promise<NodeOptions> {
  const { chaos } = given
  if (typeof chaos !== 'string') return given
  const { CHAOS_PROFILES } = await import('../chaos/profiles.ts')
  if (Object.hasOwn(CHAOS_PROFILES, chaos)) return given
  const text = await readFile(chaos, 'utf8').catch(() => {
    const names = Object.keys(CHAOS_PROFILES).join(', ')
    const message = `There is neither a chaos profile nor a file "${chaos}". The profiles are ${names}.`
    throw new NodeError('invalid-options', message)
  })
  try {
    const plan: unknown = JSON.parse(text)
    if (typeof plan !== 'object' || plan === null) throw new Error('a plan is an object')
    return { ...given, chaos: plan }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new NodeError('invalid-options', `${chaos} is not a chaos plan: ${why}.`)
  }
}
