/** The messages that open a frame, what a running frame asks for in that form, and how they end. */
import type { Hex } from '../encoding/hex.ts'
import type { EvmFailure } from './failure.ts'
import type { CallRequest, CreateRequest, Frame } from './frame.ts'
import type { FrameData } from './memory-range.ts'
import type { Message } from './message.ts'

/** A call that is about to run. Gas in gas, value in wei. */
export interface CallMessage {
  readonly kind: CallRequest['kind']
  /** 0 for the call of a transaction. */
  readonly depth: number
  /** What CALLER answers. */
  readonly caller: Hex
  /** Account whose storage the code uses. */
  readonly address: Hex
  /** Account whose code runs. */
  readonly target: Hex
  readonly value: bigint
  readonly input: FrameData
  readonly gas: number
  readonly isStatic: boolean
}

/** A creation that is about to run; the creator's nonce has grown already. */
export interface CreateMessage {
  readonly kind: 'create' | 'create2'
  readonly depth: number
  readonly caller: Hex
  readonly value: bigint
  readonly initcode: Uint8Array
  readonly gas: number
  /** Of CREATE2 only. */
  readonly salt: bigint | undefined
}

/** What opens a frame. */
export type FrameMessage = CallMessage | CreateMessage

/** How a message ended. */
export interface FrameResult {
  readonly gasUsed: number
  /** Returned bytes, payload of a REVERT, new code; empty after any other failure. */
  readonly output: FrameData
  /** `undefined` when it succeeded. */
  readonly failure: EvmFailure | undefined
  /** The address of a creation, once it was computed. */
  readonly created?: Hex | undefined
}

/** The message of a transaction or simulation itself; its gas fits a safe integer. */
export function topMessage({ from, to, value, data, gas }: Message): FrameMessage {
  const depth = 0
  return to === null
    ? { kind: 'create', depth, caller: from, value, initcode: data, gas: Number(gas), salt: undefined }
    : {
        kind: 'call',
        depth,
        caller: from,
        address: to,
        target: to,
        value,
        input: data,
        gas: Number(gas),
        isStatic: false,
      }
}

/** The creation that a frame requests, one level below it. */
export function childCreation({ address, depth }: Frame, child: CreateRequest): CreateMessage {
  const { kind, value, initcode, gas, salt } = child
  return { kind, depth: depth + 1, caller: address, value, initcode, gas, salt }
}

/** The call that a frame requests, one level below it. */
export function childCall(frame: Frame, child: CallRequest): CallMessage {
  const { kind, target, input, gas } = child
  const borrows = kind === 'callcode' || kind === 'delegatecall'
  const delegates = kind === 'delegatecall'
  return {
    kind,
    depth: frame.depth + 1,
    caller: delegates ? frame.caller : frame.address,
    address: borrows ? frame.address : target,
    target,
    value: delegates ? frame.value : child.value,
    input,
    gas,
    isStatic: kind === 'staticcall' || frame.isStatic,
  }
}
