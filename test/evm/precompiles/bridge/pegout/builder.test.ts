/** Transactions of federations with very many outputs take time that grows with their number. */
import { describe, expect, it } from 'vitest'
import { fromBigIntFixed } from '../../../../../src/encoding/bytes.ts'
import { REGTEST } from '../../../../../src/evm/precompiles/bridge/constants/regtest.ts'
import { genesisFederation } from '../../../../../src/evm/precompiles/bridge/federation/federation.ts'
import { buildRelease } from '../../../../../src/evm/precompiles/bridge/pegout/builder.ts'

const federation = genesisFederation(REGTEST, () => true)

/** A wallet of outputs of half a million satoshi each, that counts how often their scripts are looked up. */
function walletOf(count: number) {
  const outputs = Array.from({ length: count }, (_, index) => ({
    hash: fromBigIntFixed(BigInt(index), 32),
    index,
    value: 500_000n,
    script: federation.outputScript,
    height: 0,
    isCoinbase: false,
  }))
  let lookups = 0
  const wallet = {
    federation,
    outputs,
    fund(output: (typeof outputs)[number]) {
      lookups++
      return { output, redeemScript: federation.redeemScript }
    },
  }
  return { wallet, lookups: () => lookups }
}

/** A payment whose fee the wallet pays. */
function pay(count: number, feePerKb: bigint) {
  const { wallet, lookups } = walletOf(count)
  const { outputScript: script } = federation
  const release = buildRelease({
    wallet,
    payments: [{ value: 500_000n, script }],
    change: script,
    isPaidByReceivers: false,
    feePerKb,
    version: 2,
  })
  return { release, lookups: lookups() }
}

describe('a fee that a wallet pays', () => {
  it('that outgrows its outputs slowly ends, with each output looked at once', () => {
    // An input costs nearly what it spends: every step of the fee takes a few more.
    for (const feePerKb of [2_700_000n, 2_900_000n, 3_400_000n, 2n ** 62n]) {
      expect(pay(1000, feePerKb).lookups).toBeLessThanOrEqual(1000)
    }
    expect(pay(1000, 3_400_000n).release).toBe('insufficient money')
  })

  it('is covered by the outputs that are spent', () => {
    const { release } = pay(1000, 2_000_000n)
    if (typeof release === 'string') throw new Error(release)
    const { spent, transaction } = release
    const fee = transaction.outputs.reduce((left, { value }) => left - value, 500_000n * BigInt(spent.length))
    expect(spent.length).toBeGreaterThan(1)
    expect(transaction.inputs).toHaveLength(spent.length)
    expect(fee).toBeGreaterThan(200_000n * BigInt(spent.length))
  })
})
