/** Random calls of every method and path: a result, or an error of a code that Bitcoin Core has. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBitcoin } from '../../src/bitcoin/bitcoin.ts'
import { encodeBlock } from '../../src/bitcoin/chain/block.ts'
import { bestBlock } from '../../src/bitcoin/chain/state.ts'
import { digitsOf } from '../../src/bitcoin/displayed-hash.ts'
import { encodeKey } from '../../src/bitcoin/private-key.ts'
import { encodeTransaction } from '../../src/bitcoin/transaction.ts'
import { METHODS } from '../../src/bitcoin-rpc/dispatcher.ts'
import type { Method } from '../../src/bitcoin-rpc/method.ts'
import { BitcoinRequests } from '../../src/bitcoin-rpc/requests.ts'
import { CODE } from '../../src/bitcoin-rpc/rpc-failure.ts'
import { HOSTILE } from '../hostile/hostile-values.ts'
import { valuesOf } from '../support/schema-values.ts'
import { type Reply, START } from './bitcoin-server.ts'

/** Random calls of each method, and of each kind of path. `npm run fuzz:peg` sets it. */
const CALLS = Number(process.env.PEG_CALLS ?? 20)
/** A call that mines without end is over once it has asked so many times whether it is. */
const MOST_TURNS = 3

const { INTERNAL: _, ...KNOWN } = CODE
const CODES: ReadonlySet<number> = new Set(Object.values(KNOWN))

let time = START
const bitcoin = createBitcoin({ clock: () => time++, seed: new Uint8Array(32).fill(3) })
const faults: unknown[] = []
const requests = new BitcoinRequests({
  bitcoin,
  report: (method, error) => faults.push([method, error]),
  settled: async () => {},
})

async function post(method: string, params: unknown, path = '/', most = MOST_TURNS): Promise<Reply> {
  let turns = 0
  const body = JSON.stringify({ id: 1, method, params })
  const reply = await requests.answer({ verb: 'POST', path, body }, () => ++turns > most)
  return JSON.parse(reply?.body ?? '') as Reply
}

async function result<T>(method: string, ...params: unknown[]): Promise<T> {
  const { result: value, error } = await post(method, params, '/', Number.POSITIVE_INFINITY)
  if (error !== null) throw new Error(`${method}: ${error.message}`)
  return value as T
}

/** Texts that name what there is, and the beginnings of what there is not. */
async function knownTexts(): Promise<readonly string[]> {
  await result('createwallet', 'w')
  const addresses = await Promise.all(
    ['legacy', 'p2sh-segwit', 'bech32'].map((type) => result<string>('getnewaddress', '', type)),
  )
  await result('generatetoaddress', 101, addresses[2])
  const id = await result<string>('sendtoaddress', addresses[0], 1)
  const { chain } = bitcoin
  const { hash } = bestBlock(chain.state)
  const { block } = chain.state.blocks.get(hash) ?? {}
  const waiting = chain.state.mempool.get(id)
  if (block === undefined || waiting === undefined) throw new Error('the chain has no blocks')
  const raw = digitsOf(encodeTransaction(waiting.transaction))
  const psbt = await result<{ psbt: string }>('walletcreatefundedpsbt', [], { [addresses[1] ?? '']: 0.5 })
  const secret = encodeKey({ secret: new Uint8Array(32).fill(7), isCompressed: true })
  const descriptors = addresses.flatMap((address) => [`addr(${address})`, `addr(${address})#aaaaaaaa`])
  const [key = ''] = block.transactions[0]?.outputs.map(({ script }) => digitsOf(script)) ?? []
  return [
    ...[...addresses, ...descriptors, id, hash, raw, raw.slice(0, -20), `${raw}00`, psbt.psbt, secret, key],
    ...[digitsOf(encodeBlock(block)), psbt.psbt.slice(8), 'w', 'raw(51)', 'wpkh(', `raw(${key})`],
    ...['start', 'status', 'abort', 'ALL', 'SINGLE|ANYONECANPAY', 'unset', 'CONSERVATIVE', '0.00001', '1e-9'],
    ...['', '00', 'ab'.repeat(32), 'ff'.repeat(80), '02000000000100', `02${'11'.repeat(32)}`],
  ]
}

const texts = await knownTexts()
const START_STATE = bitcoin.snapshot()

/** Lists and objects of the values, as outputs, inputs and options are. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<unknown>(...texts),
    fc.constantFrom<unknown>(...texts),
    fc.constantFrom<unknown>(
      -1,
      0,
      1,
      2,
      6,
      100,
      0.5,
      1e-8,
      1e-9,
      21e6,
      2 ** 31,
      2 ** 53,
      1e300,
      true,
      false,
    ),
    fc.constantFrom<unknown>(...HOSTILE),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(...texts, 'txid', 'vout', 'scriptPubKey', 'redeemScript', 'amount', 'data', 'desc'),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
}))

/** Parameters of a method by place or by name, each a value of its schema or any. */
function paramsOf({ parameters }: Method): fc.Arbitrary<unknown> {
  const values = parameters.map(({ schema }) =>
    fc.oneof(valuesOf({ schema: () => schema }), { weight: 3, arbitrary: value }),
  )
  const names = Object.fromEntries(parameters.map(({ name }, i) => [name, values[i] ?? value]))
  const places = fc
    .tuple(fc.tuple(...values), fc.nat(parameters.length))
    .map(([list, count]) => list.slice(0, Math.max(count, list.length - 2)))
  return fc.oneof(
    { weight: 4, arbitrary: places },
    fc.record(names, { requiredKeys: [] }),
    fc.array(value, { maxLength: parameters.length + 1 }),
  )
}

function expectKnown({ result: value, error }: Reply): void {
  if (error === null) return
  expect(value).toBeNull()
  expect(CODES.has(error.code), `${error.code} ${error.message}`).toBe(true)
  expect(error.message).not.toBe('')
  // Help is long; what a client sent is not repeated.
  expect(error.message.length).toBeLessThan(3000)
}

describe('a random call', () => {
  it.each([...METHODS.values()].map((method) => [method.name, method] as const))(
    'of %s',
    async (name, method) => {
      const call = fc.tuple(paramsOf(method), fc.constantFrom('/', '/wallet/w', '/wallet/none'))
      await fc.assert(
        fc.asyncProperty(call, async ([params, path]) => {
          bitcoin.restore(START_STATE)
          expectKnown(await post(name, params, path))
          expect(faults).toEqual([])
        }),
        { numRuns: CALLS },
      )
    },
  )

  it('of a REST interface is answered with a status', async () => {
    const part = fc.oneof(
      fc.constantFrom(...texts, '0', '-1', '99999999999', '..', '%2e', '__proto__'),
      fc.string(),
    )
    const head = fc.constantFrom(
      ...[
        '/block/',
        '/block-height/',
        '/blocks/',
        '/tx/',
        '/address/',
        '/scripthash/',
        '/mempool/',
        '/fee-estimates',
      ],
      ...[
        '/api/v2/address/',
        '/api/blocks/',
        '/api/v2/sendtx/',
        '/api/v1/estimatefee/',
        '/api/v1/tx/',
        '/api/v1/utxo/',
      ],
    )
    const tail = fc.constantFrom(
      '',
      '',
      '/',
      '/txs',
      '/utxo',
      '/status',
      '/hex',
      '/outspend/0',
      '/txs/chain/x',
      '/raw',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST'),
        fc.tuple(head, part, tail).map((parts) => parts.join('')),
        fc.constantFrom('', ...texts),
        async (verb, path, body) => {
          bitcoin.restore(START_STATE)
          const reply = await requests.answer({ verb, path, body })
          expect([undefined, 200, 400, 404]).toContain(reply?.status)
        },
      ),
      { numRuns: CALLS * 10 },
    )
  })
})
