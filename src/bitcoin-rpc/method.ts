/** Methods of Bitcoin Core's JSON-RPC, each one record: name, parameters, help and handler. */
import type { z } from 'zod'
import type { Bitcoin } from '../bitcoin/bitcoin.ts'
import { CODE, RpcFailure } from './rpc-failure.ts'

/** What a call works on. */
export interface Context {
  readonly bitcoin: Bitcoin
  /** Name of the wallet in the path; `undefined` when the path has none. */
  readonly wallet: string | undefined
  /** All methods, for `help`. */
  readonly methods: ReadonlyMap<string, Method>
  /** Seconds since 1970 when the node began to answer. */
  readonly startedAt: number
  /** Has the server been closed, or the client gone? Long calls then end. */
  isOver(): boolean
}

/** Groups of methods, as `help` shows them. */
export type Category =
  | 'Blockchain'
  | 'Control'
  | 'Generating'
  | 'Mining'
  | 'Network'
  | 'Rawtransactions'
  | 'Util'
  | 'Wallet'

/** A method. */
export interface Method {
  readonly name: string
  readonly category: Category
  /** What it does, in sentences. */
  readonly help: string
  /** Its parameters in order. */
  readonly parameters: readonly { readonly name: string; readonly schema: z.ZodType }[]
  /** Calls the handler with decoded parameters. Throws an `RpcFailure`. */
  call(context: Context, parameters: readonly unknown[] | Readonly<Record<string, unknown>>): unknown
}

type Shape = Readonly<Record<string, z.ZodType>>

/** What a method is made of. A schema that accepts `undefined` makes its parameter optional. */
export interface Definition<S extends Shape> {
  readonly name: string
  readonly category: Category
  readonly help: string
  readonly parameters: S
  handle(parameters: { readonly [K in keyof S]: z.output<S[K]> }, context: Context): unknown
}

function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success
}

/** The line that shows how the method is called. */
export function usageOf({ name, parameters }: Pick<Method, 'name' | 'parameters'>): string {
  const words = parameters.map(({ name, schema }) => (isOptional(schema) ? `( ${name} )` : name))
  return [name, ...words].join(' ')
}

/** The parameters by name. */
function byName(
  method: Pick<Method, 'name' | 'parameters' | 'help'>,
  given: readonly unknown[] | Readonly<Record<string, unknown>>,
): ReadonlyMap<string, unknown> {
  const names = method.parameters.map(({ name }) => name)
  const misuse = () => new RpcFailure(CODE.MISC, `${usageOf(method)}\n\n${method.help}`)
  if (isList(given)) {
    if (given.length > names.length) throw misuse()
    return new Map(given.map((value, i) => [names[i] ?? '', value]))
  }
  // Bitcoin Core takes positional parameters beside named ones as `args`.
  const { args = [], ...named } = given
  if (!isList(args) || args.length > names.length) throw misuse()
  const values = new Map<string, unknown>(args.map((value, i) => [names[i] ?? '', value]))
  for (const [name, value] of Object.entries(named)) {
    if (!names.includes(name)) throw new RpcFailure(CODE.PARAMETER, `Unknown named parameter ${name}`)
    if (values.has(name))
      throw new RpcFailure(
        CODE.PARAMETER,
        `Parameter ${name} specified twice both as positional and named argument`,
      )
    values.set(name, value)
  }
  return values
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

function decode(name: string, schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value ?? undefined)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = [name, ...(issue?.path ?? []).map(String)].join('.')
  throw new RpcFailure(
    CODE.TYPE,
    `Wrong type passed: ${path}: ${issue?.message ?? 'not of the expected type'}`,
  )
}

/** The method of a definition. */
export function method<const S extends Shape>(definition: Definition<S>): Method {
  const { name, category, help, handle } = definition
  const parameters = Object.entries(definition.parameters).map(([name, schema]) => ({ name, schema }))
  return {
    name,
    category,
    help,
    parameters,
    call(context, given) {
      const values = byName({ name, help, parameters }, given)
      const decoded = parameters.map((parameter) => {
        const value = values.get(parameter.name) ?? undefined
        if (value === undefined && !isOptional(parameter.schema))
          throw new RpcFailure(CODE.MISC, `${usageOf({ name, parameters })}\n\n${help}`)
        return [parameter.name, decode(parameter.name, parameter.schema, value)] as const
      })
      return handle(Object.fromEntries(decoded) as { readonly [K in keyof S]: z.output<S[K]> }, context)
    },
  }
}
