/** The selectors that a contract's code compares the input with, and names of widespread ones. */
import type { Hex } from './format.ts'

/** Functions of ERC-20, 165, 721, 1155, 1967 and 4626, of owners and of roles, by their selectors. */
const KNOWN: Readonly<Record<string, string>> = {
  '06fdde03': 'name()',
  '95d89b41': 'symbol()',
  '313ce567': 'decimals()',
  '18160ddd': 'totalSupply()',
  '70a08231': 'balanceOf(address)',
  a9059cbb: 'transfer(address,uint256)',
  '23b872dd': 'transferFrom(address,address,uint256)',
  '095ea7b3': 'approve(address,uint256)',
  dd62ed3e: 'allowance(address,address)',
  '39509351': 'increaseAllowance(address,uint256)',
  a457c2d7: 'decreaseAllowance(address,uint256)',
  d505accf: 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
  '7ecebe00': 'nonces(address)',
  '3644e515': 'DOMAIN_SEPARATOR()',
  '40c10f19': 'mint(address,uint256)',
  a0712d68: 'mint(uint256)',
  '42966c68': 'burn(uint256)',
  '79cc6790': 'burnFrom(address,uint256)',
  '01ffc9a7': 'supportsInterface(bytes4)',
  '6352211e': 'ownerOf(uint256)',
  '42842e0e': 'safeTransferFrom(address,address,uint256)',
  b88d4fde: 'safeTransferFrom(address,address,uint256,bytes)',
  a22cb465: 'setApprovalForAll(address,bool)',
  e985e9c5: 'isApprovedForAll(address,address)',
  '081812fc': 'getApproved(uint256)',
  c87b56dd: 'tokenURI(uint256)',
  '00fdd58e': 'balanceOf(address,uint256)',
  '4e1273f4': 'balanceOfBatch(address[],uint256[])',
  f242432a: 'safeTransferFrom(address,address,uint256,uint256,bytes)',
  '0e89341c': 'uri(uint256)',
  '8da5cb5b': 'owner()',
  f2fde38b: 'transferOwnership(address)',
  '715018a6': 'renounceOwnership()',
  '248a9ca3': 'getRoleAdmin(bytes32)',
  '91d14854': 'hasRole(bytes32,address)',
  '2f2ff15d': 'grantRole(bytes32,address)',
  d547741f: 'revokeRole(bytes32,address)',
  '8456cb59': 'pause()',
  '3f4ba83a': 'unpause()',
  '5c975abb': 'paused()',
  '3659cfe6': 'upgradeTo(address)',
  '4f1ef286': 'upgradeToAndCall(address,bytes)',
  '5c60da1b': 'implementation()',
  '52d1902d': 'proxiableUUID()',
  d0e30db0: 'deposit()',
  '2e1a7d4d': 'withdraw(uint256)',
  '6e553f65': 'deposit(uint256,address)',
  ac9650d8: 'multicall(bytes[])',
}

/** The signature of a widespread selector. */
export function knownSignature(selector: string): string | undefined {
  return KNOWN[selector.slice(2)]
}

/** Signatures of the table, with their selectors. */
export const KNOWN_SIGNATURES: readonly (readonly [selector: Hex, signature: string])[] = Object.entries(
  KNOWN,
).map(([digits, signature]) => [`0x${digits}`, signature])

const PUSH1 = 0x60
const PUSH2 = 0x61
const PUSH3 = 0x62
const PUSH4 = 0x63
const PUSH32 = 0x7f
const DUP1 = 0x80
const DUP16 = 0x8f
const EQ = 0x14
const JUMPI = 0x57
/** EQ of Solidity, SUB of its optimiser, XOR of Vyper. A search by GT or LT ends in one of these. */
const COMPARISONS: ReadonlySet<number> = new Set([EQ, 0x03, 0x18])

/** The selectors in the order of the code: constants of 4 bytes that are compared for equality. Other dispatchers give none. */
export function selectorsOf(code: Hex): Hex[] {
  const byteAt = (at: number): number => Number.parseInt(code.slice(2 + 2 * at, 4 + 2 * at), 16)
  const length = (code.length - 2) / 2
  const found = new Set<Hex>()
  for (let at = 0; at < length; at++) {
    const opcode = byteAt(at)
    if (opcode < PUSH1 || opcode > PUSH32) continue
    const size = opcode - PUSH1 + 1
    const next = at + 1 + size
    const operation = byteAt(next)
    const comparison = operation >= DUP1 && operation <= DUP16 ? byteAt(next + 1) : operation
    const digits = code.slice(4 + 2 * at, 4 + 2 * next - 2)
    if (opcode === PUSH4 && COMPARISONS.has(comparison) && digits !== 'ffffffff') found.add(`0x${digits}`)
    // A selector that begins with a zero is a shorter constant: DUP1 PUSH3 EQ PUSH2 JUMPI.
    const isJump = operation === EQ && byteAt(next + 1) === PUSH2 && byteAt(next + 4) === JUMPI
    if (opcode === PUSH3 && byteAt(at - 1) === DUP1 && isJump) found.add(`0x00${digits}`)
    at = next - 1
  }
  return [...found]
}
