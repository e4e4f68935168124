/**
 * The package's exports: a node in process (`createNode`, `createPool`), its transports (`serve`, `rpcHandler`), its errors
 * (`NodeError` of the node, `RpcError` of a request), checks of proofs (`verifyMergedMining`, `verifyReceiptProof`,
 * `verifyStateProof`), and the types of all these. docs/internals/api.md has each declaration, and a test holds it to that.
 */
export type { VariableValue } from './abi/storage/value-type.ts'
export type { ChainName } from './chain/activations.ts'
export type { Block, ExecutedBlock } from './chain/block.ts'
export type { ChainConfig } from './chain/config.ts'
export type { Header } from './chain/header.ts'
export {
  type MergedMiningProof,
  type VerifiedHeader,
  verifyMergedMining,
} from './chain/merged-mining/raw-header.ts'
export type { EncodedReceipt, Log, Receipt } from './chain/receipt.ts'
export { type ReceiptProof, verifyReceiptProof } from './chain/receipt-proof.ts'
export { type ProvenAccount, type StateProofAnswer, verifyStateProof } from './chain/state-proof.ts'
export type { Transaction } from './chain/transaction.ts'
export { lcovText } from './coverage/lcov.ts'
export type { CoverageMap, FileCoverage } from './coverage/model.ts'
export type { Hex } from './encoding/hex.ts'
export type { Commands, Engine, Queries } from './engine/engine.ts'
export type {
  BlockReference,
  ChainUpdate,
  ConsoleOutput,
  PoolUpdate,
  TransactionNotes,
} from './engine/model.ts'
export type { CoverageReport } from './engine/recording/model.ts'
export { type BrokenRule, type ErrorKind, NodeError } from './errors.ts'
export type { GasFrame, GasReport, GasStats } from './gas/model.ts'
export type { Logger } from './logger.ts'
export type { AccountChanges } from './node/account-changes.ts'
export { createNode, type Node, type ProviderMessage } from './node/node.ts'
export { createPool, type Pool, type PoolOptions } from './node/pool.ts'
export type {
  SimulatedAccountChange,
  SimulatedEvent,
  SimulatedLog,
  SimulatedMessage,
  SimulatedPlace,
  SimulateMessage,
  SimulateOptions,
  SimulateOverrides,
  SimulateResult,
  SimulateResults,
  SimulateStep,
  SimulateWarp,
} from './node/simulation.ts'
export type { NodeOptions, RpcHandlerOptions, ServeOptions } from './options/options.ts'
export { RpcError } from './rpc/error-codes.ts'
export { type RpcHandler, rpcHandler } from './transport/rpc-handler.ts'
export { type Server, serve } from './transport/server.ts'
