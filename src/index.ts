/** The public face: a node in process, sockets for it, its errors, and the types that both speak. */
export type { Block, ExecutedBlock } from './chain/block.ts'
export type { ChainConfig, ChainName } from './chain/config.ts'
export type { Header } from './chain/header.ts'
export {
  type MergedMiningProof,
  type VerifiedHeader,
  verifyMergedMining,
} from './chain/merged-mining/raw-header.ts'
export type { Log, Receipt } from './chain/receipt.ts'
export { type ReceiptProof, verifyReceiptProof } from './chain/receipt-proof.ts'
export { type ProvenAccount, type StateProofAnswer, verifyStateProof } from './chain/state-proof.ts'
export type { Transaction } from './chain/transaction.ts'
export type { Hex } from './encoding/hex.ts'
export type { BlockReference, Commands, Engine, Queries } from './engine/engine.ts'
export type { ChainUpdate, ConsoleOutput, PoolUpdate, TransactionNotes } from './engine/events.ts'
export { type ErrorKind, NodeError } from './errors.ts'
export type { Logger } from './logger.ts'
export { createNode, type Node, type ProviderMessage } from './node.ts'
export type { NodeOptions, ServeOptions } from './options/options.ts'
export { RpcError } from './rpc/error-codes.ts'
export { type Server, serve } from './transport/server.ts'
