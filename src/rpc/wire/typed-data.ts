/** Typed data as clients send it: an object, or its JSON text (EIP-712). */
import { z } from 'zod'
import type { TypedData } from '../../chain/typed-data.ts'
import type { Parameter } from '../method.ts'
import { refuse } from './scalars.ts'

const typedData = z.object({
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  domain: z.record(z.string(), z.unknown()),
  message: z.record(z.string(), z.unknown()),
})

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

/** Types, primary type, domain and message. */
export const TypedDataObject: Parameter<TypedData> = {
  schema: z.union([typedData, z.string()]).describe('EIP-712 typed data, or its JSON text'),
  read(value, name) {
    const { success, data } = typedData.safeParse(parsed(value))
    return success ? data : refuse(name, 'an object with types, primaryType, domain and message')
  },
}
