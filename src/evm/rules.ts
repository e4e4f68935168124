/** What a message runs by, as data: opcodes, precompiled contracts, limits, intrinsic gas, by network and height. */

import { byStretch, type IsActive } from '../chain/activations.ts'
import { BRIDGE_SENDERS } from '../chain/bridge-senders.ts'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { DRAFT_RULES, RULE_NAMES, type RuleHeights, type RuleName } from '../chain/consensus-rules.ts'
import {
  type IntrinsicParts,
  intrinsicGas,
  MAX_INITCODE_SIZE,
  PRESENT_PRICES,
} from '../chain/intrinsic-gas.ts'
import { RULE_HEIGHTS } from '../chain/shipped-networks.ts'
import { LEGACY_ONLY, type TypeRules, typeRules } from '../chain/transaction-types.ts'
import type { Hex } from '../encoding/hex.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Overlay } from '../state/overlay.ts'
import {
  type BlockEnvironment,
  MAX_GAS,
  type Message,
  type MessageResult,
  type RunOptions,
} from './message.ts'
import { MAX_CALL_DEPTH } from './opcodes/calls.ts'
import { opcodesAt } from './opcodes/earlier.ts'
import type { OpcodeTable } from './opcodes/operation.ts'
import { OPERATIONS, opcodeTable } from './opcodes/table.ts'
import { type BridgeOf, bridgeOf, precompilesAt } from './precompiles/earlier.ts'
import type { Precompile } from './precompiles/precompile.ts'
import { PRECOMPILES } from './precompiles/table.ts'

/** How frames call and create. What a rule changed is true from the rule on (docs/internals/protocol.md#75-activation). */
export interface FrameRules {
  /** RSKIP-90: the output of a precompiled contract is return data. */
  readonly returnsPrecompileOutput: boolean
  /** RSKIP-125: a contract made by code begins with nonce 1. */
  readonly createsWithNonce: boolean
  /** RSKIP-150: the output of a precompiled contract is cut to the memory that the call names. */
  readonly cutsPrecompileOutput: boolean
  /** RSKIP-171: a call that opens no frame clears the return data. */
  readonly clearsReturnData: boolean
  /** RSKIP-174: a creation transaction keeps the balance at its address. */
  readonly keepsBalance: boolean
  /** RSKIP-197: a failing precompiled contract fails the call, and no more. */
  readonly catchesPrecompileFailure: boolean
  /** RSKIP-438: init code has a maximum. */
  readonly limitsInitcode: boolean
  /** RSKIP-453: a creation by code fails when the new code cannot be stored. */
  readonly failsUnstoredCode: boolean
  /** RSKIP-544: no code begins with 0xef. */
  readonly refusesEfCode: boolean
  /** RSKIP-545: calls of an account that delegates run the code of its delegate. */
  readonly followsDelegations: boolean
}

/** A set of rules. */
export interface VmRules {
  readonly opcodes: OpcodeTable
  /** By lower-case address. */
  readonly precompiles: ReadonlyMap<Hex, Precompile>
  /** Deepest frame; the transaction's own is 0. */
  readonly maxDepth: number
  /** Does 0xfc in front of code mark a header (docs/internals/protocol.md#64-code-header)? */
  readonly codeHeaders: boolean
  /** RSKIP-169: EXTCODEHASH of a contract without code is the hash of no code. */
  readonly hashesBareContracts: boolean
  /** Most gas of a message or transaction. */
  readonly maxGas: bigint
  /** Longest init code of a transaction, bytes. */
  readonly maxInitcodeSize: number
  readonly frames: FrameRules
  /** Gas before any code runs; without `from`, as in a simulation, no sender is exempt. */
  intrinsicGas(transaction: IntrinsicParts): bigint
  /** Which types of transactions a block takes. */
  readonly types: TypeRules
}

/** Calls and creations with every rule in force. */
export const PRESENT_FRAMES: FrameRules = {
  returnsPrecompileOutput: true,
  createsWithNonce: true,
  cutsPrecompileOutput: true,
  clearsReturnData: true,
  keepsBalance: true,
  catchesPrecompileFailure: true,
  limitsInitcode: true,
  failsUnstoredCode: true,
  refusesEfCode: true,
  followsDelegations: false,
}

/** The chain's rules with all of them in force (docs/internals/protocol.md#6-evm), as on the local network. */
export const CHAIN_RULES: VmRules = {
  opcodes: opcodeTable(OPERATIONS),
  precompiles: PRECOMPILES,
  maxDepth: MAX_CALL_DEPTH,
  codeHeaders: true,
  hashesBareContracts: true,
  maxGas: MAX_GAS,
  maxInitcodeSize: MAX_INITCODE_SIZE,
  frames: PRESENT_FRAMES,
  intrinsicGas,
  types: LEGACY_ONLY,
}

/** Are these the local network's rules, apart from drafts? The few that begin in its first block are rules of headers and lists. */
function areLocal(isActive: IsActive): boolean {
  const local = RULE_HEIGHTS.regtest
  const isLocal = (rule: RuleName) => local[rule] === 1 || isActive(rule) === (local[rule] === 0)
  return RULE_NAMES.every((rule) => DRAFT_RULES.includes(rule) || isLocal(rule))
}

/** The chain's rules, with another release's Bridge where one is asked for. */
function presentRules(chain: BridgeOf, isActive: IsActive): VmRules {
  if (chain.bridgeRelease === undefined) return CHAIN_RULES
  const precompiles = new Map(PRECOMPILES).set(PRECOMPILE_ADDRESS.bridge, bridgeOf(chain, isActive))
  return { ...CHAIN_RULES, precompiles }
}

function makeRules(chain: BridgeOf, isActive: IsActive): VmRules {
  const rules = areLocal(isActive) ? presentRules(chain, isActive) : earlierRules(chain, isActive)
  const types = typeRules(isActive)
  if (!types.typed) return rules
  return { ...rules, types, frames: { ...rules.frames, followsDelegations: types.setCode } }
}

function earlierRules(chain: BridgeOf, isActive: IsActive): VmRules {
  const prices = {
    dataByte: isActive('rskip400') ? PRESENT_PRICES.dataByte : 68,
    initcodeWord: isActive('rskip438') ? PRESENT_PRICES.initcodeWord : 0,
    freeSenders: isActive('areBridgeTxsPaid') ? undefined : BRIDGE_SENDERS[chain.network.bridge],
  }
  return {
    ...CHAIN_RULES,
    opcodes: opcodeTable(opcodesAt(isActive)),
    precompiles: precompilesAt(chain, isActive),
    hashesBareContracts: isActive('rskip169'),
    maxDepth: isActive('rskip150') ? CHAIN_RULES.maxDepth : 1024,
    maxInitcodeSize: isActive('rskip438') ? MAX_INITCODE_SIZE : Number.POSITIVE_INFINITY,
    frames: {
      returnsPrecompileOutput: isActive('rskip90'),
      createsWithNonce: isActive('rskip125'),
      cutsPrecompileOutput: isActive('rskip150'),
      clearsReturnData: isActive('rskip171'),
      keepsBalance: isActive('rskip174'),
      catchesPrecompileFailure: isActive('rskip197'),
      limitsInitcode: isActive('rskip438'),
      failsUnstoredCode: isActive('rskip453'),
      refusesEfCode: isActive('rskip544'),
      followsDelegations: false,
    },
    intrinsicGas: (transaction) => intrinsicGas(transaction, prices),
  }
}

const tables = new WeakMap<RuleHeights, Map<string, (height: number) => VmRules>>()

/** A network's rules by height; the same record for all heights between two changes. */
export function vmRulesOf(chain: BridgeOf): (height: number) => VmRules {
  const { network, ruleHeights, bridgeRelease } = chain
  const known = tables.get(ruleHeights) ?? new Map()
  tables.set(ruleHeights, known)
  const key = `${network.bridge} ${bridgeRelease}`
  const rulesAt = known.get(key) ?? byStretch(ruleHeights, (isActive) => makeRules(chain, isActive))
  known.set(key, rulesAt)
  return rulesAt
}

/** Runs messages by the rules of their block's height. Any number at once. */
export interface Vm {
  /** What CHAINID answers. */
  readonly chainId: number
  /** Do runs with a tracer use another EVM than those without? */
  readonly tracesByAnotherEvm?: boolean
  /** The rules of the block of a height. */
  rulesAt(height: number): VmRules
  /**
   * Runs a top-level message on `state`, which keeps what it changed unless it does not succeed: the result, or a promise
   * of it when the run has to wait. Throws `invalid-params` for gas above `rules.maxGas`. Whatever else this throws, or
   * rejects with (`limit-exceeded` at the deadline, a failing disk), leaves `state` with checkpoints open: drop it.
   */
  run(
    message: Message,
    state: Overlay,
    env: BlockEnvironment,
    options?: RunOptions,
  ): MaybePromise<MessageResult>
}
