/** A peg-out from its request to its last signature, step by step. Bytes and codes are in the chains of the reference node. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { decodeAbiParameters, keccak256 as keccak, parseAbiParameters, toHex as text } from 'viem'
import { describe, expect, it } from 'vitest'
import { outputScript } from '../../../../../src/bitcoin/output-script.ts'
import { revealedScript, unsignedSighash } from '../../../../../src/bitcoin/redeem-input.ts'
import { encodeTransaction, txid } from '../../../../../src/bitcoin/transaction.ts'
import { signTransaction } from '../../../../../src/chain/transaction.ts'
import { EMPTY } from '../../../../../src/encoding/bytes.ts'
import { fromHex, type Hex, toFixedHex, toHex } from '../../../../../src/encoding/hex.ts'
import { openBridge } from '../../../../../src/evm/precompiles/bridge/bridge.ts'
import { REGTEST } from '../../../../../src/evm/precompiles/bridge/constants/regtest.ts'
import { library } from '../../../../bitcoin/library.ts'
import { dataOf, FEDERATOR } from '../calls.ts'
import { input, KEY, pushes, SIGNATURE } from '../pegin/inputs.ts'
import { FEDERATION_SCRIPT, peggedBridge, rawOf } from '../pegin/parent-blocks.ts'

const SATOSHI = 10n ** 10n
const BRIDGE: Hex = '0x0000000000000000000000000000000001000006'
const COW = fromHex('0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4')
/** Hash of the key of `cow`, to which its peg-outs go. */
const COW_HASH = fromHex('0xf7ee9ab7297134a0ccc76f3d50e94def17488f2c')
const CREATION: Hex = `0x${'c1'.repeat(32)}`
const MEMBERS = ['federator1', 'federator2', 'federator3'].map((seed) => {
  const secret = fromHex(keccak(text(seed)))
  return { secret, key: secp256k1.getPublicKey(secret, true) }
})

const topic = (signature: string) => keccak(text(signature))
const TOPIC = {
  update: topic('update_collections(address)'),
  requested: topic('release_requested(bytes32,bytes32,uint256)'),
  created: topic('pegout_transaction_created(bytes32,bytes)'),
  batch: topic('batch_pegout_created(bytes32,bytes)'),
  confirmed: topic('pegout_confirmed(bytes32,uint256)'),
  signature: topic('add_signature(bytes32,address,bytes)'),
  release: topic('release_btc(bytes32,bytes)'),
}

/** A Bridge that has what these peg-ins paid, each an output of its own. */
function bridgeWith(...values: readonly bigint[]) {
  const bridge = peggedBridge({ number: 100 })
  for (const [index, value] of values.entries()) {
    const byKey = input({ index, script: pushes(SIGNATURE, KEY) })
    expect(bridge.register(rawOf([byKey], [{ value, script: FEDERATION_SCRIPT }]))).toBe('0x')
  }
  bridge.logs.length = 0
  bridge.transfers.length = 0
  return {
    ...bridge,
    /** A request of `cow`; the hash of its transaction. */
    request(satoshi: bigint, nonce = 0n): Hex {
      const value = satoshi * SATOSHI
      const unsigned = { nonce, gasPrice: 0n, gasLimit: 50_000n, to: BRIDGE, value, data: EMPTY, chainId: 33 }
      const transaction = signTransaction(unsigned, COW)
      expect(bridge.raw('0x', { caller: transaction.from, value, transaction })).toBe('0x')
      return transaction.hash
    },
    /** The topics of the events of an update in a block. */
    update(number: number, hash = CREATION): Hex[] | 'failure' {
      bridge.logs.length = 0
      const change = { caller: FEDERATOR, number, callHash: () => hash }
      const result = bridge.raw(dataOf('updateCollections'), change)
      return result === 'failure' ? result : bridge.logs.map(({ topics: [first = '0x'] }) => first)
    },
    state: (number = 100) => openBridge({ ...bridge.env, number }, REGTEST, () => true),
  }
}

const integerOf = (cell: Hex) => (cell === '0x' ? undefined : Number(cell.replace(/^0x8[1-9a-f]/, '0x')))

describe('a batch of peg-outs', () => {
  it('pays the requests less the fee of its size, and the change back', () => {
    const bridge = bridgeWith(500_000n)
    const request = bridge.request(250_000n)
    expect(bridge.update(200)).toEqual([TOPIC.update, TOPIC.requested, TOPIC.created, TOPIC.batch])
    const [release] = bridge.state().peg.waiting.get()
    if (release === undefined) throw new Error('no peg-out waits')
    // 253 bytes at 100,000 satoshi for a thousand.
    expect(release.transaction.outputs).toEqual([
      { value: 224_700n, script: outputScript({ kind: 'publicKeyHash', hash: COW_HASH }) },
      { value: 250_000n, script: FEDERATION_SCRIPT },
    ])
    expect(release).toMatchObject({ creationBlock: 200, transaction: { version: 2, lockTime: 0 } })
    const id = toHex(txid(release.transaction).toReversed())
    const [, requested, created, batch] = bridge.logs
    expect(requested).toEqual({ topics: [TOPIC.requested, CREATION, id], data: toFixedHex(250_000n, 32) })
    expect(created?.topics).toEqual([TOPIC.created, id])
    expect(decodeAbiParameters(parseAbiParameters('bytes'), created?.data ?? '0x')).toEqual(['0xfe20a10700'])
    expect(decodeAbiParameters(parseAbiParameters('bytes'), batch?.data ?? '0x')).toEqual([request])
    expect(bridge.state().federations.activeOutputs().get()).toEqual([])
    const sighash = unsignedSighash(release.transaction)
    expect(sighash && bridge.state().peg.isPegoutSighash(sighash)).toBe(true)
    expect(bridge.transfers).toEqual([])
  })

  it('is made every 50 blocks, or when there is enough to pay all requests', () => {
    const bridge = bridgeWith(500_000n)
    const next = () => integerOf(bridge.cell('nextPegoutHeight'))
    expect(bridge.update(200)).toEqual([TOPIC.update])
    expect(next()).toBe(250)
    bridge.request(300_000n, 0n)
    expect(bridge.update(249)).toEqual([TOPIC.update])
    bridge.request(300_000n, 1n)
    // More than the federation has: neither is paid, and the height stays.
    expect(bridge.update(250)).toEqual([TOPIC.update])
    expect(next()).toBe(250)
    expect(bridge.call('getQueuedPegoutsCount')).toBe(2n)
    const byKey = input({ index: 9, script: pushes(SIGNATURE, KEY) })
    bridge.register(rawOf([byKey], [{ value: 500_000n, script: FEDERATION_SCRIPT }]))
    expect(bridge.update(251)).toContain(TOPIC.batch)
    expect(next()).toBe(301)
    expect(bridge.call('getQueuedPegoutsCount')).toBe(0n)
    expect(bridge.call('getNextPegoutCreationBlockNumber')).toBe(301n)
  })

  it('burns what the requests paid for change that would have been dust', () => {
    const bridge = bridgeWith(500_000n)
    bridge.request(499_000n)
    expect(bridge.update(200)).toContain(TOPIC.batch)
    // The least change to a script hash is 2,700 satoshi, of which the federation had 1,000.
    const [release] = bridge.state().peg.waiting.get()
    expect(release?.transaction.outputs.at(-1)).toEqual({ value: 2_700n, script: FEDERATION_SCRIPT })
    expect(bridge.transfers).toEqual([[`0x${'ff'.repeat(20)}`, 1_700n * SATOSHI]])
  })

  it('waits for three blocks, then for signatures under the hash of its creation', () => {
    const bridge = bridgeWith(500_000n)
    bridge.request(250_000n)
    bridge.update(200)
    expect(bridge.update(202, `0x${'c2'.repeat(32)}`)).toEqual([TOPIC.update])
    expect(bridge.update(203, `0x${'c3'.repeat(32)}`)).toEqual([TOPIC.update, TOPIC.confirmed])
    expect(bridge.logs[1]?.data).toBe(toFixedHex(200n, 32))
    const { signing, waiting } = bridge.state().peg
    expect([...signing.get().keys()]).toEqual([CREATION])
    expect(waiting.get()).toEqual([])
  })

  it('fails to be confirmed while another one waits for signatures under the same hash', () => {
    const bridge = bridgeWith(500_000n, 500_000n)
    bridge.request(250_000n, 0n)
    bridge.update(200)
    bridge.update(203)
    bridge.request(250_000n, 1n)
    expect(bridge.update(250)).toContain(TOPIC.batch)
    expect(bridge.update(252)).toEqual([TOPIC.update])
    expect(bridge.update(253)).toBe('failure')
    expect(bridge.state().peg.waiting.get()).toHaveLength(1)
  })
})

describe('the signatures of a peg-out', () => {
  function signedBridge(values = [500_000n], amount = 250_000n) {
    const bridge = bridgeWith(...values)
    bridge.request(amount)
    bridge.update(200)
    bridge.update(203)
    bridge.logs.length = 0
    const release = () => bridge.state().peg.signing.get().get(CREATION)
    const unsigned = release()
    const [first] = unsigned?.inputs ?? []
    if (unsigned === undefined || first === undefined) throw new Error('no peg-out waits for signatures')
    // The hash that is signed is bitcoinjs-lib's.
    const hash = library.Transaction.fromBuffer(Buffer.from(encodeTransaction(unsigned))).hashForWitnessV0(
      0,
      revealedScript(first) ?? EMPTY,
      500_000n,
      library.Transaction.SIGHASH_ALL,
    )
    const sign = (member: number, of: Uint8Array = hash) =>
      secp256k1.sign(of, MEMBERS[member]?.secret ?? EMPTY, { prehash: false, format: 'der' })
    /** The topics of the events of a call. */
    const add = (
      member: number,
      signatures: readonly Uint8Array[],
      { creation = CREATION as Hex, caller = FEDERATOR, key = MEMBERS[member]?.key ?? EMPTY } = {},
    ) => {
      bridge.logs.length = 0
      const result = bridge.raw(dataOf('addSignature', toHex(key), signatures.map(toHex), creation), {
        caller,
      })
      return result === 'failure' ? result : bridge.logs.map(({ topics: [first = '0x'] }) => first)
    }
    return { ...bridge, release, unsigned, sign, add }
  }

  it('are added in any order until there are two of three, which releases it', () => {
    const { add, sign, logs, release } = signedBridge()
    // A member may send the signature of another one, who is named.
    expect(add(2, [sign(2)])).toEqual([TOPIC.signature])
    expect(logs[0]?.topics[2]).toBe(toFixedHex(0x6b045752f4d650a510a353bbf7e52988331e7f5bn, 32))
    expect(add(2, [sign(2)])).toEqual([])
    expect(release()).toBeDefined()
    expect(add(0, [sign(0)])).toEqual([TOPIC.signature, TOPIC.release])
    expect(release()).toBeUndefined()
    expect(add(1, [sign(1)])).toEqual([])
  })

  it('are ignored when they are not by the key, too many, too few, or for nothing that waits', () => {
    const { add, sign, release, unsigned } = signedBridge()
    const good = sign(0)
    const high = secp256k1.Signature.fromBytes(good, 'der')
    const highS = new secp256k1.Signature(high.r, secp256k1.Point.Fn.ORDER - high.s).toBytes('der')
    const stranger = secp256k1.getPublicKey(COW, true)
    for (const [signatures, change] of [
      [[sign(0, new Uint8Array(32).fill(7))], {}],
      [[sign(1)], {}],
      [[highS], {}],
      [[good, good], {}],
      [[good], { creation: `0x${'c9'.repeat(32)}` as Hex }],
      [[good], { key: stranger }],
    ] as const) {
      expect(add(0, signatures, change)).toEqual([])
      expect(release()).toEqual(unsigned)
    }
  })

  it('are ignored when they are not of all inputs', () => {
    const { add, sign, release, unsigned } = signedBridge([500_000n, 500_000n], 800_000n)
    expect(unsigned.inputs).toHaveLength(2)
    expect(add(0, [sign(0)])).toEqual([])
    expect(release()).toEqual(unsigned)
  })

  it('that cannot be read, or of senders who are no members, fail', () => {
    const { add, sign, release, unsigned } = signedBridge()
    const good = sign(0)
    for (const [signatures, change] of [
      [[], {}],
      [[EMPTY], {}],
      [[Uint8Array.of(0x30, 6)], {}],
      [[good], { creation: '0xc1' as Hex }],
      [[good], { key: new Uint8Array(33) }],
      [[good], { key: EMPTY }],
      [[good], { caller: `0x${'77'.repeat(20)}` as Hex }],
    ] as const) {
      expect(add(0, signatures, change)).toBe('failure')
      expect(release()).toEqual(unsigned)
    }
  })
})
