/** Methods that describe the methods of the node. */
import { z } from 'zod'
import { changesIn } from '../../chain/rule-choice.ts'
import { type Context, method } from '../method.ts'
import { namesOf, namespaceOf } from '../method-names.ts'
import { openRpcDocument } from '../openrpc.ts'
import { optional } from '../parameter.ts'
import { Flag } from '../wire/scalars.ts'

/** The methods that this caller may use. */
function openTo({ methods, session }: Context) {
  return methods.filter((method) => session.allows(method))
}

export const rpc_modules = method({
  name: 'rpc_modules',
  summary: 'The enabled namespaces, each with its version.',
  params: {},
  result: () => z.record(z.string(), z.literal('1.0')),
  examples: [{ params: [], result: { web3: '1.0', net: '1.0', eth: '1.0' }, varies: true }],
  run: (_, context) =>
    Object.fromEntries(
      openTo(context)
        .flatMap(namesOf)
        .map((name) => [namespaceOf(name), '1.0' as const]),
    ),
})

export const rpc_discover = method({
  name: 'rpc.discover',
  isForEveryKey: true,
  hosted: true,
  summary: 'An OpenRPC document of the methods that the caller may use; with `true`, only their names.',
  params: { namesOnly: optional(Flag, false) },
  result: () => z.record(z.string(), z.unknown()),
  examples: [{ params: [true], result: { methods: [{ name: 'web3_clientVersion' }] }, varies: true }],
  // The document is hundreds of kilobytes long, and its schemas are built on the first request.
  run({ namesOnly }, context) {
    const rules = changesIn(context.engine.config)
    if (!namesOnly) return openRpcDocument(openTo(context), context.options.release, rules)
    const info = rules && { info: { 'x-rules': rules } }
    return { ...info, methods: openTo(context).map(({ name }) => ({ name })) }
  },
})

/** The methods of this file, in the order of the document. */
export const RPC_METHODS = [rpc_modules, rpc_discover] as const
