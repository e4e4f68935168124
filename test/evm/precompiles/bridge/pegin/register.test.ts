/** Registering transactions: once, by a proof, and to the satoshi. Bytes and codes are in the chains of the reference node. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outputScript, toPublicKey } from '../../../../../src/bitcoin/output-script.ts'
import { multisig } from '../../../../../src/bitcoin/redeem-script.ts'
import { OP } from '../../../../../src/bitcoin/script.ts'
import { type Input, type Output, txid } from '../../../../../src/bitcoin/transaction.ts'
import { concat, EMPTY } from '../../../../../src/encoding/bytes.ts'
import { doubleSha256 } from '../../../../../src/encoding/hash.ts'
import { toHex } from '../../../../../src/encoding/hex.ts'
import { openBridge } from '../../../../../src/evm/precompiles/bridge/bridge.ts'
import { REGTEST } from '../../../../../src/evm/precompiles/bridge/constants/regtest.ts'
import { dataOf } from '../calls.ts'
import { ACCOUNT, input, KEY, pushes, SIGNATURE } from './inputs.ts'
import { FEDERATION_SCRIPT, peggedBridge, rawOf } from './parent-blocks.ts'

const SATOSHI = 10n ** 10n
const byKey = (index = 0): Input => input({ index, script: pushes(SIGNATURE, KEY) })
const byKeys = (index = 0): Input => input({ index, script: pushes(EMPTY, SIGNATURE, multisig(1, [KEY])) })
const byNone = (index = 0): Input => input({ index })
const pays = (value: bigint): Output => ({ value, script: FEDERATION_SCRIPT })
const CHANGE = { value: 7n, script: outputScript(toPublicKey(KEY)) }
const NOTE = {
  value: 0n,
  script: concat(Uint8Array.of(OP.RETURN), pushes(Uint8Array.of(0x52, 0x53, 0x4b, 0x54))),
}

const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n)

/** What the cells have after the calls: satoshi to spend, and of each refund what it spends and what it pays. */
const cellsOf = (bridge: ReturnType<typeof peggedBridge>) => {
  const { federations, peg } = openBridge(bridge.env, REGTEST, () => true)
  const refunds = peg.waiting.get().map(({ transaction }) => ({
    spent: sum(peg.outpointValues(txid(transaction)) ?? []),
    paid: sum(transaction.outputs.map(({ value }) => value)),
  }))
  return { outputs: federations.activeOutputs().get(), refunds }
}

describe('a peg-in', () => {
  it('is paid once', () => {
    const bridge = peggedBridge()
    const raw = rawOf([byKey()], [pays(500_000n)])
    expect(bridge.register(raw)).toBe('0x')
    expect(bridge.transfers).toEqual([[ACCOUNT, 500_000n * SATOSHI]])
    expect(bridge.logs).toHaveLength(1)
    expect(bridge.register(raw)).toBe('0x')
    expect(bridge.transfers).toHaveLength(1)
    expect(bridge.logs).toHaveLength(1)
    expect(cellsOf(bridge).outputs).toMatchObject([{ value: 500_000n, index: 0, script: FEDERATION_SCRIPT }])
  })

  it('is not paid by the proof of another block or transaction, at another height, or too early', () => {
    const bridge = peggedBridge()
    const raw = rawOf([byKey()], [pays(500_000n)])
    const other = doubleSha256(EMPTY)
    const first = bridge.block([doubleSha256(raw), other])
    const second = bridge.block([other, doubleSha256(raw)])
    const attempt = (height: number, tree: string) =>
      bridge.raw(dataOf('registerBtcTransaction', toHex(raw), BigInt(height), tree))
    for (const [height, tree] of [
      [first.height, second.tree(1)],
      [second.height, first.tree(0)],
      [first.height, first.tree(1)],
      [first.height + 1, first.tree(0)],
      [second.height + 1, second.tree(1)],
      [-1, first.tree(0)],
    ] as const) {
      expect(attempt(height, tree)).toBe('0x')
    }
    expect(bridge.transfers).toEqual([])
    expect(attempt(first.height, first.tree(0))).toBe('0x')
    expect(bridge.transfers).toHaveLength(1)
  })

  it('pays what the Bridge has not, as BridgeSupport.transferTo of the reference node does', () => {
    const bridge = peggedBridge({ balance: () => 500_000n * SATOSHI - 1n })
    expect(bridge.register(rawOf([byKey()], [pays(500_000n)]))).toBe('0x')
    expect(bridge.transfers).toEqual([[ACCOUNT, 500_000n * SATOSHI]])
  })
})

describe('any sequence of peg-ins', () => {
  const pegins = fc.record({
    sender: fc.constantFrom<(index: number) => Input>(byKey, byKeys, byNone),
    values: fc.array(fc.bigInt({ min: 1n, max: 2_000_000n }), { minLength: 0, maxLength: 4 }),
    hasNote: fc.boolean(),
  })

  it('keeps each satoshi once: paid out here, going back, or never taken', () => {
    fc.assert(
      fc.property(fc.array(pegins, { minLength: 1, maxLength: 6 }), (list) => {
        const bridge = peggedBridge()
        const expected = { paid: 0n, back: 0n, refunds: 0 }
        for (const [i, { sender, values, hasNote }] of list.entries()) {
          const outputs = [CHANGE, ...values.map(pays), ...(hasNote ? [NOTE] : [])]
          expect(bridge.register(rawOf([sender(i)], outputs))).toBe('0x')
          if (values.length > 0 && values.every((value) => value >= 500_000n)) {
            if (sender === byKey && !hasNote) expected.paid += sum(values)
            else if (sender !== byNone) {
              expected.back += sum(values)
              expected.refunds += 1
            }
          }
          const { outputs: spendable, refunds } = cellsOf(bridge)
          expect(sum(bridge.transfers.map(([, wei]) => wei))).toBe(expected.paid * SATOSHI)
          expect(sum(spendable.map(({ value }) => value))).toBe(expected.paid)
          expect(sum(refunds.map(({ spent }) => spent))).toBe(expected.back)
          expect(refunds).toHaveLength(expected.refunds)
          for (const { spent, paid } of refunds) expect(spent - paid).toBeGreaterThanOrEqual(5_000n)
        }
      }),
      { numRuns: 25 },
    )
  })
})
