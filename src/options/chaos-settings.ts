/** The setting of chaos: faults of a public endpoint, from a seed. */
import { z } from 'zod'
import { type Kind, same } from './kinds.ts'
import { setting } from './setting.ts'

/** A profile's name, or a plan, which is checked when the node starts: its schema is loaded for nodes with chaos only. */
const chaosPlan: Kind<string | object, string | object> = {
  schema: () => z.union([z.string().min(1), z.looseObject({})]),
  expects: 'the name of a profile, or a plan',
  fromText: same,
}

/** The setting of chaos. */
export const CHAOS_SETTINGS = {
  chaos: setting(chaosPlan, {
    flag: '--chaos <profile|file>',
    help: 'answer like a public endpoint on a bad day, the same day for the same --seed: the name of a profile, or a JSON file with a plan',
    fallback: undefined,
    fallbackText: 'none',
  }),
}
