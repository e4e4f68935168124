/** A network of the family: its constants, and the heights of its rules. */
import { isDeepStrictEqual } from 'node:util'
import type { Hex } from '../encoding/hex.ts'
import type { RuleHeights } from './consensus-rules.ts'

/** The Bridges that exist: their constants are those of the network of this name. */
export const BRIDGES = ['regtest', 'devnet', 'testnet', 'mainnet'] as const

/** A Bridge, by the network that it was made for. */
export type BridgeName = (typeof BRIDGES)[number]

/** Heights by name; null, or absent: never. */
type HeightTable = Readonly<Record<string, number | null>>

/** A definition, as a file has it. Gas in gas, times in seconds, heights and spans in blocks. */
export interface NetworkFile {
  readonly name: string
  readonly chainId: number
  /** Whose Bridge it has. */
  readonly bridge: BridgeName
  /** The network whose genesis it begins with, or a genesis of its own (docs/internals/protocol.md#71-genesis-file). */
  readonly genesis: BridgeName | Readonly<Record<string, unknown>>
  readonly upgrades: HeightTable
  /** Rules with another height than their upgrade. */
  readonly rules?: HeightTable | undefined
  /** docs/internals/protocol.md#31-difficulty */
  readonly difficulty: {
    readonly minimum: number
    readonly minimumSinceRskip290?: number | undefined
    readonly boundDivisor: number
    readonly boundDivisorSinceRskip156?: number | undefined
    readonly goalSeconds: number
  }
  /** docs/internals/protocol.md#41-block-gas-limit; `minimumSequential` is m of docs/internals/protocol.md#52-parallel-sublists */
  readonly gasLimit: { readonly target: number; readonly minimum: number; readonly minimumSequential: number }
  /** T of docs/internals/protocol.md#17-validity; 0: timestamps are not checked. */
  readonly maxSecondsInFuture: number
  /** RSKIP-179, RSKIP-297 */
  readonly parentChainSeconds: { readonly window: number; readonly windowSinceRskip297?: number | undefined }
  /** docs/internals/protocol.md#54-remasc-payout */
  readonly remasc: {
    readonly maturity: number
    readonly syntheticSpan: number
    readonly labs: Hex
    readonly labsBeforeRskip218?: Hex | undefined
    readonly federators: readonly Hex[]
  }
}

/** A network. */
export interface Network extends NetworkFile {
  /** From which block each rule holds. */
  readonly heights: RuleHeights
}

/** The definition that `readNetwork` read. */
export function networkFile({ heights: _, ...file }: Network): NetworkFile {
  return file
}

/**
 * The members in which two definitions differ, for messages; empty for none. Either may be absent, and each may be what
 * JSON made of one.
 */
export function networkDifferences(one: object = {}, other: object = {}): readonly string[] {
  const [ours, theirs] = [new Map(Object.entries(one)), new Map(Object.entries(other))]
  const names = new Set([...ours.keys(), ...theirs.keys()])
  return [...names].filter((name) => !isDeepStrictEqual(ours.get(name), theirs.get(name)))
}

/** Has a network keys that everyone knows, and a Bitcoin chain of its own? Those of the local Bridges have. */
export function isLocalNetwork({ bridge }: Pick<Network, 'bridge'>): boolean {
  return bridge === 'regtest' || bridge === 'devnet'
}
