/** How development clients write what they leave out. */
import { z } from 'zod'
import type { Parameter } from '../../method.ts'

/** Lets null stand for a value. */
export function orNull<T>(parameter: Parameter<T>, value: T): Parameter<T> {
  return {
    schema: z.union([parameter.schema, z.null()]),
    read: (given, name) => (given === null ? value : parameter.read(given, name)),
  }
}
