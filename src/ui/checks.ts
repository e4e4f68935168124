/**
 * Checks of what comes over the wire: a value has a type once one of them has looked at it. Own code, since zod/mini, the
 * least that zod has, would add 7 kB (compressed) to the 20 kB of scripts that the first page takes.
 */

/** Is the value of this type? */
export type Check<Value> = (value: unknown) => value is Value

/** The type that a check finds. */
export type Checked<C> = C extends Check<infer Value> ? Value : never

export const isText: Check<string> = (value) => typeof value === 'string'
export const isNumber: Check<number> = (value) => typeof value === 'number'
export const isFlag: Check<boolean> = (value) => typeof value === 'boolean'
/** For what is only shown or looked into further. */
export const isAnything: Check<unknown> = (_value): _value is unknown => true
/** An object with any members. */
export const isObject: Check<Readonly<Record<string, unknown>>> = (
  value,
): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One of these texts. */
export function isOneOf<Text extends string>(...texts: readonly Text[]): Check<Text> {
  return (value): value is Text => texts.some((text) => text === value)
}

/** A value, or null. */
export function orNull<Value>(isValue: Check<Value>): Check<Value | null> {
  return (value): value is Value | null => value === null || isValue(value)
}

/** A value of one of two types. */
export function either<First, Second>(isFirst: Check<First>, isSecond: Check<Second>): Check<First | Second> {
  return (value): value is First | Second => isFirst(value) || isSecond(value)
}

/** A list of values. */
export function listOf<Value>(isValue: Check<Value>): Check<readonly Value[]> {
  return (value): value is readonly Value[] => Array.isArray(value) && value.every((each) => isValue(each))
}

/** An object that holds values by keys. */
export function recordOf<Key extends string, Value>(
  isKey: Check<Key>,
  isValue: Check<Value>,
): Check<Readonly<Record<Key, Value>>> {
  return (value): value is Readonly<Record<Key, Value>> =>
    isObject(value) && Object.entries(value).every(([key, each]) => isKey(key) && isValue(each))
}

type Checks = Readonly<Record<string, Check<unknown>>>
type ObjectOf<Needed extends Checks, Possible extends Checks> = {
  readonly [Name in keyof Needed]: Checked<Needed[Name]>
} & { readonly [Name in keyof Possible]?: Checked<Possible[Name]> }

/** An object with these members, and with the second ones or without; what other members it has does not matter. */
export function objectOf<Needed extends Checks, Possible extends Checks = Record<never, never>>(
  needed: Needed,
  possible?: Possible,
): Check<ObjectOf<Needed, Possible>> {
  const neededChecks = Object.entries(needed)
  const possibleChecks = Object.entries(possible ?? {})
  return (value): value is ObjectOf<Needed, Possible> =>
    isObject(value) &&
    neededChecks.every(([name, isMember]) => isMember(value[name])) &&
    possibleChecks.every(([name, isMember]) => value[name] === undefined || isMember(value[name]))
}
