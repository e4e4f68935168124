/** Flyover: what the contract is paid, what goes back, and the codes of what is neither. */
import { describe, expect, it } from 'vitest'
import { outputScript } from '../../../../../src/bitcoin/output-script.ts'
import { unsignedSighash } from '../../../../../src/bitcoin/redeem-input.ts'
import { concat } from '../../../../../src/encoding/bytes.ts'
import { doubleSha256, keccak256 } from '../../../../../src/encoding/hash.ts'
import { fromHex, type Hex, toFixedHex, toHex } from '../../../../../src/encoding/hex.ts'
import { openBridge } from '../../../../../src/evm/precompiles/bridge/bridge.ts'
import { REGTEST } from '../../../../../src/evm/precompiles/bridge/constants/regtest.ts'
import {
  flyoverHash,
  genesisFederation,
} from '../../../../../src/evm/precompiles/bridge/federation/federation.ts'
import { dataOf } from '../calls.ts'
import { input } from './inputs.ts'
import { FEDERATION_SCRIPT, peggedBridge, rawOf } from './parent-blocks.ts'

const SATOSHI = 10n ** 10n
const COIN = 100_000_000n
const LBC: Hex = `0x${'22'.repeat(20)}`
const USER = new Uint8Array(20).fill(0x33)
const PROVIDER = new Uint8Array(20).fill(0x44)
const ORIGIN: Hex = `0x${'0a'.repeat(32)}`
/** Addresses as Bitcoin has them, with the versions of a key's and a script's. */
const ADDRESS = {
  user: concat(Uint8Array.of(0x6f), USER),
  provider: concat(Uint8Array.of(0xc4), PROVIDER),
}

/** The script of the address that commits to an agreement. */
function scriptOf(agreement: Uint8Array): Uint8Array {
  const hash = keccak256(concat(agreement, ADDRESS.user, fromHex(LBC), ADDRESS.provider))
  const federation = genesisFederation(REGTEST, () => true)
  return outputScript({ kind: 'scriptHash', hash: flyoverHash(hash, federation) })
}

const AGREEMENT = new Uint8Array(32).fill(5)
const SCRIPT = scriptOf(AGREEMENT)
const paymentOf = (...values: readonly bigint[]) =>
  rawOf(
    [input()],
    [{ value: 7n, script: FEDERATION_SCRIPT }, ...values.map((value) => ({ value, script: SCRIPT }))],
  )

/** A Bridge out of which as many satoshi went before. */
function flyoverBridge(locked = 0n) {
  const bridge = peggedBridge({ caller: LBC, isTop: false, originHash: ORIGIN })
  const balance = () => 21_000_000n * 10n ** 18n - locked * SATOSHI
  return {
    ...bridge,
    /** Shows a block with the bytes; the result of registering them. */
    register(bytes: Uint8Array, { isPaid = false, agreement = AGREEMENT, above = 0 } = {}): bigint {
      const { height, tree } = bridge.block([doubleSha256(bytes), doubleSha256(Uint8Array.of(1))])
      const data = dataOf(
        'registerFastBridgeBtcTransaction',
        ...[toHex(bytes), BigInt(height + above), tree(0), toHex(agreement)],
        ...[toHex(ADDRESS.user), LBC, toHex(ADDRESS.provider), isPaid],
      )
      expect(bridge.gas(data)).toBe(25_000n + 2n * BigInt(data.length / 2 - 1))
      return BigInt.asIntN(256, BigInt(bridge.raw(data, { balance })))
    },
    state: () => openBridge(bridge.env, REGTEST, () => true),
  }
}

describe('a payment to the address of an agreement', () => {
  it('is paid to the contract once, and belongs to the federation', () => {
    const bridge = flyoverBridge()
    const bytes = paymentOf(600_000n, 500_000n)
    expect(bridge.register(bytes)).toBe(1_100_000n * SATOSHI)
    expect(bridge.transfers).toEqual([[LBC, 1_100_000n * SATOSHI]])
    expect(bridge.logs).toEqual([])
    const outputs = bridge.state().federations.activeOutputs().get()
    expect(outputs.map(({ value, script, index }) => [value, toHex(script), index])).toEqual([
      [600_000n, toHex(SCRIPT), 1],
      [500_000n, toHex(SCRIPT), 2],
    ])
    expect(bridge.register(bytes)).toBe(-302n)
    expect(bridge.transfers).toHaveLength(1)
  })

  it.each([
    ['is too little to one of its outputs', paymentOf(600_000n, 499_999n), {}, -305n],
    ['pays nothing to the address', paymentOf(), {}, -304n],
    [
      'pays to the address of another agreement',
      paymentOf(600_000n),
      { agreement: new Uint8Array(32) },
      -304n,
    ],
    ['has too few confirmations', paymentOf(600_000n), { above: 1 }, -303n],
    ['is cut off', paymentOf(600_000n).slice(0, -1), {}, -900n],
  ] as const)('has a code and pays nothing when it %s', (_, bytes, change, code) => {
    const bridge = flyoverBridge()
    expect(bridge.register(bytes, change)).toBe(code)
    expect(bridge.transfers).toEqual([])
    expect(bridge.state().federations.activeOutputs().get()).toEqual([])
  })

  it.each([
    ['to the user', false, -100n, { kind: 'publicKeyHash', hash: USER }],
    ['to the provider who has paid already', true, -200n, { kind: 'scriptHash', hash: PROVIDER }],
  ] as const)('above the locking cap goes back %s', (_, isPaid, code, to) => {
    // The cap is 1,000 coins: that much fits.
    expect(flyoverBridge(999n * COIN).register(paymentOf(COIN))).toBe(COIN * 10n ** 10n)
    const bridge = flyoverBridge(999n * COIN + 1n)
    const bytes = paymentOf(COIN)
    expect(bridge.register(bytes, { isPaid })).toBe(code)
    expect(bridge.transfers).toEqual([])
    const [refund] = bridge.state().peg.waiting.get()
    expect(refund?.transaction.outputs.map(({ script }) => toHex(script))).toEqual([toHex(outputScript(to))])
    // It is named by the transaction that an account sent, not by the contract's call.
    expect(bridge.logs[0]?.topics[1]).toBe(ORIGIN)
    expect(bridge.logs[0]?.data).toBe(toFixedHex(COIN, 32))
    const sighash = refund && unsignedSighash(refund.transaction)
    expect(sighash && bridge.state().peg.isPegoutSighash(sighash)).toBe(false)
    expect(bridge.register(bytes, { isPaid })).toBe(-302n)
  })
})
