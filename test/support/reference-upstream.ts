/**
 * An upstream that answers as the reference node: with its recorded answers (fixtures/reference-node/rpc) where there is
 * one to a request, else with those of a node that imported the same blocks, less the methods that the reference node
 * has not. `old` answers as older releases do: null in place of the signature of the REMASC transaction, and `0x0` for
 * empty slots.
 */
import { createNode } from '../../src/index.ts'
import type { Node } from '../../src/node/node.ts'
import type { Message } from './fault-proxy.ts'
import { nodeWithReferenceBlocks, readTranscript } from './reference-answers.ts'

/** Methods of this node that the reference node does not serve as it is shipped. */
const UNSERVED =
  /^(eth_(getBlockReceipts|getAccountInfo|getStorageValues|createAccessList|getAccount|getProof)|debug_|trace_|ext_|anvil_|hardhat_|rsk_getStorageBytesAt)/

/** The upstream, as a function of the body of a request. */
export interface ReferenceUpstream {
  answer(body: Message): Promise<Message>
  /** How many calls had a recorded answer. */
  recorded(): number
  readonly node: Node
}

function oldForm(result: Message): Message {
  if (result === '0x0000000000000000000000000000000000000000000000000000000000000000') return '0x0'
  if (!Array.isArray(result?.transactions)) return result
  const transactions = result.transactions.map((transaction: Message) =>
    transaction.r === '0x0' ? { ...transaction, v: null, r: null, s: null } : transaction,
  )
  return { ...result, transactions }
}

/** Imports the blocks under the recordings. */
export async function referenceUpstream({ old = false } = {}): Promise<ReferenceUpstream> {
  const node = await nodeWithReferenceBlocks(createNode, 'all')
  const known = new Map<string, Message>()
  for (const [request, answer] of readTranscript('all')) {
    if (typeof request === 'string') continue
    const { method, params } = request as Message
    known.set(`${method} ${JSON.stringify(params)}`, answer)
  }
  let count = 0

  async function one({ id, method, params }: Message): Promise<Message> {
    const recorded = known.get(`${method} ${JSON.stringify(params)}`)
    if (recorded !== undefined) {
      count++
      const { result, error } = recorded
      return error === undefined
        ? { jsonrpc: '2.0', id, result: old ? oldForm(result) : result }
        : { jsonrpc: '2.0', id, error }
    }
    const byHash = /^0x[0-9a-f]{64}$/i.test(String(params.at(-1)))
    // docs/internals/rpc-reference.md#31-block-parameters: a hash as text names no block for these two.
    if (method === 'eth_getCode' && byHash) return { jsonrpc: '2.0', id, result: null }
    if (method === 'eth_call' && byHash) {
      return { jsonrpc: '2.0', id, error: { code: -32603, message: 'Internal server error' } }
    }
    if (UNSERVED.test(method)) {
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'method not found' } }
    }
    try {
      const result = await node.request({ method, params })
      return { jsonrpc: '2.0', id, result: old ? oldForm(result) : result }
    } catch (error) {
      const { code, message } = error as { code: number; message: string }
      return { jsonrpc: '2.0', id, error: { code, message } }
    }
  }

  return {
    answer: async (body) => (Array.isArray(body) ? Promise.all(body.map(one)) : one(body)),
    recorded: () => count,
    node,
  }
}
