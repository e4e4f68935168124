/** One operation under the method names of Hardhat and of Anvil, which return different values. */
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

/** A method whose result only confirms that it was carried out. */
interface Order<P extends NamedParameters>
  extends Pick<MethodDefinition<P, never>, 'aliases' | 'summary' | 'params' | 'errors' | 'waitsForUpstream'> {
  /** The name after `hardhat_` or `anvil_`. */
  readonly name: string
  /** Parameters of a call that changes nothing on a fresh local chain. */
  readonly example?: readonly unknown[]
  run(args: Arguments<P>, context: Context): Promise<unknown>
}

/** The two methods of one operation: Hardhat's and the aliases return true, Anvil's returns null. */
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
 * The same method under the name of another namespace. It is not an alias: closing one namespace leaves the other open.
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
