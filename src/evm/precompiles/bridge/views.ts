/** Methods that read: descriptions of them, and how results are encoded. */
import { encodeBytes } from '../abi.ts'
import { utf8 } from './events.ts'
import type { BridgeCall, BridgeMethod } from './method.ts'

/** What a method does. */
export type Run = (call: BridgeCall) => Uint8Array

/** Rules that bring a method and take it away. */
export type Period = Pick<BridgeMethod, 'since' | 'until'>

/** Result for what does not exist: a federation, a whitelisted address, a processed transaction. */
export const ABSENT = -1

/** A method that answers simulations only. */
export function localView(signature: string, gas: bigint, run: Run, period: Period = {}): BridgeMethod {
  return { signature, gas, isView: true, isLocalOnly: true, run, ...period }
}

/** A method that contracts may call. */
export function openView(signature: string, gas: bigint, run: Run, period: Period = {}): BridgeMethod {
  return { signature, gas, isView: true, run, ...period }
}

/** A string as a result. */
export function encodeText(value: string): Uint8Array {
  return encodeBytes(utf8(value))
}
