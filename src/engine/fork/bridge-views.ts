/** Views of the Bridge on a fork: upstream runs them, because nodes do not serve its storage cells, which are longer than words. */
import { LRUCache } from 'lru-cache'
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import { type BridgeView, bridgeOver } from '../../evm/precompiles/bridge/bridge.ts'
import { type PrecompileEnvironment, PrecompileFailure } from '../../evm/precompiles/precompile.ts'
import type { VmRules } from '../../evm/rules.ts'
import type { Demand } from '../../state/fork/demand.ts'
import type { RemoteBlockId, RemoteChain } from '../../state/remote/model.ts'
import type { BlockHistory } from '../../store/block-store.ts'

/** Number of cached answers. */
const MOST_ANSWERS = 10_000

interface Parts {
  readonly remote: RemoteChain
  /** Whether the state of the Bridge is stored here from the fork's block on. */
  readonly isStored: boolean
  readonly history: BlockHistory
  readonly demand: Demand
}

/** An answer of upstream: the output, or the reason of the failure. */
type Answer = { readonly output: Uint8Array } | { readonly failure: string }

/** Rules whose Bridge is run by the upstream in all states that are not stored here. */
export function withUpstreamBridge(
  rulesAt: (height: number) => VmRules,
  parts: Parts,
): (height: number) => VmRules {
  const isPast = ({ number, isLocal }: PrecompileEnvironment) =>
    number <= parts.remote.point.number && !isLocal
  const isHere = ({ number, isLocal }: PrecompileEnvironment) =>
    parts.isStored &&
    (number > parts.remote.point.number || (isLocal && number === parts.remote.point.number))
  const contract = bridgeOver(createBridgeView(parts), isPast)
  const made = new Map<VmRules, VmRules>()
  return (height) => {
    const rules = rulesAt(height)
    let own = made.get(rules)
    if (own === undefined) {
      const row = rules.precompiles.get(PRECOMPILE_ADDRESS.bridge)
      if (row === undefined) throw new Error('the chain has no Bridge')
      const precompiles = new Map(rules.precompiles).set(PRECOMPILE_ADDRESS.bridge, {
        name: row.name,
        requiredGas: (input, env) => (isHere(env) ? row.requiredGas : contract.methodGas)(input, env),
        run: (input, env) => (isHere(env) ? row.run : contract.run)(input, env),
      })
      own = { ...rules, precompiles }
      made.set(rules, own)
    }
    return own
  }
}

function createBridgeView({ remote, history, demand }: Parts): BridgeView {
  const answers = new LRUCache<string, Answer>({ max: MOST_ANSWERS })

  /** The block after which the state is that of the call; `undefined` while it is being fetched. */
  function blockOf({ number, isLocal, ancestor }: PrecompileEnvironment): RemoteBlockId | undefined {
    if (number > remote.point.number) return remote.point
    if (isLocal) {
      const hash = number === remote.point.number ? remote.point.hash : history.hashAt(number)
      return hash && { number, hash }
    }
    const parent = ancestor(0)
    return parent && { number: parent.header.number, hash: parent.hash }
  }

  async function ask(key: string, block: RemoteBlockId, from: Hex, data: Uint8Array): Promise<void> {
    try {
      const call = { from, to: PRECOMPILE_ADDRESS.bridge, data }
      answers.set(key, { output: await remote.stateAt(block).call(call) })
    } catch (error) {
      if (!(error instanceof NodeError) || error.kind !== 'reverted') throw error
      answers.set(key, { failure: error.message })
    }
  }

  return (input, env) => {
    const block = blockOf(env)
    if (block === undefined) return EMPTY
    const key = `${block.hash} ${env.caller} ${toHex(input)}`
    const answer = answers.get(key)
    if (answer === undefined) {
      demand.missLoad(`Bridge ${key}`, () => ask(key, block, env.caller, input))
      return EMPTY
    }
    if ('failure' in answer) throw new PrecompileFailure(answer.failure)
    return answer.output
  }
}
