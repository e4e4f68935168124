/** Requests of clients in other languages (fixtures/clients), over HTTP, with answers in the form that their decoders need. */
import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createNode } from '../../src/node/node.ts'
import { fixture } from '../support/fixture.ts'
import { servedNode } from '../support/served-node.ts'

const CLIENTS = ['web3py', 'web3j', 'ethclient', 'alloy', 'nethereum']

const Requests = z.object({
  client: z.string(),
  requests: z.array(
    z.strictObject({
      method: z.string(),
      params: z.array(z.unknown()).nullable(),
      as: z.string().optional(),
      code: z.number().optional(),
    }),
  ),
})

const quantity = z.string().regex(/^0x(0|[1-9a-f][0-9a-f]{0,63})$/)
const bytes = z.string().regex(/^0x([0-9a-f]{2})*$/)
const sized = (length: number) => bytes.length(2 + 2 * length)
const [hash, address, bloom] = [sized(32), sized(20), sized(256)]

const log = z.looseObject({
  address,
  topics: z.array(hash),
  data: bytes,
  blockNumber: quantity,
  transactionHash: hash,
  transactionIndex: quantity,
  blockHash: hash,
  logIndex: quantity,
  removed: z.boolean().optional(),
})
const transaction = z.looseObject({
  hash,
  nonce: quantity,
  blockHash: hash,
  blockNumber: quantity,
  transactionIndex: quantity,
  from: address,
  to: address.nullable(),
  value: quantity,
  gas: quantity,
  gasPrice: quantity,
  input: bytes,
  v: quantity,
  r: quantity,
  s: quantity,
})

/** The members that a decoder of one of the clients requires, in the form that the strictest of them takes. */
const FORMS: Readonly<Record<string, z.ZodType>> = {
  quantity,
  bytes,
  // The reference node's ids have 36 bytes; alloy reads at most 32, which those under the presets have.
  filter: bytes,
  text: z.string(),
  flag: z.boolean(),
  list: z.array(z.unknown()),
  object: z.looseObject({}),
  null: z.null(),
  any: z.unknown(),
  transaction,
  receipt: z.looseObject({
    transactionHash: hash,
    transactionIndex: quantity,
    blockHash: hash,
    blockNumber: quantity,
    from: address,
    to: address.nullable(),
    cumulativeGasUsed: quantity,
    gasUsed: quantity,
    contractAddress: address.nullable(),
    logs: z.array(log).min(1),
    logsBloom: bloom,
    status: quantity,
    type: quantity,
    effectiveGasPrice: quantity,
  }),
  block: z.looseObject({
    number: quantity,
    hash,
    parentHash: hash,
    nonce: sized(8),
    mixHash: hash,
    sha3Uncles: hash,
    logsBloom: bloom,
    transactionsRoot: hash,
    stateRoot: hash,
    receiptsRoot: hash,
    miner: address,
    difficulty: quantity,
    totalDifficulty: quantity,
    extraData: bytes,
    size: quantity,
    gasLimit: quantity,
    gasUsed: quantity,
    timestamp: quantity,
    transactions: z.array(z.union([hash, transaction])),
    uncles: z.array(hash),
  }),
}

const Reply = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.literal(1),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
})

let served: Awaited<ReturnType<typeof servedNode>>
let names: Readonly<Record<string, string>>
async function call(method: string, params: readonly unknown[] | null): Promise<z.infer<typeof Reply>> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params !== null && { params }) })
  return Reply.parse((await served.post<unknown>(body)).body)
}

beforeAll(async () => {
  served = await servedNode()
  const [from] = z.array(z.string()).parse((await call('eth_accounts', [])).result)
  const send = async (fields: object) => {
    const { result } = await call('eth_sendTransaction', [{ from, gas: '0x30d40', ...fields }])
    return z
      .looseObject({ transactionHash: hash, blockHash: hash, contractAddress: address.nullable() })
      .parse((await call('eth_getTransactionReceipt', [result])).result)
  }
  const { contractAddress } = await send({ data: '0x600a600c600039600a6000f3600760206000a1600160005500' })
  const { transactionHash, blockHash } = await send({ to: contractAddress })
  names = {
    $FROM: from ?? '',
    $CONTRACT: contractAddress ?? '',
    $CHECKSUMFROM: getAddress(from ?? ''),
    $CHECKSUMCONTRACT: getAddress(contractAddress ?? ''),
    $BLOCK: blockHash,
    $TX: transactionHash,
  }
})
afterAll(() => served.close())

/** The parameters with the names of the fixture replaced. */
function named(params: readonly unknown[] | null): readonly unknown[] | null {
  const text = JSON.stringify(params).replaceAll(/\$[A-Z]+/g, (name) => names[name] ?? name)
  return JSON.parse(text)
}

it.each(['hardhat', 'anvil'] as const)('ids of filters are numbers under the preset %s', async (preset) => {
  const node = await createNode({ preset })
  for (const [name, ...params] of [['eth_newBlockFilter'], ['eth_newFilter', {}]]) {
    const id = await node.request({ method: String(name), params })
    expect(quantity.parse(id)).toBe(id)
    expect(await node.request({ method: 'eth_getFilterChanges', params: [id] })).toEqual([])
  }
  await node.close()
})

describe.each(CLIENTS)('the requests of %s', (file) => {
  const { requests } = Requests.parse(fixture(`clients/${file}.json`))

  it('are answered in the form that its decoder needs', async () => {
    const wrong: unknown[] = []
    for (const { method, params, as = '', code } of requests) {
      const { result, error } = await call(method, named(params))
      const form = FORMS[as]
      if (code !== undefined ? error?.code === code : form?.safeParse(result).success && error === undefined)
        continue
      wrong.push({
        method,
        params,
        expected: code ?? as,
        result,
        error,
        why: form?.safeParse(result).error?.message,
      })
    }
    expect(wrong).toEqual([])
    expect(requests.length).toBeGreaterThan(10)
  })
})
