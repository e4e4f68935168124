/** One doing under the names of two families of development clients, which differ in what they answer. */
import { z } from 'zod'
import {
  type AnyMethod,
  type Arguments,
  type Context,
  type MethodDefinition,
  method,
  type NamedParameters,
} from '../../method.ts'
import { namespaceOf, namespaceRules } from '../../method-names.ts'

/** A method that answers nothing but that it is done. */
interface Order<P extends NamedParameters>
  extends Pick<MethodDefinition<P, never>, 'aliases' | 'summary' | 'params' | 'errors' | 'waitsForUpstream'> {
  /** Behind `hardhat_` and `anvil_`. */
  readonly name: string
  /** Parameters of a call that changes nothing on a fresh local chain. */
  readonly example?: readonly unknown[]
  run(args: Arguments<P>, context: Context): Promise<unknown>
}

/** The two methods of an order: Hardhat's answers true, as do the aliases; Anvil's answers null. */
export function order<P extends NamedParameters>(definition: Order<P>): readonly [AnyMethod, AnyMethod] {
  const { name, aliases, summary, params, errors = [], example, run, waitsForUpstream } = definition
  const examples = (result: true | null) => (example === undefined ? [] : [{ params: example, result }])
  return [
    method({
      name: `hardhat_${name}`,
      ...(aliases && { aliases }),
      changesState: true,
      ...(waitsForUpstream && { waitsForUpstream }),
      summary,
      params,
      result: () => z.literal(true),
      errors,
      examples: examples(true),
      async run(args, context) {
        await run(args, context)
        return true as const
      },
    }),
    method({
      name: `anvil_${name}`,
      changesState: true,
      ...(waitsForUpstream && { waitsForUpstream }),
      summary: `${summary} Anvil's form: answers null.`,
      params,
      result: () => z.null(),
      errors,
      examples: examples(null),
      async run(args, context) {
        await run(args, context)
        return null
      },
    }),
  ]
}

/**
 * The same method under the name of another namespace. It is no alias, so that closing one namespace leaves the other
 * open.
 */
export function under(name: string, original: AnyMethod): AnyMethod {
  return {
    ...original,
    name,
    aliases: [],
    namespace: namespaceOf(name),
    answeredBy: namespaceRules(namespaceOf(name)).answeredBy ?? original.answeredBy,
    summary: `The same as ${original.name}. ${original.summary}`,
  }
}
