/** What the schema of a parameter accepts, its decoder accepts, and nothing else. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { METHODS } from '../../src/rpc/methods/index.ts'
import type { Parameter } from '../../src/rpc/parameter.ts'
import { HOSTILE, spoiled } from '../hostile/hostile-values.ts'
import { valuesOf } from '../support/schema-values.ts'

const parameters = METHODS.flatMap(({ name, params }) =>
  params.map(({ name: parameter, parameter: { schema, read } }) => ({
    name: `${name} ${parameter}`,
    parameter: { schema, read } as Parameter<unknown>,
  })),
)
/** Methods share parameters: each is tested once. */
const distinct = [...new Map(parameters.map((one) => [one.parameter.schema, one])).values()]

function decodes({ read }: Parameter<unknown>, value: unknown): boolean {
  try {
    read(value, 'parameter')
    return true
  } catch {
    return false
  }
}

/** JSON that zod's records pass over: keys named `__proto__`. */
const hasProto = (value: unknown): boolean => JSON.stringify(value).includes('"__proto__":')

function expectAgreement(parameter: Parameter<unknown>, schema: z.ZodType, value: unknown): void {
  if (hasProto(value)) return
  const accepted = schema.safeParse(value).success
  expect({ value, decoded: decodes(parameter, value) }).toEqual({ value, decoded: accepted })
}

/** Values of the schema, the same with one part replaced, and any JSON. */
function candidates(parameter: Parameter<unknown>): fc.Arbitrary<unknown> {
  const fitting = valuesOf(parameter)
  const hostile = fc.constantFrom(...HOSTILE)
  const replaced = fc
    .tuple(fitting, fc.oneof(hostile, fc.jsonValue({ maxDepth: 1 })), fc.nat())
    .map(([value, other, at]) => {
      const all = [...spoiled(value, other)]
      return all[at % all.length]
    })
  return fc.oneof(fitting, replaced, hostile)
}

describe('the schema and the decoder of', () => {
  it.each(distinct.map(({ name, parameter }) => [name, parameter] as const))('%s agree', (_, parameter) => {
    const schema = parameter.schema()
    for (const value of HOSTILE) expectAgreement(parameter, schema, value)
    fc.assert(
      fc.property(candidates(parameter), (value) => expectAgreement(parameter, schema, value)),
      {
        numRuns: 200,
      },
    )
  })
})
