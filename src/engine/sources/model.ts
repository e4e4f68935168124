/** The sources of an engine, as the rest of the node uses them. */

import type { Artifact } from '../../abi/artifact.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { DumpedSources, VerifiedContract } from '../../chain/state-file/records.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { NodeError, SourceFrame } from '../../errors.ts'
import type { CallRequest } from '../../execution/request.ts'
import type { CalledMessage } from '../../source-level/stack/called-messages.ts'
import type { CaughtFailure } from '../../source-level/stack/caught-failures.ts'
import type { Compilation, SourceMatch } from '../../sources/compilation.ts'
import type { StateReader } from '../../state/model.ts'
import type { BlockReference, SimulationOptions } from '../model.ts'

/** A contract at an address, with the sources of its code. */
export interface SourcesAt {
  readonly address: Hex
  readonly code: Uint8Array
  readonly codeHash: Hex
  /** Absent where no known compilation made this code. */
  readonly match?: SourceMatch
}

/** Sources by the code that was made of them: additions are commands, the rest are reads. */
export interface Sources {
  /** Adds a compilation; false when it is known. Durable once it resolves. Throws `invalid-params` when it is too large. */
  add(compilation: Compilation): Promise<boolean>
  /** Notes which contract a person has verified at an address: of contracts with equal code it is the one that is shown. */
  note(verified: VerifiedContract): Promise<void>
  /** Ids of all compilations, the oldest first. */
  ids(): Promise<readonly Hex[]>
  /** A compilation by its id. */
  get(id: Hex): Promise<Compilation | undefined>
  /** What a state file keeps: the newest compilations of 64 Mi characters together at most, and what was verified by them. */
  dump(): Promise<DumpedSources>
  /** The contract of a compilation whose code this is. */
  match(code: Uint8Array): Promise<SourceMatch | undefined>
  /** The contract at an address with its sources; `undefined` where there is no code. */
  at(state: StateReader, address: Hex): Promise<SourcesAt | undefined>
  /** The names in the ABI of the contract at an address, by its sources; `undefined` where these are not known. */
  abiAt(state: StateReader, address: Hex): Promise<Artifact | undefined>
}

/** What is known of a run at the level of sources. */
export interface SourceTrace {
  readonly failed: boolean
  /** Of the failure, outermost first. */
  readonly frames: readonly SourceFrame[]
  /** Failures that code caught: where the message stands in the call tree, and its frames. */
  readonly caught: readonly CaughtFailure[]
  /** Each message of the call tree. */
  readonly calls: readonly CalledMessage[]
}

/** Failures explained by the sources that a node knows. */
export interface SourceTraces {
  /** Does the node know any sources? */
  hasSources(): Promise<boolean>
  /** The frames of the failed call, estimate or mined transaction that this error reports; none without sources. */
  ofError(error: NodeError): Promise<readonly SourceFrame[]>
  /** Runs the transaction at an index of a block again. Throws as a replay does. */
  ofTransaction(block: ExecutedBlock, index: number, timeoutMs?: number): Promise<SourceTrace>
  /** Runs a call. Throws as a traced call does. */
  ofCall(request: CallRequest, reference: BlockReference, options: SimulationOptions): Promise<SourceTrace>
}
