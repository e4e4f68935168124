/** What the acceptance checks share: accounts, code, and calls to a served node. */
import type { ServedNode } from '../../support/served-node.ts'

/** The first local account. */
export const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
/** The second local account. */
export const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** Private key of A. */
export const A_KEY = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
/** An address without account. */
export const N = '0x00000000000000000000000000000000000dead1'
/** 32 zero bytes. */
export const Z32 = `0x${'0'.repeat(64)}`
/** An unknown hash. */
export const U32 = `0x${'9'.repeat(64)}`
/** Init code that reverts without data. */
export const R0 = '0x60006000fd'
/** Init code that reverts with Error('boom'). */
export const RB =
  '0x7f08c379a000000000000000000000000000000000000000000000000000000000600052602060045260046024527f626f6f6d0000000000000000000000000000000000000000000000000000000060445260646000fd'
/** Init code that fails with an invalid opcode. */
export const INV = '0xfe'
/** Init code that loops until its gas is used up. */
export const LOOP = '0x5b600056'
/** Init code that returns 1. */
export const RET1 = '0x600160005260206000f3'
/** A topic. */
export const ONES = `0x${'1'.repeat(64)}`
/** Init code that emits one log. */
export const LOGC = `0x7f${'1'.repeat(64)}60006000a100`
/** Init code that emits two logs. */
export const LOG2 = `0x${`7f${'1'.repeat(64)}60006000a1`.repeat(2)}00`
/** A number as 32 bytes. */
export const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

/** Calls to the node that `current` returns. */
export function callsTo(current: () => ServedNode) {
  const reply = (method: string, params?: unknown) => current().reply(method, params)
  const error = async (method: string, params?: unknown) => (await reply(method, params)).error
  async function mined(fields: Record<string, unknown>) {
    const hash = await current().call('eth_sendTransaction', fields)
    return { hash, receipt: await current().call('eth_getTransactionReceipt', hash) }
  }
  return {
    reply,
    error,
    /** Sends a transaction, which automining mines. */
    mined,
    transfer: () => mined({ from: A, to: B, value: '0x1', gas: '0x5208' }),
  }
}
