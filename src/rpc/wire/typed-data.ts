/** Typed data as clients send it: an object, or its JSON text (EIP-712). */
import { z } from 'zod'
import type { TypedData } from '../../chain/typed-data.ts'
import { anyOf, anyText, schemaForm } from '../json-forms.ts'
import { expected, type Parameter, scalar } from '../parameter.ts'

const typedData = z.lazy(() =>
  z.object({
    types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
    primaryType: z.string(),
    domain: z.record(z.string(), z.unknown()),
    message: z.record(z.string(), z.unknown()),
  }),
)

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

const Members = schemaForm(() => typedData)
const JsonText = anyText({ where: (value) => Members.accepts(parsed(value)) })

/** Types, primary type, domain and message. Decoded by the schema itself: a signature costs far more. */
export const TypedDataObject: Parameter<TypedData> = scalar({
  form: anyOf(Members, JsonText),
  description: 'EIP-712 typed data, or its JSON text',
  decode: (value) => typedData.parse(parsed(value)),
  refusal: (_, name) => expected(name, 'an object with types, primaryType, domain and message'),
})
