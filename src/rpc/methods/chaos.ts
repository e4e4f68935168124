/** The methods that set chaos on a running node, read it and turn it off. They are never disturbed themselves. */
import { z } from 'zod'
import type { ActiveChaos } from '../../chaos/model.ts'
import { invalidParams } from '../../errors.ts'
import { schemaForm } from '../json-forms.ts'
import { type Context, method } from '../method.ts'
import { expected, optional, orNull, type Parameter, scalar } from '../parameter.ts'

/** What is set: plan, seed, and how often each fault was made. */
const State = z
  .strictObject({
    plan: z.looseObject({}).describe('the plan, with its defaults'),
    seed: z.string(),
    counts: z.record(z.string(), z.int()).describe('faults since it was set, by name'),
  })
  .nullable()

/** The content of a plan is checked by the code that is loaded with the first one. */
const Plan: Parameter<string | object | null> = scalar({
  form: schemaForm(() => z.union([z.string(), z.looseObject({}), z.null()])),
  description: 'the name of a profile, a plan, or null for none',
  decode: (value) => value,
  refusal: (_, name) => expected(name, 'the name of a profile, a plan, or null'),
})

const Seed: Parameter<string> = scalar({
  form: schemaForm(() => z.union([z.string().min(1).max(256), z.int()])),
  description: 'a text or a whole number',
  decode: String,
  refusal: (_, name) => expected(name, 'a text or a whole number'),
})

function shown(chaos: ActiveChaos | undefined): z.infer<typeof State> {
  if (chaos === undefined) return null
  const { plan, seed, counts } = chaos
  return { plan, seed, counts: Object.fromEntries(counts) }
}

function switchOf({ chaos }: Context): NonNullable<Context['chaos']> {
  if (chaos === undefined) throw invalidParams('This node cannot have chaos')
  return chaos
}

export const evm_setChaos = method({
  name: 'evm_setChaos',
  changesState: true,
  summary:
    'Sets the faults of a public endpoint (docs/guides/chaos.md): a profile or a plan, from the beginning of its seed, which is that of the node unless given; null turns them off. `evm_` and other methods that control the node are never disturbed.',
  params: { plan: Plan, seed: optional(orNull(Seed, undefined), null) },
  result: () => State,
  examples: [
    { params: [null], result: null },
    {
      params: [{ receipts: { probability: 1, polls: 2 } }, '7'],
      result: {
        plan: { receipts: { probability: 1, polls: [2, 2] }, idleMs: 5000 },
        seed: '7',
        counts: {},
      },
    },
  ],
  async run({ plan, seed }, context) {
    return shown(await switchOf(context).set(plan, seed))
  },
})

export const evm_chaos = method({
  name: 'evm_chaos',
  summary:
    'The chaos that is set: its plan, its seed, and how often each fault was made; null where it is off.',
  params: {},
  result: () => State,
  examples: [{ params: [], result: null }],
  run: (_, context) => shown(switchOf(context).current),
})

export const evm_chaosProfiles = method({
  name: 'evm_chaosProfiles',
  summary: 'The named plans of chaos.',
  params: {},
  result: () => z.array(z.strictObject({ name: z.string(), summary: z.string(), plan: z.looseObject({}) })),
  examples: [
    {
      params: [],
      result: [
        {
          name: 'late-receipts',
          summary: 'receipts that are null for two polls',
          plan: { receipts: { probability: 1, polls: 2 } },
        },
      ],
      // The profiles of a version are not those of the next.
      varies: true,
    },
  ],
  async run() {
    const { CHAOS_PROFILES } = await import('../../chaos/profiles.ts')
    return Object.entries(CHAOS_PROFILES).map(([name, profile]) => ({ name, ...profile }))
  },
})

/** The methods of this file. */
export const CHAOS_METHODS = [evm_setChaos, evm_chaos, evm_chaosProfiles] as const
