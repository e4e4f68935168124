/** The list of methods that this node knows. */
import type { AnyMethod } from '../method.ts'
import { NAME_METHODS } from './abi.ts'
import { ALCHEMY_METHODS } from './alchemy.ts'
import { BTC_METHODS } from './btc.ts'
import { CHAOS_METHODS } from './chaos.ts'
import { COMPARISON_METHODS } from './comparison.ts'
import { COVERAGE_METHODS } from './coverage.ts'
import { DEBUG_METHODS } from './debug.ts'
import { DEBUG_GETH_METHODS } from './debug-geth.ts'
import { DEBUG_RAW_METHODS } from './debug-raw.ts'
import { DEBUG_STATE_METHODS } from './debug-state.ts'
import { DEBUGGER_METHODS } from './debugger.ts'
import { DEV_ACCOUNT_METHODS } from './dev/accounts.ts'
import { DEV_CHAIN_METHODS } from './dev/chain.ts'
import { DEV_MINING_METHODS } from './dev/mining.ts'
import { DEV_NODE_METHODS } from './dev/node.ts'
import { DEV_POOL_METHODS } from './dev/pool.ts'
import { DEV_STATE_METHODS } from './dev/state.ts'
import { DEV_STATE_FILE_METHODS } from './dev/state-files.ts'
import { DEV_TOKEN_METHODS } from './dev/tokens.ts'
import { VARIABLE_METHODS } from './dev/variables.ts'
import { BLOCK_METHODS } from './eth/block.ts'
import { BRIDGE_METHODS } from './eth/bridge.ts'
import { CLIENT_METHODS } from './eth/client.ts'
import { CONDITIONAL_METHODS } from './eth/conditional.ts'
import { EXECUTE_METHODS } from './eth/execute.ts'
import { FEE_METHODS } from './eth/fees.ts'
import { FILL_METHODS } from './eth/fill.ts'
import { FILTER_METHODS } from './eth/filters.ts'
import { LOG_METHODS } from './eth/logs.ts'
import { MINING_METHODS } from './eth/mining.ts'
import { SIGN_METHODS } from './eth/sign.ts'
import { SIMULATE_METHODS } from './eth/simulate.ts'
import { STATE_METHODS } from './eth/state.ts'
import { SUBMIT_METHODS } from './eth/submit.ts'
import { SUBMIT_SYNC_METHODS } from './eth/submit-sync.ts'
import { SUBSCRIBE_METHODS } from './eth/subscribe.ts'
import { TRANSACTION_METHODS } from './eth/transaction.ts'
import { EVM_METHODS } from './evm.ts'
import { STEP_METHODS } from './evm-simulate.ts'
import { EXT_METHODS } from './ext.ts'
import { GAS_METHODS } from './gas.ts'
import { MNR_METHODS } from './mnr.ts'
import { DECODING_METHODS } from './names.ts'
import { NET_METHODS } from './net.ts'
import { OTS_METHODS } from './ots.ts'
import { PERSONAL_METHODS } from './personal.ts'
import { RPC_METHODS } from './rpc.ts'
import { SCO_METHODS } from './sco.ts'
import { SOURCE_METHODS } from './sources.ts'
import { STACK_TRACE_METHODS } from './stack-trace.ts'
import { TENDERLY_METHODS } from './tenderly.ts'
import { TOKEN_METHODS } from './tokens.ts'
import { TRACE_METHODS } from './trace.ts'
import { TRACE_REPLAY_METHODS } from './trace-replay.ts'
import { TXPOOL_METHODS } from './txpool.ts'
import { WALLET_METHODS } from './wallet.ts'
import { WEB3_METHODS } from './web3.ts'

/** All methods; the dispatcher decides which of them are open. */
export const METHODS: readonly AnyMethod[] = [
  ...WEB3_METHODS,
  ...NET_METHODS,
  ...RPC_METHODS,
  ...CLIENT_METHODS,
  ...BRIDGE_METHODS,
  ...STATE_METHODS,
  ...FEE_METHODS,
  ...EXECUTE_METHODS,
  ...SIMULATE_METHODS,
  ...BLOCK_METHODS,
  ...TRANSACTION_METHODS,
  ...LOG_METHODS,
  ...FILTER_METHODS,
  ...SUBSCRIBE_METHODS,
  ...SUBMIT_METHODS,
  ...SUBMIT_SYNC_METHODS,
  ...CONDITIONAL_METHODS,
  ...FILL_METHODS,
  ...SIGN_METHODS,
  ...WALLET_METHODS,
  ...TXPOOL_METHODS,
  ...SCO_METHODS,
  ...EVM_METHODS,
  ...CHAOS_METHODS,
  ...STEP_METHODS,
  ...NAME_METHODS,
  ...SOURCE_METHODS,
  ...TOKEN_METHODS,
  ...STACK_TRACE_METHODS,
  ...COVERAGE_METHODS,
  ...GAS_METHODS,
  ...DEBUGGER_METHODS,
  ...VARIABLE_METHODS,
  ...DECODING_METHODS,
  ...COMPARISON_METHODS,
  ...EXT_METHODS,
  ...MINING_METHODS,
  ...MNR_METHODS,
  ...BTC_METHODS,
  ...TRACE_METHODS,
  ...TRACE_REPLAY_METHODS,
  ...DEBUG_METHODS,
  ...DEBUG_RAW_METHODS,
  ...DEBUG_GETH_METHODS,
  ...OTS_METHODS,
  ...DEBUG_STATE_METHODS,
  ...PERSONAL_METHODS,
  ...DEV_STATE_METHODS,
  ...DEV_STATE_FILE_METHODS,
  ...DEV_ACCOUNT_METHODS,
  ...DEV_MINING_METHODS,
  ...DEV_NODE_METHODS,
  ...DEV_POOL_METHODS,
  ...DEV_CHAIN_METHODS,
  ...DEV_TOKEN_METHODS,
  ...TENDERLY_METHODS,
  ...ALCHEMY_METHODS,
]
