import { afterAll, describe, expect, it } from 'vitest'
import { PRECOMPILE_ADDRESS } from '../../../src/chain/config.ts'
import { addressOf } from '../../../src/chain/signature.ts'
import { signTransaction } from '../../../src/chain/transaction.ts'
import { EMPTY } from '../../../src/encoding/bytes.ts'
import { fromHex, toHex } from '../../../src/encoding/hex.ts'
import { createNode } from '../../../src/node/node.ts'
import { callData } from '../../../src/peg/call-data.ts'

const BRIDGE = PRECOMPILE_ADDRESS.bridge
/** The key of the one who votes fees on regtest, from the reference node's constants. */
const FEE_VOTER = fromHex('0x6a4b49312b91e203ddfb9bc2d900ebbd46fbede46a7462e770bedcb11ad405e9')
const FROM = addressOf(FEE_VOTER)

const node = await createNode()
afterAll(() => node.close())

const call = (method: string, ...params: unknown[]) => node.request({ method, params })

function signed(nonce: bigint, data: Uint8Array, value = 0n) {
  const fields = { nonce, gasPrice: 1n, gasLimit: 100_000n, to: BRIDGE, value, data, chainId: 33 }
  return toHex(signTransaction(fields, FEE_VOTER).raw)
}

describe('free calls of the Bridge', () => {
  it('are mined from an account that does not exist, and cost it nothing', async () => {
    for (const nonce of [0n, 1n]) {
      const vote = callData('voteFeePerKbChange(int256)', 123_456n + nonce)
      const hash = await call('eth_sendRawTransaction', signed(nonce, vote))
      const receipt = await call('eth_getTransactionReceipt', hash)
      expect(receipt).toMatchObject({ status: '0x1', gasUsed: '0x0' })
    }
    const fee = { to: BRIDGE, data: toHex(callData('getFeePerKb()')) }
    expect(Number(await call('eth_call', fee, 'latest'))).toBe(123_457)
    expect(await call('eth_getBalance', FROM, 'latest')).toBe('0x0')
    expect(await call('eth_getTransactionCount', FROM, 'latest')).toBe('0x2')
  })

  it('are refused with a value that the account has not', async () => {
    await expect(call('eth_sendRawTransaction', signed(2n, EMPTY, 1n))).rejects.toThrow(
      'insufficient funds to pay for pending and new transactions',
    )
  })
})
