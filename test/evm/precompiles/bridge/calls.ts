/** What the tests of the bridge share: its interface, calls of it on a storage of their own, and headers with work. */
import { type Abi, decodeFunctionResult, encodeFunctionData } from 'viem'
import { encodeParentHeader, hashValue } from '../../../../src/chain/merged-mining/parent-header.ts'
import { EMPTY, toBigInt } from '../../../../src/encoding/bytes.ts'
import { doubleSha256 } from '../../../../src/encoding/hash.ts'
import { fromHex, type Hex, toFixedHex, toHex } from '../../../../src/encoding/hex.ts'
import type { PrecompileEnvironment, PrecompileStorage } from '../../../../src/evm/precompiles/precompile.ts'
import { fixture } from '../../../support/fixture.ts'
import { contractAt, ENVIRONMENT, gasOf, outcome } from '../vectors.ts'

export const bridge = contractAt('1000006')
export const { abi } = fixture<{ abi: Abi }>('bridge/abi.json')

/** A row of the reference node's method table. */
export interface MethodRow {
  readonly signature: string
  readonly outputs: readonly string[]
  /** `null` where it depends on arguments or state. */
  readonly gas: number | null
  readonly localOnly: boolean
  readonly view: boolean
  readonly federators: boolean
  readonly enabled: boolean
}

export const { methods } = fixture<{ methods: readonly MethodRow[] }>('bridge/methods.json')

/** A federator of the local network: key keccak-256 of `federator1`. */
export const FEDERATOR: Hex = '0x85845342b0d5260d516d6da5280a7df9a96d1925'

/** Cells in memory. */
export function memoryStorage(): PrecompileStorage & { readonly cells: ReadonlyMap<bigint, Uint8Array> } {
  const cells = new Map<bigint, Uint8Array>()
  return {
    cells,
    get: (slot) => toBigInt(cells.get(slot) ?? EMPTY),
    bytes: (slot) => cells.get(slot) ?? EMPTY,
    setBytes(slot, bytes) {
      if (bytes.length === 0) cells.delete(slot)
      else cells.set(slot, bytes)
    },
  }
}

/** Call data by name. */
export function dataOf(functionName: string, ...args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi, functionName, args })
}

/** A bridge with a storage of its own, called by default as by a contract in a simulation. */
export function freshBridge(defaults: Partial<PrecompileEnvironment> = {}) {
  const storage = memoryStorage()
  const logs: { readonly topics: readonly Hex[]; readonly data: Hex }[] = []
  const transfers: (readonly [to: Hex, wei: bigint])[] = []
  const env: PrecompileEnvironment = {
    ...ENVIRONMENT,
    isLocal: true,
    storage,
    emit: (topics, data) => logs.push({ topics, data: toHex(data) }),
    transfer: (to, wei) => transfers.push([to, wei]),
    timestamp: 1_000_000,
    ...defaults,
  }
  return {
    storage,
    logs,
    transfers,
    env,
    /** A named cell; `0x` where there is none. */
    cell: (name: string) => toHex(storage.bytes(BigInt(toHex(new TextEncoder().encode(name))))),
    raw: (data: Hex, change: Partial<PrecompileEnvironment> = {}) =>
      outcome(bridge, data, { ...env, ...change }),
    gas: (data: Hex, change: Partial<PrecompileEnvironment> = {}) =>
      gasOf(bridge, data, { ...env, ...change }),
    /** The decoded result; `failure` when it fails. */
    call(name: string, args: readonly unknown[] = [], change: Partial<PrecompileEnvironment> = {}): unknown {
      const data = outcome(bridge, dataOf(name, ...args), { ...env, ...change })
      return data === 'failure' ? data : decodeFunctionResult({ abi, functionName: name, data, args })
    },
  }
}

/** Displayed form of a header's hash. */
export function hashOf(header: Uint8Array): Hex {
  return toFixedHex(hashValue(doubleSha256(header)), 32)
}

/** The parent chain's genesis as published. */
export const GENESIS_HASH: Hex = '0x0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'

/** A header on `parent` (displayed hash) that has, or with `lacksWork` has not, the work of the parent chain's local network. */
export function mineHeader(
  parent: Hex,
  {
    seed = 1,
    bits = 0x207fffff,
    lacksWork = false,
    merkleRoot = new Uint8Array(32).fill(seed % 256),
  }: { seed?: number; bits?: number; lacksWork?: boolean; merkleRoot?: Uint8Array } = {},
): Uint8Array {
  for (let nonce = 0; ; nonce++) {
    const header = encodeParentHeader({
      version: 0x20000000,
      previousHash: fromHex(parent).reverse(),
      merkleRoot,
      time: 1_600_000_000 + seed,
      bits,
      nonce,
    })
    const hasWork = hashValue(doubleSha256(header)) <= 0x7fffffn << 232n
    if (hasWork !== lacksWork) return header
  }
}

/** `count` headers, one upon the other, from the block of that hash on. */
export function mineChain(count: number, parent: Hex = GENESIS_HASH, seed = 0): Uint8Array[] {
  const chain: Uint8Array[] = []
  for (let i = 1; i <= count; i++) {
    const last = chain.at(-1)
    chain.push(mineHeader(last === undefined ? parent : hashOf(last), { seed: seed + i }))
  }
  return chain
}

/** Bytes as call arguments. */
export function texts(headers: readonly Uint8Array[]): Hex[] {
  return headers.map(toHex)
}
