/** The reckoning of a long run finds what is wrong: a node of one's own is audited, and answers that lie are caught. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { audit, lostOf } from '../../scripts/soak/audit.ts'
import { type BatchCaller, httpCaller } from '../../scripts/soak/client.ts'
import { ACCOUNTS, createSenders, MNEMONIC, openBooks } from '../../scripts/soak/senders.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const WEI = 10n ** 9n
let served: ServedNode
let http: BatchCaller
let books: Awaited<ReturnType<typeof openBooks>>

beforeAll(async () => {
  served = await servedNode({ accounts: ACCOUNTS, mnemonic: MNEMONIC })
  http = httpCaller(served.url, () => {})
  const senders = createSenders()
  books = await openBooks(http, senders)
  for (const sender of senders.slice(1)) {
    const { address } = senders[1] as (typeof senders)[number]
    const entry =
      sender.kind === 'transfer'
        ? await sender.sign({ to: address, value: 5n, gasPrice: WEI, token: undefined })
        : await sender.sign({ to: books.token, value: 0n, gasPrice: WEI, token: { to: address, amount: 3n } })
    expect(await http.call('eth_sendRawTransaction', [entry.raw])).toBe(entry.hash)
    books.ledger.acknowledge(entry)
  }
})
afterAll(() => served.close())

/** The node as somebody would see it for whom `change` replaces a result. */
function lying(
  change: (method: string, result: unknown, params: readonly unknown[]) => unknown,
): BatchCaller {
  return {
    async call<T>(method: string, params: readonly unknown[] = []) {
      return change(method, await http.call(method, params), params) as T
    },
    async batch<T>(method: string, params: readonly (readonly unknown[])[]) {
      const results = await http.batch(method, params)
      return results.map((result, i) => change(method, result, params[i] ?? [])) as T[]
    },
    close() {},
  }
}

async function found(node: BatchCaller): Promise<string[]> {
  const words: string[] = []
  await audit(node, books.ledger, books.token, (one) => words.push(one))
  return words
}

describe('an audit', () => {
  it('accepts a node that keeps what it acknowledged', async () => {
    expect(books.ledger.acknowledged.length).toBeGreaterThan(8)
    expect(await found(http)).toEqual([])
    expect(await lostOf(http, books.ledger.acknowledged)).toEqual([])
  })

  it('finds a lost transaction', async () => {
    const { hash } = books.ledger.acknowledged.at(-1) ?? { hash: '' }
    const node = lying((_, result, [first]) => (first === hash ? null : result))
    expect(await lostOf(node, books.ledger.acknowledged)).toEqual([hash])
    expect(await found(node)).toContain(`lost: ${hash} was acknowledged and has no receipt`)
  })

  it('finds a failed transaction, and two at one position', async () => {
    const failed = lying((method, result) =>
      method === 'eth_getTransactionReceipt' ? { ...(result as object), status: '0x0' } : result,
    )
    expect((await found(failed)).filter((words) => words.endsWith(' failed'))).toHaveLength(
      books.ledger.acknowledged.length,
    )
    const place = { blockNumber: '0x1', transactionIndex: '0x0' }
    const colliding = lying((method, result) =>
      method === 'eth_getTransactionReceipt' ? { ...(result as object), ...place } : result,
    )
    expect((await found(colliding)).some((words) => words.endsWith('are both at 0x1/0x0'))).toBe(true)
  })

  it.each([
    ['eth_getBalance', 'the balance'],
    ['eth_getTransactionCount', 'the nonce'],
    ['eth_call', 'tokens'],
  ])('finds a wrong answer of %s', async (method, what) => {
    const node = lying((asked, result) =>
      asked === method ? `0x${(BigInt(result as string) + 1n).toString(16)}` : result,
    )
    const words = await found(node)
    expect(words.length).toBeGreaterThanOrEqual(ACCOUNTS)
    for (const one of words) expect(one).toContain(what)
  })

  it('finds missing and surplus events', async () => {
    const none = lying((method, result) => (method === 'eth_getLogs' ? [] : result))
    expect((await found(none)).every((words) => words.startsWith('the event of '))).toBe(true)
    expect(await found(none)).not.toEqual([])
    const twice = lying((method, result) =>
      method === 'eth_getLogs' ? [...(result as unknown[]), ...(result as unknown[])] : result,
    )
    const words = await found(twice)
    expect(words).not.toEqual([])
    expect(words.every((one) => one.endsWith('has an event too many'))).toBe(true)
  })
})
