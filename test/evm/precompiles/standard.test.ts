/** The nine contracts that Ethereum has too, the two for secp256k1, and the table of all of them. */
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { PRECOMPILES } from '../../../src/evm/precompiles/table.ts'
import { contractAt, ENVIRONMENT, fixture, gasOf, outcome, type Vector } from './vectors.ts'

const ADDRESSES: Record<string, string> = {
  ecrecover: '1',
  sha256: '2',
  ripemd160: '3',
  identity: '4',
  modexp: '5',
  'bn128 add': '6',
  'bn128 mul': '7',
  'bn128 pairing': '8',
  blake2f: '9',
  'secp256k1 add': '1000016',
  'secp256k1 mul': '1000017',
}

function vectorsOf(file: string): { title: string; vector: Vector; address: string }[] {
  return fixture<Vector[]>(file).map((vector) => {
    const contract = vector.contract === undefined ? file : vector.contract
    const key = file === 'elementary' || vector.contract === undefined ? contract : `${file} ${contract}`
    return { title: `${key}: ${vector.name}`, vector, address: ADDRESSES[key] as string }
  })
}

describe('published vectors', () => {
  const files = ['elementary', 'bn128', 'blake2f', 'secp256k1', 'modexp']
  it.each(files.flatMap(vectorsOf))('$title', ({ vector, address }) => {
    const contract = contractAt(address)
    if (vector.gas !== undefined) expect(gasOf(contract, vector.input)).toBe(BigInt(vector.gas))
    if (vector.fails === true) expect(outcome(contract, vector.input)).toBe('failure')
    else if (vector.output !== undefined) expect(outcome(contract, vector.input)).toBe(vector.output)
  })
})

describe('prices', () => {
  const bytes = (length: number): Hex => `0x${'01'.repeat(length)}`
  it.each([
    ['1', 0, 3000n],
    ['1', 500, 3000n],
    ['2', 0, 60n],
    ['2', 1, 72n],
    ['2', 32, 72n],
    ['2', 33, 84n],
    ['3', 0, 600n],
    ['3', 33, 840n],
    ['4', 0, 15n],
    ['4', 64, 21n],
    ['4', 65, 24n],
    ['6', 7, 150n],
    ['7', 7, 6000n],
    ['8', 0, 45_000n],
    ['8', 191, 45_000n],
    ['8', 384, 113_000n],
    ['9', 212, 0n],
    ['9', 213, 0x01010101n],
    ['9', 214, 0n],
    ['1000006', 10, 23_000n],
    ['1000008', 10, 0n],
    ['1000016', 0, 150n],
    ['1000017', 0, 3000n],
  ])('0x%s with %i bytes costs %s', (address, length, gas) => {
    expect(gasOf(contractAt(address), bytes(length))).toBe(gas)
  })
})

describe('the table', () => {
  it('has sixteen contracts under lower-case addresses', () => {
    const addresses = [...PRECOMPILES.keys()]
    expect(addresses).toHaveLength(16)
    expect(addresses.every((address) => /^0x[0-9a-f]{40}$/.test(address))).toBe(true)
    expect(PRECOMPILES.has(`0x${'a'.padStart(40, '0')}`)).toBe(false)
  })

  it('truncates the input of six contracts when code calls them', () => {
    const cut = [...PRECOMPILES].flatMap(([address, { maxInputFromContract }]) =>
      maxInputFromContract === undefined ? [] : [[Number(address).toString(16), maxInputFromContract]],
    )
    expect(cut).toEqual([
      ['1', 128],
      ['6', 128],
      ['7', 96],
      ['9', 213],
      ['1000016', 128],
      ['1000017', 96],
    ])
  })

  it('fails to execute REMASC, and the Bridge without a known method', () => {
    expect(outcome(contractAt('1000008'), '0x')).toBe('failure')
    expect(outcome(contractAt('1000008'), '0x11223344')).toBe('failure')
    expect(outcome(contractAt('1000006'), '0x11223344')).toBe('failure')
  })

  it('returns a copy of the input, not the caller’s memory', () => {
    const memory = Uint8Array.of(1, 2, 3)
    const output = contractAt('4').run(memory, ENVIRONMENT)
    memory[0] = 9
    expect(output).toEqual(Uint8Array.of(1, 2, 3))
  })
})
