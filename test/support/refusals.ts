/** Rows of bad input and the words that refuse it. */
import { expect, it } from 'vitest'
import type { Parameter } from '../../src/rpc/parameter.ts'

/** An error of exactly this text, where a text alone would be found in a longer one. */
export const saying = (message: string) => expect.objectContaining({ message })

/** One test a row; the parameter is called `parameter`. */
export function refusals(parameter: Parameter<unknown>, rows: readonly (readonly [unknown, string])[]): void {
  it.each(rows)('refuses %j', (value, message) => {
    expect(() => parameter.read(value, 'parameter')).toThrow(
      expect.objectContaining({ kind: 'invalid-params', message }),
    )
  })
}
