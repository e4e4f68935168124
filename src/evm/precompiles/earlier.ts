/** The precompiled contracts of heights at which not every rule is in force (docs/internals/protocol.md#75-activation). */
import type { IsActive } from '../../chain/activations.ts'
import { PRECOMPILE_ADDRESS as AT, type ChainConfig } from '../../chain/config.ts'
import { PRECOMPILE_RULES } from '../../chain/precompile-accounts.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import { earlierBlockHeaderContract } from './block-header.ts'
import { createBridge } from './bridge/bridge.ts'
import { bridgeNetwork, bridgeRules } from './bridge/constants/networks.ts'
import { type Precompile, PrecompileFailure } from './precompile.ts'
import { PRECOMPILES } from './table.ts'

const CURVE: readonly Hex[] = [AT.bn128Add, AT.bn128Mul, AT.bn128Pairing]

/** Invalid points give no output and no failure, which RSKIP-197 changes. */
function lenient(contract: Precompile): Precompile {
  const { name, requiredGas, run } = contract
  return {
    name,
    requiredGas,
    run(input, env) {
      try {
        return run(input, env)
      } catch (error) {
        if (error instanceof PrecompileFailure) return EMPTY
        throw error
      }
    },
  }
}

function uncut({ maxInputFromContract: _, ...contract }: Precompile): Precompile {
  return contract
}

/** The network, its rules, and the release of the reference node whose Bridge it has. */
export type BridgeOf = Pick<ChainConfig, 'network' | 'ruleHeights' | 'bridgeRelease'>

/** The Bridge of a network while these rules are in force. */
export function bridgeOf(
  { network, bridgeRelease }: Pick<BridgeOf, 'network' | 'bridgeRelease'>,
  isActive: IsActive,
): Precompile {
  const { methodGas, ...code } = createBridge(
    bridgeNetwork(network.bridge, bridgeRelease),
    bridgeRules(isActive, bridgeRelease),
  )
  return { ...code, name: 'Bridge', requiredGas: methodGas }
}

/** The contracts of a network, by address, while these rules are in force. */
export function precompilesAt(chain: BridgeOf, isActive: IsActive): ReadonlyMap<Hex, Precompile> {
  const contracts = new Map<Hex, Precompile>()
  for (const [address, present] of PRECOMPILES) {
    const rule = PRECOMPILE_RULES.get(address)
    if (rule !== undefined && !isActive(rule)) continue
    let contract = present
    if (CURVE.includes(address) && !isActive('rskip197')) contract = lenient(contract)
    if (address === AT.bridge) {
      contract = bridgeOf(chain, isActive)
    }
    if (!isActive('rskip516')) contract = uncut(contract)
    if (address === AT.blockHeader && !isActive('rskip536')) {
      contract = {
        ...contract,
        ...earlierBlockHeaderContract,
        requiredGas: earlierBlockHeaderContract.methodGas,
      }
    }
    contracts.set(address, contract)
  }
  return contracts
}
