/** Ids of filters on the wire (docs/rpc-reference.md#77-filters-and-logs): the bytes of a random text. */
import { z } from 'zod'
import { isHexDigits } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { Parameter } from '../method.ts'
import { refuse } from './scalars.ts'

/** Result: a new filter's id. */
export const FilterIdText = z
  .string()
  .regex(/^0x[0-9a-f]{72}$/)
  .describe('id of a filter: 0x and 72 hex digits')

/** Any hex; case does not count, and one that no filter has is unknown rather than wrong. */
export const FilterId: Parameter<string> = {
  schema: z
    .string()
    .regex(/^(0x)?[0-9a-fA-F]*$/)
    .describe('id of a filter'),
  read(value, name) {
    if (typeof value !== 'string') refuse(name, 'the id of a filter')
    const digits = value.startsWith('0x') ? value.slice(2) : value
    if (!isHexDigits(digits)) throw invalidParams('Invalid data format: invalid hex value.')
    return `0x${digits.toLowerCase()}`
  },
}
