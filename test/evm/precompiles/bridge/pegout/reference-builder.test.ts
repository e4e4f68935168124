/**
 * Release transactions byte for byte as the reference node's ReleaseTransactionBuilder makes them, or the reason why there
 * is none (`fixtures/bridge/releases.json.gz`): peg-out batches, migrations, refunds, fund transactions of a validation.
 */
import { describe, expect, it } from 'vitest'
import { reversed } from '../../../../../src/bitcoin/hash.ts'
import { outputScript } from '../../../../../src/bitcoin/output-script.ts'
import { encodeTransaction } from '../../../../../src/bitcoin/transaction.ts'
import { sha256 } from '../../../../../src/encoding/hash.ts'
import { fromHex, toHex } from '../../../../../src/encoding/hex.ts'
import type { FederationFormat } from '../../../../../src/evm/precompiles/bridge/constants/network.ts'
import { REGTEST } from '../../../../../src/evm/precompiles/bridge/constants/regtest.ts'
import {
  genesisFederation,
  lockHash,
} from '../../../../../src/evm/precompiles/bridge/federation/federation.ts'
import { buildRelease } from '../../../../../src/evm/precompiles/bridge/pegout/builder.ts'
import { sweep } from '../../../../../src/evm/precompiles/bridge/pegout/sweep.ts'
import type { SpendableOutput } from '../../../../../src/evm/precompiles/bridge/storage/outputs.ts'
import { gzippedFixture } from '../../../../support/fixture.ts'

type Kind = 'batch' | 'migration' | 'refund' | 'svpFund'

interface Case {
  readonly kind: Kind
  readonly format: FederationFormat
  readonly redeem: string
  readonly feePerKb: number
  readonly outputs: readonly (readonly [hash: string, index: number, satoshi: number, isCoinbase: boolean])[]
  readonly payments: readonly (readonly [to: string, satoshi: number])[]
  readonly response: string
  readonly transaction?: string
  readonly sha256?: string
  readonly selected: readonly number[]
}

const { cases } = gzippedFixture<{ cases: readonly Case[] }>('bridge/releases.json.gz')

const RESPONSES: Readonly<Record<string, string>> = {
  dust: 'DUSTY_SEND_REQUESTED',
  'too large': 'EXCEED_MAX_TRANSACTION_SIZE',
  'insufficient money': 'INSUFFICIENT_MONEY',
  'output too small for its fee': 'COULD_NOT_ADJUST_DOWNWARDS',
}

function scriptOf(to: string): Uint8Array {
  const bytes = fromHex(`0x${to}`)
  return bytes.length === 20 ? outputScript({ kind: 'publicKeyHash', hash: bytes }) : bytes
}

function build({ kind, format, redeem, feePerKb, outputs, payments }: Case) {
  const redeemScript = fromHex(`0x${redeem}`)
  const script = outputScript({ kind: 'scriptHash', hash: lockHash(redeemScript, format) })
  const all = outputs.map(
    ([hash, index, satoshi, isCoinbase]): SpendableOutput => ({
      hash: reversed(fromHex(`0x${hash}`)),
      index,
      value: BigInt(satoshi),
      script,
      height: 0,
      isCoinbase,
    }),
  )
  const fund = (output: SpendableOutput) => ({ output, redeemScript })
  const paid = payments.map(([to, satoshi]) => ({ value: BigInt(satoshi), script: scriptOf(to) }))
  if (kind === 'refund') {
    const parts = { format, feePerKb: BigInt(feePerKb), version: 2 }
    return sweep(all.map(fund), paid[0]?.script ?? script, parts)
  }
  // The wallet of a federation has no outputs of coinbases (`walletOf`).
  const federation = { ...genesisFederation(REGTEST, () => true), format, redeemScript, outputScript: script }
  const wallet = { federation, outputs: all.filter(({ isCoinbase }) => !isCoinbase), fund }
  return buildRelease({
    wallet,
    payments: paid,
    change: kind === 'migration' ? (paid[0]?.script ?? script) : script,
    isPaidByReceivers: kind !== 'svpFund',
    feePerKb: BigInt(feePerKb),
    version: 2,
  })
}

describe.each<Kind>(['batch', 'migration', 'refund', 'svpFund'])('a %s transaction', (kind) => {
  const own = cases.filter((each) => each.kind === kind)

  it('is that of the reference node, or there is none for the same reason', () => {
    expect(own.filter(({ response }) => response === 'SUCCESS').length).toBeGreaterThan(80)
    for (const [i, each] of own.entries()) {
      const made = build(each)
      if (made === undefined || typeof made === 'string') {
        // A refund that cannot be made has no reason here: nothing depends on it.
        if (made === undefined) expect(each.response, `${i}`).not.toBe('SUCCESS')
        else expect(RESPONSES[made], `${i}`).toBe(each.response)
        continue
      }
      expect(each.response, `${i}`).toBe('SUCCESS')
      const bytes = encodeTransaction(made.transaction)
      const found = each.sha256 === undefined ? toHex(bytes) : toHex(sha256(bytes))
      expect(found, `${i}`).toBe(`0x${each.sha256 ?? each.transaction}`)
      const selected = made.spent.map(({ index }) => index).sort((a, b) => a - b)
      expect(selected, `${i}`).toEqual(each.selected)
    }
  })
})
