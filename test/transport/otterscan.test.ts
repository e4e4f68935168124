/**
 * The requests that Otterscan 2.10 (commit 9dfd87f) sent while its pages were opened in a browser, replayed with its
 * client, ethers, and with a page's calls in one message as it sends them.
 */
import { getAddress, Interface, JsonRpcProvider } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { type RpcReply, type ServedNode, servedNode } from '../support/served-node.ts'

const GAS = { gas: '0x1e8480', gasPrice: '0x3938700' }
/** Transactions of a page of Otterscan. */
const PAGE = 25
const UNKNOWN = `0x${'12'.repeat(32)}`

interface Chain {
  readonly alice: string
  readonly carol: string
  readonly shop: string
  readonly token: string
  readonly creation: string
  readonly sale: string
  readonly failed: string
  readonly latest: { readonly hash: string; readonly number: string }
}

/** A recorded request, and what its page took: a value, or null for its text "not found". */
type Recorded = readonly [method: string, params: readonly unknown[], answer: 'value' | 'null']

let served: ServedNode
let provider: JsonRpcProvider
let chain: Chain

beforeAll(async () => {
  served = await servedNode({ hideRemasc: true })
  const { call } = served
  const [shop, token] = [artifact('Shop'), artifact('Token')]
  const [alice, bob, carol] = (await call('eth_accounts')) as [string, string, string]
  const send = (fields: object) => call('eth_sendTransaction', { from: alice, ...GAS, ...fields })
  const madeBy = async (hash: string) => (await call('eth_getTransactionReceipt', hash)).contractAddress
  const creation = await send({ data: shop.bytecode })
  const at = await madeBy(creation)
  const supply = new Interface(token.abi).encodeDeploy([1000n]).slice(2)
  const tokenAt = await madeBy(await send({ data: token.bytecode + supply }))
  const buy = (count: number) => new Interface(shop.abi).encodeFunctionData('buy', [7, count])
  const sale = await send({ to: at, data: buy(1), value: '0xde0b6b3a7640000' })
  await send({ to: at, data: buy(9) }).catch(() => {})
  const failing = await call('eth_getBlockByNumber', 'latest', false)
  for (let i = 0; i < 2 * PAGE; i++) await send({ from: carol, to: bob, value: '0x1' })
  chain = {
    alice: getAddress(alice),
    carol: getAddress(carol),
    shop: at,
    token: tokenAt,
    creation,
    sale,
    failed: failing.transactions[0],
    latest: await call('eth_getBlockByNumber', 'latest', false),
  }
  provider = new JsonRpcProvider(served.url, undefined, { staticNetwork: true })
})
afterAll(async () => {
  provider?.destroy()
  await served?.close()
})

const PAGES: Readonly<Record<string, (known: Chain) => readonly Recorded[]>> = {
  home: ({ latest }) => [
    ['eth_blockNumber', [], 'value'],
    ['eth_chainId', [], 'value'],
    ['ots_getApiLevel', [], 'value'],
    ['erigon_getHeaderByNumber', ['latest'], 'value'],
    ['erigon_getHeaderByNumber', [Number(latest.number)], 'value'],
  ],
  blocks: ({ latest }) => [
    ['ots_getBlockDetails', [0], 'value'],
    ['ots_getBlockDetails', [3], 'value'],
    ['ots_getBlockDetailsByHash', [latest.hash], 'value'],
    ['ots_getBlockTransactions', [3, 0, PAGE], 'value'],
    ['ots_getBlockDetails', [99999], 'null'],
    ['ots_getBlockDetailsByHash', [UNKNOWN], 'null'],
  ],
  transactions: ({ creation, sale, failed }) => [
    ...[creation, sale, failed].flatMap((hash): Recorded[] => [
      ['eth_getTransactionByHash', [hash], 'value'],
      ['eth_getTransactionReceipt', [hash], 'value'],
      ['ots_getInternalOperations', [hash], 'value'],
      ['ots_getTransactionError', [hash], 'value'],
      ['ots_traceTransaction', [hash], 'value'],
      ['trace_replayTransaction', [hash, ['stateDiff']], 'value'],
    ]),
    ['trace_replayTransaction', [failed, ['vmTrace']], 'value'],
    ['eth_getTransactionByHash', [UNKNOWN], 'null'],
    ['eth_getTransactionReceipt', [UNKNOWN], 'null'],
  ],
  accounts: ({ alice, carol, shop, token }) => [
    ['ots_searchTransactionsBefore', [carol, 0, PAGE], 'value'],
    ['ots_searchTransactionsBefore', [carol, 30, PAGE], 'value'],
    ['ots_searchTransactionsAfter', [carol, 0, PAGE], 'value'],
    ['ots_searchTransactionsAfter', [carol, 12, PAGE], 'value'],
    ['eth_getBalance', [alice, 'latest'], 'value'],
    ['eth_getTransactionCount', [alice, 'latest'], 'value'],
    ['ots_getTransactionBySenderAndNonce', [alice, 2], 'value'],
    ['ots_getTransactionBySenderAndNonce', [alice, 999], 'null'],
    ['ots_hasCode', [shop, 'latest'], 'value'],
    ['ots_hasCode', [shop, 0], 'value'],
    ['ots_getContractCreator', [shop], 'value'],
    ['ots_getContractCreator', [alice], 'null'],
    ['eth_getCode', [shop, 'latest'], 'value'],
    // name(), symbol() and decimals() of a token.
    ['eth_call', [{ to: token, data: '0x06fdde03' }, 'latest'], 'value'],
    ['eth_call', [{ to: token, data: '0x95d89b41' }, 'latest'], 'value'],
    ['eth_call', [{ to: token, data: '0x313ce567' }, 'latest'], 'value'],
  ],
}

describe('the requests of Otterscan', () => {
  it.each(Object.keys(PAGES))('for its pages of %s are answered', async (name) => {
    const recorded = PAGES[name]?.(chain) ?? []
    const answers = await Promise.all(
      recorded.map(([method, params]) => provider.send(method, params as unknown[])),
    )
    expect(
      recorded.map(([method, params], i) => [method, params, answers[i] === null ? 'null' : 'value']),
    ).toEqual(recorded)
  })

  it('for a page of an account come in one message of 75', async () => {
    const { txs } = await provider.send('ots_searchTransactionsBefore', [chain.carol, 30, PAGE])
    const batch = (txs as { hash: string; to: string; blockNumber: string }[]).flatMap((transaction) => [
      { method: 'ots_getInternalOperations', params: [transaction.hash] },
      { method: 'ots_hasCode', params: [chain.carol, Number(transaction.blockNumber) - 1] },
      { method: 'ots_hasCode', params: [transaction.to, Number(transaction.blockNumber) - 1] },
    ])
    expect(batch).toHaveLength(3 * PAGE)
    const { body } = await served.post<RpcReply<unknown>[]>(
      JSON.stringify(batch.map((each, id) => ({ jsonrpc: '2.0', id, ...each }))),
    )
    expect(body.map(({ result }) => result)).toEqual(
      batch.map(({ method }) => (method === 'ots_hasCode' ? false : [])),
    )
  })

  it('for the state of a transaction have the members that its page shows', async () => {
    const { stateDiff } = await provider.send('trace_replayTransaction', [chain.sale, ['stateDiff']])
    const shop = stateDiff[chain.shop]
    expect(shop.balance).toEqual({ '*': { from: '0x0', to: '0xde0b6b3a7640000' } })
    expect(stateDiff[chain.alice.toLowerCase()].nonce).toEqual({ '*': { from: '0x2', to: '0x3' } })
  })
})
