/** The common part of `evm_reset`, `hardhat_reset` and `anvil_reset`: a reset to the first block, or to a fork. */
import { invalidParams, NodeError } from '../../errors.ts'
import { anyText } from '../json-forms.ts'
import type { Context } from '../method.ts'
import { object, orNull, type Parameter, scalar } from '../parameter.ts'
import { wholeNumber } from '../wire/scalars.ts'

const isUpstreamUrl = (value: string): boolean =>
  URL.canParse(value) && /^(https?|wss?):$/.test(new URL(value).protocol)

/** The URL of an upstream. */
export const Url: Parameter<string> = scalar({
  form: anyText({ most: 2048, where: isUpstreamUrl }),
  description: 'a URL of http, https, ws or wss',
  secret: 'url',
  decode: (value) => value,
  refusal: (_, name) => `${name}: must be a URL of http, https, ws or wss`,
})

const FORKING = {
  jsonRpcUrl: Url,
  blockNumber: wholeNumber('height of the block to fork, number or hex', Number.MAX_SAFE_INTEGER),
}

interface ForkingRequest {
  readonly jsonRpcUrl?: string | undefined
  readonly blockNumber?: number | undefined
}

const EMPTY_IS_ABSENT = { nullIsAbsent: true } as const

/** What to reset to. */
type ResetRequest = ForkingRequest & { readonly forking?: ForkingRequest | undefined }

/** The chain to fork; clients may send empty members, and Anvil accepts the members of `forking` at the top level as well. */
export const ResetOptions: Parameter<ResetRequest> = orNull(
  object({ ...FORKING, forking: object(FORKING, EMPTY_IS_ABSENT) }, EMPTY_IS_ABSENT),
  {},
)

/** The summary of the three methods. */
export const RESET_SUMMARY =
  'Resets the chain to genesis, a fork to its first block; snapshots, pool, clock offset, block overrides and impersonation are dropped. Without `forking`, a node that was started without a fork returns to its own chain. With `forking` the chain becomes a fork of `jsonRpcUrl` (by default the current upstream) at `blockNumber` (by default the tip): filters and subscriptions continue at its head, mining restarts in the mode that the node was started with, and waiting calls that would change the old chain are refused.'

/**
 * Throws `unauthorized` when the caller may not name this URL: the node may reach hosts that the caller cannot.
 */
export function requireUpstreamUrl({ session, options }: Context, url: string, name: string): void {
  const { forkAllow } = options
  if (session.entitlements.has('upstreamUrl') || forkAllow.includes('*')) return
  const { origin } = new URL(url)
  if (forkAllow.includes(origin)) return
  throw new NodeError(
    'unauthorized',
    `${name}: this node does not connect to URLs that callers name, since they may be on other machines; start it with --fork-allow ${origin} to permit this one`,
  )
}

/** Resets the chain, or forks another one. Throws `invalid-params`, `unauthorized`, `upstream`, with the chain as it was. */
export async function resetChain(context: Context, { forking, ...top }: ResetRequest): Promise<void> {
  const { engine, forkAnew, options } = context
  const url = forking?.jsonRpcUrl ?? top.jsonRpcUrl
  const block = forking?.blockNumber ?? top.blockNumber
  if (url === undefined && block === undefined) {
    const becameFork = engine.fork !== undefined && !options.beganAsFork
    return forking === undefined && becameFork && forkAnew !== undefined
      ? forkAnew('none')
      : engine.commands.reset()
  }
  if (url !== undefined) requireUpstreamUrl(context, url, 'forking.jsonRpcUrl')
  if (forkAnew === undefined)
    throw invalidParams('options.forking: a node that shares its chain with others cannot fork another chain')
  return forkAnew({ url, block })
}
