/** Bundles of calls (EIP-5792) by viem's own actions, over HTTP. */
import { createPublicClient, createWalletClient, defineChain, http, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node, type Server, serve } from '../../../src/index.ts'
import type { RpcError } from '../../../src/rpc/error-codes.ts'
import { assemble, deployer } from '../../support/assembler.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'

let node: Node
let server: Server
const chain = (url: string) =>
  defineChain({
    id: 33,
    name: 'local',
    nativeCurrency: { name: 'coin', symbol: 'C', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
const clients = () => {
  const parts = { chain: chain(server.url), transport: http(server.url) }
  return { wallet: createWalletClient({ ...parts, account: ALICE }), reader: createPublicClient(parts) }
}

beforeAll(async () => {
  node = await createNode({ minedReverts: 'hash' })
  server = await serve(node, { port: 0 })
})
afterAll(async () => {
  await server.close()
  await node.close()
})

/** A contract with the given code. */
async function deployed(code: string): Promise<`0x${string}`> {
  const params = [{ from: ALICE, data: toHex(deployer(assemble(code))), gas: '0x7a120' }]
  const hash = await node.request({ method: 'eth_sendTransaction', params })
  const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  return (receipt as { contractAddress: `0x${string}` }).contractAddress
}

const refusal = (params: object) =>
  node.request({ method: 'wallet_sendCalls', params: [params] }).then(
    () => undefined,
    (error: RpcError) => error.code,
  )

describe('a bundle of calls', () => {
  it('is sent once where it arrives again meanwhile', async () => {
    const nonce = () => node.request({ method: 'eth_getTransactionCount', params: [ALICE, 'latest'] })
    const before = Number(await nonce())
    const bundle = { version: '2.0.0', id: 'twice', from: ALICE, calls: [{ to: BOB }, { to: BOB }] }
    expect(await Promise.all([refusal(bundle), refusal(bundle)])).toEqual([undefined, 5720])
    expect(await refusal(bundle)).toBe(5720)
    expect(Number(await nonce())).toBe(before + 2)
  })

  it('is sent by viem, one transaction a call, and its status has their receipts', async () => {
    const { wallet, reader } = clients()
    const teller = await deployed('PUSH1 7 PUSH1 0 PUSH1 0 LOG1')
    const before = await reader.getBalance({ address: BOB })
    const { id } = await wallet.sendCalls({
      calls: [{ to: BOB, value: parseEther('1') }, { to: teller }, { to: BOB, value: 2n }],
    })
    const status = await wallet.waitForCallsStatus({ id })
    expect(status).toMatchObject({ id, status: 'success', statusCode: 200, atomic: false, chainId: 33 })
    expect(status.receipts).toHaveLength(3)
    expect(status.receipts?.[1]).toMatchObject({
      status: 'success',
      logs: [{ address: teller, topics: [`0x${'0'.repeat(63)}7`], data: '0x' }],
    })
    expect((await reader.getBalance({ address: BOB })) - before).toBe(parseEther('1') + 2n)
  })

  it('has a status for failures: all, and some', async () => {
    const { wallet } = clients()
    const failing = await deployed('PUSH1 0 PUSH1 0 REVERT')
    const all = await wallet.sendCalls({ calls: [{ to: failing }, { to: failing }], id: 'all-fail' })
    expect(all.id).toBe('all-fail')
    expect(await wallet.getCallsStatus(all)).toMatchObject({ status: 'failure', statusCode: 500 })
    const some = await wallet.sendCalls({ calls: [{ to: failing }, { to: BOB, value: 1n }] })
    expect(await wallet.getCallsStatus(some)).toMatchObject({ status: 'failure', statusCode: 600 })
    const rich = { to: BOB, value: parseEther('1000000000000000000000000000') } as const
    const ended = await wallet.sendCalls({ calls: [{ to: BOB, value: 1n }, rich] })
    const { statusCode, receipts } = await wallet.getCallsStatus(ended)
    expect([statusCode, receipts?.length]).toEqual([600, 1])
  })

  it('is pending until it is mined', async () => {
    const manual = await createNode({ mining: 'manual' })
    const call = (method: string, ...params: unknown[]) =>
      manual.request({ method, params }) as Promise<never>
    const bundle = { version: '2.0.0', calls: [{ to: BOB, value: '0x1' }] }
    const { id } = await call('wallet_sendCalls', bundle)
    expect(await call('wallet_getCallsStatus', id)).toEqual({
      version: '2.0.0',
      id,
      chainId: '0x21',
      status: 100,
      atomic: false,
    })
    await call('evm_mine')
    expect(await call('wallet_getCallsStatus', id)).toMatchObject({ status: 200 })
    await manual.close()
  })

  it('is refused with the codes of EIP-5792', async () => {
    const call = { to: BOB, value: '0x1' }
    const version = '2.0.0'
    const known = { version, calls: [call], id: 'known' }
    expect(await refusal(known)).toBeUndefined()
    expect(await refusal(known)).toBe(5720)
    expect(await refusal({ version, calls: [call], capabilities: { paymaster: {} } })).toBe(5700)
    expect(await refusal({ version, calls: [{ ...call, capabilities: { fast: {} } }] })).toBe(5700)
    const optional = { version, calls: [call], capabilities: { fast: { optional: true, more: 1 } } }
    expect(await refusal(optional)).toBeUndefined()
    expect(await refusal({ version, calls: [call], chainId: '0x1' })).toBe(5710)
    expect(await refusal({ version, calls: [call, call], atomicRequired: true })).toBe(5760)
    expect(await refusal({ version, calls: [call], atomicRequired: true })).toBeUndefined()
    expect(await refusal({ version, calls: [] })).toBe(-32602)
    const unknown = node.request({ method: 'wallet_getCallsStatus', params: ['nothing'] })
    await expect(unknown).rejects.toMatchObject({ code: 5730 })
  })

  it.each([
    ['bundle.from', { from: '0x12' }],
    ['bundle.chainId', { chainId: 'one' }],
    ['bundle.calls[1].to', { calls: [{ to: BOB }, { to: 'bob' }] }],
    ['bundle.calls[0].value', { calls: [{ to: BOB, value: {} }] }],
    ['bundle.calls[0].data', { calls: [{ to: BOB, data: 'text' }] }],
  ])('is refused by the path of what is wrong: %s', async (path, members) => {
    const params = [{ version: '2.0.0', calls: [{ to: BOB }], ...members }]
    const sent = node.request({ method: 'wallet_sendCalls', params })
    await expect(sent).rejects.toMatchObject({ code: -32602, message: expect.stringContaining(path) })
  })

  it('is not atomic, as the capabilities say', async () => {
    const { wallet } = clients()
    expect(await wallet.getCapabilities()).toEqual({ 33: { atomic: { status: 'unsupported' } } })
    expect(await wallet.getCapabilities({ chainId: 33 })).toEqual({ atomic: { status: 'unsupported' } })
    expect(await wallet.getCapabilities({ chainId: 1 })).toBeUndefined()
  })
})
