/** Who has sent a peg-in: addresses of bitcoinjs-lib, the account of a key that the reference node's tests have. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, it } from 'vitest'
import { formatAddress, TEST_VERSIONS } from '../../../../../src/bitcoin/address.ts'
import { multisig } from '../../../../../src/bitcoin/redeem-script.ts'
import { OP } from '../../../../../src/bitcoin/script.ts'
import type { Input } from '../../../../../src/bitcoin/transaction.ts'
import { concat, EMPTY } from '../../../../../src/encoding/bytes.ts'
import { senderOf } from '../../../../../src/evm/precompiles/bridge/pegin/sender.ts'
import { library } from '../../../../bitcoin/library.ts'
import { ACCOUNT, input, KEY, pushes, SIGNATURE, transactionOf } from './inputs.ts'

const network = library.networks.regtest
const UNCOMPRESSED = secp256k1.Point.fromBytes(KEY).toBytes(false)
const SCRIPT = multisig(1, [KEY, KEY])
const NOT_A_SCRIPT = Uint8Array.of(5)

function sender(parts: Partial<Input>): { address: string; account: string | undefined } | undefined {
  const found = senderOf(transactionOf(input(parts)))
  return found && { address: formatAddress(found.refund, TEST_VERSIONS), account: found.account }
}

const p2sh = (output: Uint8Array) => library.payments.p2sh({ redeem: { output }, network }).address

describe('the sender', () => {
  it('is the owner of a key', () => {
    for (const key of [KEY, UNCOMPRESSED]) {
      const { address } = library.payments.p2pkh({ pubkey: key, network })
      expect(sender({ script: pushes(SIGNATURE, key) })).toEqual({ address, account: ACCOUNT })
    }
  })

  it('is the owner of a key behind a script hash', () => {
    const address = p2sh(library.payments.p2wpkh({ pubkey: KEY, network }).output)
    const found = sender({ script: pushes(SIGNATURE), witness: [SIGNATURE, KEY] })
    expect(found).toEqual({ address, account: ACCOUNT })
  })

  it('is a script of many keys, without an account', () => {
    const found = sender({ script: pushes(EMPTY, SIGNATURE, SCRIPT) })
    expect(found).toEqual({ address: p2sh(SCRIPT), account: undefined })
  })

  it('is a witness script of many keys', () => {
    const { output } = library.payments.p2wsh({ redeem: { output: SCRIPT }, network })
    const found = sender({ script: pushes(output), witness: [EMPTY, SIGNATURE, SCRIPT] })
    expect(found).toEqual({ address: p2sh(output), account: undefined })
  })

  it.each<[string, Partial<Input>]>([
    ['a native witness program', { witness: [SIGNATURE, KEY] }],
    ['a native witness script', { witness: [EMPTY, SIGNATURE, SCRIPT] }],
    ['a signature alone', { script: pushes(SIGNATURE) }],
    ['no key', { script: pushes(SIGNATURE, SIGNATURE) }],
    ['an operation for the key', { script: concat(pushes(SIGNATURE), Uint8Array.of(OP.DUP)) }],
    ['an uncompressed key in the witness', { script: pushes(KEY), witness: [SIGNATURE, UNCOMPRESSED] }],
    ['one item in the witness', { script: pushes(KEY), witness: [KEY] }],
    [
      'three pushes that end in no script of many keys',
      { script: pushes(EMPTY, SIGNATURE, Uint8Array.of(OP.DUP)) },
    ],
    [
      'a witness that ends in no script of many keys',
      { script: pushes(KEY), witness: [EMPTY, SIGNATURE, EMPTY] },
    ],
  ])('is not known with %s', (_, parts) => {
    expect(sender(parts)).toBeUndefined()
  })

  it('is not known without inputs', () => {
    expect(senderOf({ version: 1, inputs: [], outputs: [], lockTime: 0 })).toBeUndefined()
  })

  it.each<[string, Partial<Input>]>([
    ['the script ends within a push', { script: NOT_A_SCRIPT }],
    ['the last of three items is no script', { script: pushes(EMPTY, SIGNATURE, NOT_A_SCRIPT) }],
    ['the last of three items is no push', { script: concat(pushes(EMPTY, KEY), Uint8Array.of(OP[1])) }],
    [
      'the last of three witness items is no script',
      { script: pushes(KEY), witness: [KEY, KEY, NOT_A_SCRIPT] },
    ],
    ['the second of two witness items is no key', { script: pushes(KEY), witness: [KEY, SIGNATURE] }],
  ])('fails when %s', (_, parts) => {
    expect(() => sender(parts)).toThrow(RangeError)
  })
})
