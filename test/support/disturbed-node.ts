/** A served node on which chaos is set, and calls to it that tell what was done to them. */
import { Wallet } from 'ethers'
import type { ChaosPlanInput } from '../../src/chaos/plan.ts'
import { COW_KEY } from './noting-chain.ts'
import { type ServedNode, servedNode } from './served-node.ts'

/** How long to wait for what happens without a call, on a slow machine. */
export const PATIENT = { timeout: 20_000 }
export const ALWAYS = { probability: 1 } as const
/** Options of nodes that answer alike. */
export const FROZEN = { seed: 'chaos', frozenClock: true } as const
export const RECEIVER = `0x${'22'.repeat(20)}`

/** A node on which the plan is set after some blocks. */
export async function disturbedNode(plan: ChaosPlanInput | string, blocks = 0): Promise<ServedNode> {
  const served = await servedNode(FROZEN)
  if (blocks > 0) await served.call('evm_mine', { blocks })
  await served.call('evm_setChaos', plan)
  return served
}

/** A signed transfer of 1 wei to the receiver. */
export const transfer = (nonce: number): Promise<string> =>
  new Wallet(COW_KEY).signTransaction({
    type: 0,
    chainId: 33,
    gasPrice: 1,
    nonce,
    to: RECEIVER,
    value: 1,
    gasLimit: 21_000,
  })

/** A call by `fetch`, with its header. */
export async function fetchedFrom(
  { url }: ServedNode,
  method: string,
  params: unknown[] = [],
  headers: Record<string, string> = {},
) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const text = await response.text()
  return {
    status: response.status,
    chaos: response.headers.get('x-tandem-chaos'),
    headers: response.headers,
    text,
  }
}

/** The result of a call that is left alone. */
// biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
export async function calmResult(served: ServedNode, method: string, ...params: unknown[]): Promise<any> {
  const { text } = await fetchedFrom(served, method, params, { 'X-Tandem-Chaos': 'off' })
  return JSON.parse(text).result
}
