/** Scripts of many keys: those of the local network's federation, bitcoinjs-lib's multisig, and every form read back. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, it } from 'vitest'
import { formatAddress, TEST_VERSIONS } from '../../src/bitcoin/address.ts'
import { baseScript, baseWitness } from '../../src/bitcoin/base-input.ts'
import { toScript, toWitnessScript } from '../../src/bitcoin/output-script.ts'
import {
  earlierEmergencyMultisig,
  emergencyMultisig,
  majority,
  multisig,
  withPrefix,
} from '../../src/bitcoin/redeem-script.ts'
import { parseRedeem } from '../../src/bitcoin/redeem-script-parser.ts'
import { compare, concat } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { fromHex, toHex } from '../../src/encoding/hex.ts'
import { library } from './library.ts'

const keysOf = (...seeds: readonly string[]) =>
  seeds.map((seed) => secp256k1.getPublicKey(keccak256(new TextEncoder().encode(seed)))).sort(compare)
const members = keysOf('federator1', 'federator2', 'federator3')
const emergency = { keys: keysOf('erp-fed-01', 'erp-fed-02', 'erp-fed-03', 'erp-fed-05'), delay: 500 }

describe('the scripts of the local network’s first federation', () => {
  // The address of the standard form is in the reference node's tests; the others follow from the forms (RSKIP-305).
  it.each([
    ['2N5muMepJizJE1gR7FbHJU6CD18V3BpNF9p', toScript(multisig(2, members))],
    ['2N5482KFJXoEDSmKxrR6H69Qmrk2K9MFLGw', toScript(emergencyMultisig(members, emergency))],
    ['2MvQSG61B4LtKLECeo1dRDeDWXgJfnr3fC7', toWitnessScript(emergencyMultisig(members, emergency))],
    ['2NDX645q5ArRrjue7CLhnnwcLBudrCG3XGE', toWitnessScript(multisig(2, members))],
  ])('have the address %s', (address, destination) => {
    expect(formatAddress(destination, TEST_VERSIONS)).toBe(address)
  })

  it('with a prefix has another address', () => {
    const hash = new Uint8Array(32)
    hash[31] = 1
    const script = withPrefix(hash, emergencyMultisig(members, emergency))
    expect(formatAddress(toWitnessScript(script), TEST_VERSIONS)).toBe('2N8ZhqWGDjjBJvcTij21SoBWbaVRAiaFPLP')
  })
})

describe('multisig', () => {
  it('is that of bitcoinjs-lib up to 15 keys', () => {
    for (const count of [1, 2, 15]) {
      const pubkeys = Array.from({ length: count }, (_, i) =>
        secp256k1.getPublicKey(new Uint8Array(32).fill(i + 1)),
      )
      const theirs = library.payments.p2ms({
        m: majority(pubkeys),
        pubkeys,
        network: library.networks.regtest,
      })
      expect(multisig(majority(pubkeys), pubkeys)).toEqual(new Uint8Array(theirs.output))
    }
  })

  it('writes 16 to 20 keys as bytes, and takes no more', () => {
    const keys = (count: number) => Array.from({ length: count }, () => members[0] as Uint8Array)
    expect(toHex(multisig(9, keys(16)).subarray(-3))).toBe('0x0110ae')
    expect(toHex(multisig(11, keys(20)).subarray(-3))).toBe('0x0114ae')
    expect(parseRedeem(multisig(11, keys(20)))).toMatchObject({ required: 11, keys: keys(20) })
    expect(() => multisig(11, keys(21))).toThrow(new RangeError('a script takes at most 20 keys'))
  })
})

describe('reading', () => {
  const standard = multisig(2, members)
  const forms = [
    standard,
    emergencyMultisig(members, emergency),
    earlierEmergencyMultisig(members, emergency),
  ]

  it.each(forms)('finds keys and number of signatures in form %#', (form) => {
    for (const script of [form, withPrefix(new Uint8Array(32).fill(9), form)]) {
      const hasEmergency = form !== standard
      expect(parseRedeem(script)).toEqual({ script, required: 2, keys: members, hasEmergency, standard })
    }
  })

  it.each([
    ['nothing', '0x'],
    ['a push that is cut off', '0x0201'],
    ['a public key', toHex(members[0] as Uint8Array)],
    ['no signatures', '0x5f5f5fae'.replace('5f5f5f', '514f51')],
    ['fewer keys than counted', toHex(concat(standard.subarray(0, -2), Uint8Array.of(0x54, 0xae)))],
    ['an operation for a key', '0x5151ac52ae'],
    ['a branch that is no multisig', '0x645151ae6702f401b27552ac51ae68'],
    ['a prefix of nothing', toHex(withPrefix(new Uint8Array(32), fromHex('0x51ac')))],
  ])('refuses %s', (_, script) => {
    expect(parseRedeem(fromHex(script))).toBeUndefined()
  })

  it('fails where the reference node fails', () => {
    expect(() => parseRedeem(fromHex('0x00510051ae'))).toThrow(new RangeError('not a number'))
    expect(() => parseRedeem(fromHex('0x645167ae68'))).toThrow(
      new RangeError('a script that ends within the delay'),
    )
  })

  it('does not know the script that the reference node does not', () => {
    const script = fromHex(
      '0x6453210208f40073a9e43b3e9103acec79767a6de9b0409749884e989960fee578012fce210225e892391625854128c5c4ea4340de0c2a70570f33db53426fc9c746597a03f42102afc230c2d355b1a577682b07bc2646041b5d0177af0f98395a46018da699b6da210344a3c38cd59afcba3edcebe143e025574594b001700dec41e59409bdbd0f2a0921039a060badbeb24bee49eb2063f616c0f0f0765d4ca646b20a88ce828f259fcdb955670300cd50b27552210216c23b2ea8e4f11c3f9e22711addb1d16a93964796913830856b568cc3ea21d3210275562901dd8faae20de0a4166362a4f82188db77dbed4ca887422ea1ec185f1421034db69f2112f4fb1bb6141bf6e2bd6631f0484d0bd95b16767902c9fe219d4a6f5368ae',
    )
    expect(parseRedeem(script)).toBeUndefined()
    expect(parseRedeem(withPrefix(new Uint8Array(32), script))).toMatchObject({ required: 3 })
  })
})

describe('inputs that wait for signatures', () => {
  const base = (script: Uint8Array) => {
    const redeem = parseRedeem(script)
    if (redeem === undefined) throw new Error('no redeem script')
    return { legacy: baseScript(redeem), segwit: baseWitness(redeem) }
  }

  it('have an empty push for each signature', () => {
    const standard = multisig(2, members)
    expect(toHex(base(standard).legacy.script)).toBe(
      `0x0000004c${standard.length.toString(16)}${toHex(standard).slice(2)}`,
    )
    const script = emergencyMultisig(members, emergency)
    const { legacy, segwit } = base(script)
    expect(toHex(legacy.script)).toBe(`0x000000004c${script.length.toString(16)}${toHex(script).slice(2)}`)
    expect(legacy.witness).toEqual([])
    expect(toHex(segwit.script)).toMatch(/^0x220020/)
    expect(segwit.script).toHaveLength(35)
    expect(segwit.witness.map(({ length }) => length)).toEqual([0, 0, 0, 0, script.length])
  })
})
