/** The error of a transaction that was mined and failed, as ethers, viem and callers in process read it. */
import { JsonRpcProvider } from 'ethers'
import { type BaseError, createPublicClient, http } from 'viem'
import { afterEach, expect, it } from 'vitest'
import type { NodeOptions } from '../../src/index.ts'
import type { RpcError } from '../../src/rpc/error-codes.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const WORDS = 'VM Exception while processing transaction:'
/** Reverts with `Error("no")`. */
const REASON = `08c379a0${'20'.padStart(64, '0')}${'2'.padStart(64, '0')}${'6e6f'.padEnd(64, '0')}`
const REVERTING = `0x6064600c60003960646000fd${REASON}`

let t: ServedNode
afterEach(() => t?.close())
async function serveNode(options: NodeOptions = {}) {
  t = await servedNode(options)
  const [from] = await t.call('eth_accounts')
  return from
}

const FAILURES = [
  ['out of gas', '0x5b600056', 'transaction reverted', undefined],
  ['invalid opcode', '0xfe', 'transaction reverted', undefined],
  ['transaction reverted', '0x60006000fd', 'transaction reverted', '0x'],
  ['revert no', REVERTING, 'revert no', `0x${REASON}`],
] as const

it.each(FAILURES)(
  '%s: code, message and data equal the reference node’s, with hash and reason as additional members',
  async (reason, data, words, payload) => {
    const from = await serveNode()
    const { error } = await t.reply('eth_sendTransaction', [{ from, data, gas: '0x30d40' }])
    const { transactionHash, ...rest } = error
    expect(rest).toEqual({
      code: -32015,
      message: `${WORDS} ${words}`,
      ...(payload !== undefined && { data: payload }),
      reason,
    })
    expect(await t.call('eth_getTransactionReceipt', transactionHash)).toMatchObject({ status: '0x0', from })
    const own = await t.node
      .request({ method: 'eth_sendTransaction', params: [{ from, data, gas: '0x30d40' }] })
      .then(
        () => expect.unreachable(),
        (thrown: RpcError) => thrown,
      )
    expect(own).toMatchObject({ code: -32015, reason, message: `${WORDS} ${words}` })
    expect(await t.call('eth_getTransactionReceipt', own.transactionHash)).toMatchObject({ status: '0x0' })
  },
)

it('ethers exposes hash and reason in the error of the reply, and viem reads the error as before', async () => {
  const from = await serveNode()
  const provider = new JsonRpcProvider(t.url, undefined, { cacheTimeout: -1 })
  try {
    const sent = { from, data: '0x5b600056', gas: '0x30d40' } as const
    const thrown = await provider.send('eth_sendTransaction', [sent]).catch((error) => error)
    const { transactionHash } = thrown.error ?? thrown.info.error
    expect(thrown.error ?? thrown.info.error).toMatchObject({ code: -32015, reason: 'out of gas' })
    expect((await provider.getTransactionReceipt(transactionHash))?.status).toBe(0)
    const client = createPublicClient({ transport: http(t.url, { retryCount: 0 }) })
    const failing = { method: 'eth_sendTransaction', params: [{ ...sent, data: REVERTING }] }
    const error = await client.request(failing as never).then(
      () => expect.unreachable(),
      (failure: BaseError) => failure,
    )
    expect(error.message).toContain(`${WORDS} revert no`)
    expect(error.walk((one) => (one as { data?: unknown }).data !== undefined)).toMatchObject({
      code: -32015,
      data: `0x${REASON}`,
    })
  } finally {
    provider.destroy()
  }
})

it('hash and reason are also in errors for failures in Anvil’s dialect', async () => {
  const from = await serveNode({ preset: 'anvil', minedReverts: 'error' })
  const { error } = await t.reply('eth_sendTransaction', [{ from, data: '0x5b600056', gas: '0x30d40' }])
  const { transactionHash, ...rest } = error
  expect(rest).toEqual({ code: -32003, message: 'EVM error: out of gas', data: '0x', reason: 'out of gas' })
  expect((await t.call('eth_getTransactionReceipt', transactionHash)).status).toBe('0x0')
})
