/** Flyover addresses of federations on the main network, and a transaction of one of them that is in its chain. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, it } from 'vitest'
import vectors from '../../../../../fixtures/bridge/mainnet-flyover.json' with { type: 'json' }
import { formatAddress, MAIN_VERSIONS, parseAddress } from '../../../../../src/bitcoin/address.ts'
import { baseWitness } from '../../../../../src/bitcoin/base-input.ts'
import { digitsOf, displayed, fromDigits, fromDisplayed } from '../../../../../src/bitcoin/displayed-hash.ts'
import { hash160 } from '../../../../../src/bitcoin/hash.ts'
import { outputScript } from '../../../../../src/bitcoin/output-script.ts'
import { publicKeyOf } from '../../../../../src/bitcoin/private-key.ts'
import { parseRedeem } from '../../../../../src/bitcoin/redeem-script-parser.ts'
import { decodeDer } from '../../../../../src/bitcoin/signature.ts'
import { type Transaction, txid } from '../../../../../src/bitcoin/transaction.ts'
import { concat, EMPTY } from '../../../../../src/encoding/bytes.ts'
import { keccak256 } from '../../../../../src/encoding/hash.ts'
import { MAINNET } from '../../../../../src/evm/precompiles/bridge/constants/mainnet.ts'
import { type FederationFormat, FORMAT } from '../../../../../src/evm/precompiles/bridge/constants/network.ts'
import {
  flyoverHash,
  flyoverRedeemScript,
  makeFederation,
} from '../../../../../src/evm/precompiles/bridge/federation/federation.ts'
import { derivationHashOf } from '../../../../../src/evm/precompiles/bridge/pegin/flyover.ts'
import {
  inputSighash,
  missingSignatures,
  withSignature,
} from '../../../../../src/evm/precompiles/bridge/pegout/input-signatures.ts'

const secretOf = (seed: string) => keccak256(new TextEncoder().encode(seed))
const keyOf = (seed: string) => publicKeyOf({ secret: secretOf(seed), isCompressed: true })

function federationOf(keys: readonly Uint8Array[], format: FederationFormat, network = MAINNET) {
  const members = keys.map((key) => [key, key, key] as const)
  return makeFederation({ format, members, creationTime: 0, creationBlock: 0 }, network, () => true)
}

const { derivation, legacy, segwit } = vectors
const old = federationOf(legacy.members.map(fromDigits), FORMAT.emergency)
const recent = federationOf(segwit.memberSeeds.map(keyOf), FORMAT.witness, {
  ...MAINNET,
  emergencyKeys: segwit.emergencySeeds.map((seed) => digitsOf(keyOf(seed))).sort(),
  emergencyDelay: segwit.emergencyDelay,
})

describe('a flyover address', () => {
  it('commits to an agreement, two addresses and a contract', () => {
    const address = (seed: string) => concat(Uint8Array.of(0), hash160(keyOf(seed)))
    const hash = derivationHashOf(fromDigits(derivation.agreement), {
      user: address(derivation.userSeed),
      contract: fromDigits(derivation.contract),
      provider: address(derivation.providerSeed),
    })
    expect(digitsOf(hash)).toBe(derivation.hash)
  })

  it.each([
    ['behind a script', old, legacy],
    ['behind a witness program', recent, segwit],
  ] as const)('of a federation %s', (_, federation, expected) => {
    const hash = fromDigits(expected.derivationHash)
    expect(digitsOf(flyoverRedeemScript(hash, federation))).toBe(expected.redeemScript)
    const scriptHash = flyoverHash(hash, federation)
    expect(digitsOf(scriptHash)).toBe(expected.scriptHash)
    expect(formatAddress({ kind: 'scriptHash', hash: scriptHash }, MAIN_VERSIONS)).toBe(expected.address)
  })
})

describe('a transaction from a flyover address', () => {
  const redeemScript = flyoverRedeemScript(fromDigits(segwit.derivationHash), recent)
  const redeem = parseRedeem(redeemScript)
  if (redeem === undefined) throw new Error('the script is none of many keys')
  const { spends, pays } = segwit
  const receiver = parseAddress(pays.address, MAIN_VERSIONS)?.subarray(1) ?? EMPTY
  const unsigned: Transaction = {
    version: 2,
    inputs: [
      {
        hash: fromDisplayed(spends.transaction),
        index: spends.index,
        sequence: 0xffffffff,
        ...baseWitness(redeem),
      },
    ],
    outputs: [
      { value: BigInt(pays.satoshi), script: outputScript({ kind: 'publicKeyHash', hash: receiver }) },
    ],
    lockTime: 0,
  }
  const [input] = unsigned.inputs
  if (input === undefined) throw new Error('the transaction has no input')
  const sighash = inputSighash(unsigned, 0, BigInt(spends.satoshi))

  it('has its id, and a witness program in its input', () => {
    expect(displayed(txid(unsigned))).toBe(segwit.transaction)
    expect(digitsOf(input.script)).toBe(`220020${segwit.program}`)
    expect(missingSignatures(input)).toBe(segwit.signatures.length)
  })

  it('gets the signatures that it has on the main network, in whatever order they come', () => {
    const bySigner = new Map(segwit.memberSeeds.map((seed) => [digitsOf(keyOf(seed)), secretOf(seed)]))
    const signers = recent.publicKeys.slice(0, segwit.signatures.length)
    const signatures = signers.map((key, i) => {
      const signature = fromDigits(segwit.signatures[i] ?? '').slice(0, -1)
      const secret = bySigner.get(digitsOf(key)) as Uint8Array
      const own = secp256k1.sign(sighash, secret, { prehash: false, format: 'der' })
      expect(digitsOf(own)).toBe(digitsOf(signature))
      return { key, signature: decodeDer(signature) }
    })
    const signed = signatures.toReversed().reduce((current, signature) => {
      const next = withSignature(current, sighash, signature)
      if (next === undefined) throw new Error('a key that the script has not')
      return next
    }, input)
    const expected = ['', ...segwit.signatures, '', segwit.redeemScript]
    expect(signed.witness.map(digitsOf)).toEqual(expected)
    expect(missingSignatures(signed)).toBe(0)
  })
})
