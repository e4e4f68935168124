/** What a JSON-RPC method is: one value from which the table, the checks, the permission and the document derive. */
import type { z } from 'zod'
import type { ChaosSwitch } from '../chaos/switch.ts'
import type { Engine, ForkChoice } from '../engine/engine.ts'
import type { PeerEvent } from '../engine/peers/score.ts'
import { invalidParams } from '../errors.ts'
import type { Preset } from '../options/presets.ts'
import type { Peg } from '../peg/peg.ts'
import { withoutFinality, withPendingBlock } from './block-tags.ts'
import type { CallFigures } from './call-meter.ts'
import type { AnswerKind } from './error-meanings.ts'
import type { CallBundles } from './feeds/call-bundles.ts'
import type { ConsoleHistory } from './feeds/console-history.ts'
import type { DebugSessions } from './feeds/debug-sessions.ts'
import type { Filters } from './feeds/filters.ts'
import type { Subscriptions } from './feeds/subscriptions.ts'
import { type Answerer, type MethodNames, namespaceOf, namespaceRules } from './method-names.ts'
import type { Parameter } from './parameter.ts'
import type { WrittenJson } from './raw-json.ts'
import type { RpcOptions } from './rpc-options.ts'
import type { Session } from './session.ts'
import { requireWallet } from './signing.ts'
import type { LogTexts } from './wire/log-texts.ts'

/** Parameters by name, in call order; the optional ones last. */
export type NamedParameters = Readonly<Record<string, Parameter<unknown>>>

/** What `run` gets for them. */
export type Arguments<P extends NamedParameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never
}

/** A call and its result on a fresh local chain (`--chain regtest`, nothing mined yet), wire values. */
export interface Example {
  /** Calls to make before it. */
  readonly after?: readonly { readonly method: string; readonly params: readonly unknown[] }[]
  readonly params: readonly unknown[]
  readonly result: unknown
  /** The result differs each time or on each machine: this is one of them, of which only the form holds. */
  readonly varies?: true
}

/** All that a method may use. */
export interface Context {
  /** Of this call alone: a reset may have put another one in its place by the next. */
  readonly engine: Engine
  /**
   * Replaces the chain by one that continues from another block or chain, or from the node's own genesis. Throws
   * `upstream`, `invalid-params`, with the chain as it is. Absent where a node shares its chain with others.
   */
  readonly forkAnew?: ((choice: ForkChoice | 'none') => Promise<void>) | undefined
  /** The Bitcoin chain and the peg; absent in a node without one. */
  readonly peg?: Peg | undefined
  /** Whether calls are disturbed; absent where they cannot be. */
  readonly chaos?: ChaosSwitch | undefined
  readonly options: RpcOptions
  /** The methods that are open on this node, before the permissions of a session. */
  readonly methods: readonly AnyMethod[]
  readonly session: Session
  readonly filters: Filters
  /** The texts of logs that earlier answers held. */
  readonly logTexts: LogTexts
  /** Until when the call may run, milliseconds since 1970; 0 is no limit. */
  readonly deadline: number
  readonly subscriptions: Subscriptions
  /** Console output and failures since the node started. */
  readonly consoleHistory: ConsoleHistory
  readonly debugSessions: DebugSessions
  /** The bundles of calls that callers have sent. */
  readonly bundles: CallBundles
  /** The calls by method and key, since a server first answered for this node. */
  usage(): readonly CallFigures[]
}

/** What `method` takes. */
export interface MethodDefinition<P extends NamedParameters, R> {
  readonly name: string
  /** Other names that callers use for it; permissions count each as its own. */
  readonly aliases?: readonly string[]
  /** One sentence, for the OpenRPC document and docs/methods/README.md. */
  readonly summary: string
  /** The caller determines its cost (simulations, for example), so the number that runs at once is limited. As its namespace unless given. */
  readonly heavy?: true
  /** It waits for requests to the upstream of a fork, which have limits of their own: the default time limit does not apply. */
  readonly waitsForUpstream?: true
  /** It changes the chain, the pool, the clock, the mining, the keys or the peers of this node. */
  readonly changesState?: true
  /** Which node of a cluster answers; as its namespace, else the leader where it changes state. */
  readonly answeredBy?: Answerer
  /** A key opens it only by its name: that of its namespace is not enough. */
  readonly isGuarded?: true
  /** Every key opens it, unless its list closes it or its namespace. */
  readonly isForEveryKey?: true
  /** It is refused where the local wallet is disabled. */
  readonly needsWallet?: true
  /** It notifies its caller later: for a session that cannot be notified it does not exist. */
  readonly notifies?: true
  /** The hosted profile opens it (docs/internals/rpc-reference.md#10-hosted-profile). */
  readonly hosted?: true
  /** The presets under which the method is open by default; all unless given. */
  readonly presets?: readonly Preset[]
  /** A call that names no `block` reads the pending one in the dialects of Hardhat and Anvil. */
  readonly pendingInDialects?: true
  /** The event that a successful call counts as in the scores of callers. */
  readonly counts?: PeerEvent
  readonly params: P
  /**
   * Makes the wire form of the answer; `run` is held to it by the compiler, and by the tests. A function, since making
   * the schemas of all methods takes a fifth of the start of a node, and calls need none of them.
   */
  readonly result: () => z.ZodType<R>
  /** Recordings have a name in the place of the answer. */
  readonly hasSecretResult?: true
  /** How `run` may refuse, beside what any call may meet (`OF_ANY_CALL`); the tests hold it to that. */
  readonly errors?: readonly AnswerKind[]
  readonly examples: readonly Example[]
  /** The answer, or its text where that is long. */
  run(args: Arguments<P>, context: Context): NoInfer<R> | WrittenJson | Promise<NoInfer<R> | WrittenJson>
}

/** A method as the dispatcher and the document see it. */
export interface AnyMethod extends MethodNames {
  /** The name up to `_` or `.`: permissions and keys open and close by it. */
  readonly namespace: string
  readonly heavy: boolean
  readonly waitsForUpstream: boolean
  readonly changesState: boolean
  /** Which node of a cluster answers a call: what may be called from one node to another. */
  readonly answeredBy: Answerer
  readonly notifies: boolean
  readonly hosted: boolean
  readonly isGuarded: boolean
  readonly isForEveryKey: boolean
  readonly presets: readonly Preset[] | undefined
  /** Position of the block that is the pending one in the dialects of Hardhat and Anvil where a call names none. */
  readonly pendingAt: number | undefined
  readonly counts: PeerEvent | undefined
  readonly summary: string
  readonly params: readonly { readonly name: string; readonly parameter: Parameter<unknown> }[]
  readonly hasSecretResult: boolean
  /** Makes the schema of the answer. */
  result(): z.ZodType
  /** How it may refuse a call, beside what any call may meet. */
  readonly errors: readonly AnswerKind[]
  readonly examples: readonly Example[]
  /** Reads positional parameters and runs. The result, or a promise of it; throws `invalid-params` and what `run` throws. */
  call(params: readonly unknown[], context: Context): unknown
}

function answererOf({
  name,
  answeredBy,
  notifies,
  changesState,
}: Pick<MethodDefinition<never, never>, 'name' | 'answeredBy' | 'notifies' | 'changesState'>): Answerer {
  if (notifies === true) return 'self'
  return answeredBy ?? namespaceRules(namespaceOf(name)).answeredBy ?? (changesState ? 'leader' : 'each')
}

const headIn =
  ({ engine }: Context) =>
  () =>
    engine.queries.head().block.header.number

/** Reads positional parameters by their names. Throws `invalid-params`. */
function argumentsOf(params: AnyMethod['params'], required: number, given: readonly unknown[]) {
  if (given.length < required || given.length > params.length) {
    throw invalidParams('method parameters invalid')
  }
  const args: Record<string, unknown> = {}
  let i = 0
  for (const { name, parameter } of params) {
    args[name] = i < given.length ? parameter.read(given[i], name) : parameter.absent?.value
    i++
  }
  return args
}

/** Makes a method of its definition. */
export function method<P extends NamedParameters, R>(definition: MethodDefinition<P, R>): AnyMethod {
  const namespace = namespaceOf(definition.name)
  const rules = namespaceRules(namespace)
  const takesBlocks = rules.takesBlocks === true
  const params = Object.entries(definition.params).map(([name, parameter]) => ({ name, parameter }))
  const { needsWallet = false, changesState = false, hosted = false, counts, errors = [] } = definition
  const required = params.filter(({ parameter }) => parameter.absent === undefined).length
  const pendingAt = definition.pendingInDialects && params.findIndex(({ name }) => name === 'block')
  return {
    name: definition.name,
    aliases: definition.aliases ?? [],
    namespace,
    heavy: definition.heavy ?? rules.heavy ?? false,
    waitsForUpstream: definition.waitsForUpstream ?? false,
    changesState,
    answeredBy: answererOf(definition),
    notifies: definition.notifies ?? false,
    hosted,
    isGuarded: definition.isGuarded ?? false,
    isForEveryKey: definition.isForEveryKey ?? false,
    presets: definition.presets,
    pendingAt,
    counts,
    summary: definition.summary,
    params,
    hasSecretResult: definition.hasSecretResult ?? false,
    result: definition.result,
    errors: needsWallet && namespace === 'personal' ? ['wallet-disabled', ...errors] : errors,
    examples: definition.examples,
    call(sent, context) {
      const { dialect } = context.options
      let given = sent
      if (dialect !== 'rsk' && takesBlocks) given = withoutFinality(given, dialect, headIn(context))
      if (dialect !== 'rsk' && pendingAt !== undefined) given = withPendingBlock(given, pendingAt)
      const args = argumentsOf(params, required, given)
      if (needsWallet) requireWallet(context.engine, namespace)
      return definition.run(args as Arguments<P>, context)
    },
  }
}

/** Throws `invalid-params` where state overrides are closed on this node or to this caller. */
export function requireStateOverride({
  options,
  session,
}: Pick<Context, 'session'> & { readonly options: Pick<RpcOptions, 'stateOverride'> }): void {
  if (options.stateOverride && session.entitlements.has('stateOverride')) return
  throw invalidParams('State override is not allowed')
}
