/** The contracts whose code a proxy runs on its own storage, by the standards that name them in storage or in code. */

import { toBigInt } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { fromHex, toFixedHex, toHex } from '../encoding/hex.ts'
import type { StateReader } from '../state/model.ts'

/** Slots of ERC-1967: of the implementation, and of the beacon that has it. */
const IMPLEMENTATION_SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn
const BEACON_SLOT = 0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50n
/** Where OpenZeppelin's UpgradeableBeacon has the implementation, behind its owner. */
const BEACON_IMPLEMENTATION_SLOT = 1n
/** The code of minimal proxies around the address: ERC-1167, and EIP-7511 with PUSH0. */
const MINIMAL_PROXIES = [
  /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3$/,
  /^0x365f5f375f5f365f73([0-9a-f]{40})5af43d5f5f3e5f3d91602a57fd5bf3$/,
] as const
/** Bytes of the longest of them. */
const MINIMAL_PROXY_BYTES = 45
/** A proxy may run another one. */
const MOST_HOPS = 4

/** `facetAddresses()` of EIP-2535, which every diamond has to answer. */
export const FACET_ADDRESSES = fromHex('0x52ef6b2c')
/** Facets of one diamond. */
const MOST_FACETS = 256
const WORD = 32

/** The facets in the answer of a diamond, each once; none where it is no list of addresses. */
export function facetsIn(answer: Uint8Array | undefined): readonly Hex[] {
  if (answer === undefined || answer.length < 3 * WORD || answer.length % WORD !== 0) return []
  const words = Array.from({ length: answer.length / WORD }, (_, i) =>
    toBigInt(answer.subarray(i * WORD, (i + 1) * WORD)),
  )
  const [offset, length, ...facets] = words
  const isList = offset === BigInt(WORD) && length === BigInt(facets.length) && facets.length <= MOST_FACETS
  if (!isList || facets.some((word) => word === 0n || word >> 160n !== 0n)) return []
  return [...new Set(facets.map((word) => toFixedHex(word, 20)))]
}

/** The code of an account; `undefined` where there is none. */
export function codeAt(state: StateReader, address: Hex): Uint8Array | undefined {
  const account = state.account(address)
  const code = account && state.code(account.codeHash)
  return code === undefined || code.length === 0 ? undefined : code
}

function addressIn(state: StateReader, account: Hex, slot: bigint): Hex | undefined {
  const word = state.storage(account, slot)
  return word === 0n || word >> 160n !== 0n ? undefined : toFixedHex(word, 20)
}

function minimalTarget(code: Uint8Array): Hex | undefined {
  if (code.length > MINIMAL_PROXY_BYTES) return undefined
  const text = toHex(code)
  for (const pattern of MINIMAL_PROXIES) {
    const target = pattern.exec(text)?.[1]
    if (target !== undefined) return `0x${target}`
  }
  return undefined
}

/** The implementation that the storage of an account names. */
function namedTarget(state: StateReader, account: Hex): Hex | undefined {
  const target = addressIn(state, account, IMPLEMENTATION_SLOT)
  if (target !== undefined) return target
  const beacon = addressIn(state, account, BEACON_SLOT)
  return beacon && addressIn(state, beacon, BEACON_IMPLEMENTATION_SLOT)
}

/**
 * The contracts whose code runs on the storage of an account: itself, and where it is a proxy, what it names, the last one
 * at the end. Knows ERC-1967 with an implementation or with OpenZeppelin's beacon, ERC-1167 and EIP-7511.
 */
export function codeChain(state: StateReader, account: Hex): readonly Hex[] {
  const chain: Hex[] = [account]
  let at = account
  while (chain.length <= MOST_HOPS) {
    const code = codeAt(state, at)
    if (code === undefined) break
    const target = minimalTarget(code) ?? namedTarget(state, account)
    if (target === undefined || chain.includes(target)) break
    chain.push(target)
    at = target
  }
  return chain
}
