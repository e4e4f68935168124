/** The forms that JSON scalars can have as parameters: for each a schema, and a faster test that accepts the same values. */
import { z } from 'zod'

/** JSON scalars of one form: a schema that documents it, made when it is asked for, and the same rule as a fast test. */
export interface Form<W> {
  schema(): z.ZodType
  accepts(value: unknown): value is W
}

interface TextRules {
  /** Fewest and most characters. */
  readonly least?: number
  readonly most?: number
  /** What the pattern cannot state; it is not part of the document. */
  where?(text: string): boolean
}

function textForm(pattern: RegExp | undefined, { least = 0, most, where }: TextRules): Form<string> {
  const accepts = (value: unknown): value is string =>
    typeof value === 'string' &&
    value.length >= least &&
    (most === undefined || value.length <= most) &&
    (pattern === undefined || pattern.test(value)) &&
    (where === undefined || where(value))
  function schema() {
    let made = pattern === undefined ? z.string() : z.string().regex(pattern)
    if (least > 0) made = made.min(least)
    if (most !== undefined) made = made.max(most)
    return where === undefined ? made : made.refine(accepts)
  }
  return { schema, accepts }
}

/** Texts that match a pattern. */
export function text(pattern: RegExp, rules: TextRules = {}): Form<string> {
  return textForm(pattern, rules)
}

/** Texts of any content. */
export function anyText(rules: TextRules = {}): Form<string> {
  return textForm(undefined, rules)
}

interface HexRules {
  readonly prefix: 'optional' | 'required'
  /** Fewest and most digits. */
  readonly least?: number
  readonly most?: number
  /** Fewest digits of a text without prefix; `least` when absent. */
  readonly bareLeast?: number
}

const HEX = /^(0x)?[0-9a-fA-F]*$/

/** Hex digits of any case, behind `0x` or without it. Tested without the schema's pattern: counting in a pattern is slow. */
export function hex({ prefix, least = 0, most, bareLeast = least }: HexRules): Form<string> {
  const digits = (fewest: number) => `[0-9a-fA-F]{${fewest},${most ?? ''}}`
  const bare = bareLeast === least ? `(0x)?${digits(least)}` : `(0x${digits(least)}|${digits(bareLeast)})`
  const longest = most ?? Number.POSITIVE_INFINITY
  return {
    schema: () => z.string().regex(new RegExp(prefix === 'required' ? `^0x${digits(least)}$` : `^${bare}$`)),
    accepts(value): value is string {
      if (typeof value !== 'string') return false
      const isPrefixed = value.startsWith('0x')
      if (!isPrefixed && prefix === 'required') return false
      const count = isPrefixed ? value.length - 2 : value.length
      return count >= (isPrefixed ? least : bareLeast) && count <= longest && HEX.test(value)
    },
  }
}

/** JSON integers from `least` to `most`, both within the safe integers. */
export function integer(least: number, most: number): Form<number> {
  return {
    schema: () => z.int().min(least).max(most),
    accepts: (value): value is number =>
      typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most,
  }
}

/** JSON numbers that JavaScript writes as decimal digits alone: integers from zero to below 10^21. */
export const DIGITS: Form<number> = {
  schema: () =>
    z
      .number()
      .nonnegative()
      .lt(1e21)
      .refine((value) => Number.isInteger(value))
      .meta({ type: 'integer' }),
  accepts: (value): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 1e21,
}

/** Any JSON number. */
export const ANY_NUMBER: Form<number> = {
  schema: () => z.number(),
  accepts: (value): value is number => typeof value === 'number',
}

/** What a schema accepts, tested by the schema: for values whose use costs far more than that. */
export function schemaForm<W>(schema: () => z.ZodType<W>): Form<W> {
  let made: z.ZodType<W> | undefined
  return {
    schema,
    accepts(value): value is W {
      made ??= schema()
      return made.safeParse(value).success
    },
  }
}

/** One of these values. */
export function literals<const W extends readonly (string | boolean | null)[]>(
  ...values: W
): Form<W[number]> {
  const known: ReadonlySet<unknown> = new Set(values)
  return { schema: () => z.literal(values), accepts: (value): value is W[number] => known.has(value) }
}

/** One of these lower-case names, written in any case; the document has them in lower case. */
export function names(...values: readonly string[]): Form<string> {
  const known: ReadonlySet<string> = new Set(values)
  const accepts = (value: unknown): value is string =>
    typeof value === 'string' && known.has(value.toLowerCase())
  return { schema: () => z.string().refine(accepts).meta({ enum: values }), accepts }
}

/** A value of the first form, or else of one of the others. */
export function anyOf<const F extends readonly Form<unknown>[]>(
  ...forms: F
): Form<F[number] extends Form<infer W> ? W : never> {
  return {
    schema: () => z.union(forms.map((form) => form.schema())),
    accepts(value): value is never {
      for (const form of forms) if (form.accepts(value)) return true
      return false
    },
  }
}
