/** Gas above 2^53 - 1, which no frame counts: every way into the VM caps it or refuses it with a clear message. */
import { afterAll, expect, it } from 'vitest'
import { createNode } from '../../src/node/node.ts'
import { assemble } from '../support/assembler.ts'

const MOST = 2n ** 53n - 1n
const BEYOND = '0x20000000000000'

const node = await createNode({ blockGasLimit: MOST })
afterAll(() => node.close())

const call = (method: string, ...params: unknown[]): Promise<unknown> => node.request({ method, params })
const [from] = (await call('eth_accounts')) as string[]
/** GAS 0 MSTORE 32 0 RETURN, as the code of an account. */
const METER = '0x5a60005260206000f3'
/** GAS 2, three pushes of 3, MSTORE 3 and a word of memory 3. */
const METER_GAS = 17n
const to = `0x${'77'.repeat(20)}`
await call('hardhat_setCode', to, METER)
/** Fails unless it gets what is left of exactly the cap after the intrinsic gas and the opcode GAS. */
const exact = `0x${'78'.repeat(20)}`
const EXACT = assemble(`GAS ${MOST - 21_000n - 2n} EQ @met JUMPI #fe met: STOP`)
await call('hardhat_setCode', exact, `0x${Buffer.from(EXACT).toString('hex')}`)

it('calls, estimates, access lists and traces run within the cap', async () => {
  const request = { from, to, gas: BEYOND }
  expect(BigInt((await call('eth_call', request, 'latest')) as string)).toBe(MOST - 21_000n - 2n)
  expect(BigInt((await call('eth_estimateGas', request)) as string)).toBe(21_000n + METER_GAS)
  const picky = { ...request, to: exact }
  expect(BigInt((await call('eth_estimateGas', picky)) as string)).toBe(MOST)
  expect(await call('eth_createAccessList', picky)).toEqual({
    accessList: [],
    gasUsed: expect.stringMatching(/^0x/),
  })
  const trace = await call('debug_traceCall', request, 'latest', { tracer: 'callTracer' })
  expect(trace).toMatchObject({ gas: `0x${MOST.toString(16)}` })
  const { structLogs } = (await call('debug_traceCall', request, 'latest', {})) as { structLogs: object[] }
  expect(structLogs[0]).toMatchObject({ op: 'GAS', gas: Number(MOST - 21_000n) })
})

it('transactions are refused for more than the block gas limit', async () => {
  const reason = `transaction's gas limit of ${MOST + 1n} is higher than the block's gas limit of ${MOST}`
  await expect(call('eth_sendTransaction', { from, to, gas: BEYOND, gasPrice: '0x0' })).rejects.toThrow(
    reason,
  )
  const hash = await call('eth_sendTransaction', { from, to, gas: '0x1fffffffffffff', gasPrice: '0x0' })
  expect(await call('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
})
