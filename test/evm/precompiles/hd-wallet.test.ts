/** The contract for keys, scripts and addresses of the parent chain. */
import { type Abi, decodeAbiParameters, encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { decodeBase58Check, encodeBase58Check } from '../../../src/encoding/base58.ts'
import { concat, fromBigIntFixed } from '../../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import { contractAt, fixture, gasOf, outcome } from './vectors.ts'

const ABI = parseAbi([
  'function toBase58Check(bytes,int256) returns (string)',
  'function deriveExtendedPublicKey(string,string) returns (string)',
  'function extractPublicKeyFromExtendedPublicKey(string) returns (bytes)',
  'function getMultisigScriptHash(int256,bytes[]) returns (bytes)',
])
type Name = (typeof ABI)[number]['name']

const contract = contractAt('1000009')
const vectors = fixture<{
  derive: { name: string; key: string; path: string; child: string }[]
  extract: { name: string; key: string; publicKey: Hex }[]
  multisig: { name: string; required: number; keys: Hex[]; hash: Hex }[]
  base58: { name: string; hash: Hex; version: number; text: string }[]
}>('hd-wallet')

function call(functionName: Name, ...args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: ABI as Abi, functionName, args })
}

function answer(type: 'string' | 'bytes', input: Hex): string {
  const output = outcome(contract, input)
  return output === 'failure' ? output : (decodeAbiParameters([{ type }], output)[0] as string)
}

const derive = (key: string, path: string) => answer('string', call('deriveExtendedPublicKey', key, path))
const KEY = vectors.derive[0]?.key as string

describe('published vectors', () => {
  it.each(vectors.derive)('derives: $name', ({ key, path, child }) => {
    expect(derive(key, path)).toBe(child)
  })

  it.each(vectors.extract)('extracts: $name', ({ key, publicKey }) => {
    expect(answer('bytes', call('extractPublicKeyFromExtendedPublicKey', key))).toBe(publicKey)
  })

  it.each(vectors.multisig)('hashes a script: $name', ({ required, keys, hash }) => {
    expect(answer('bytes', call('getMultisigScriptHash', BigInt(required), keys))).toBe(hash)
    expect(answer('bytes', call('getMultisigScriptHash', BigInt(required), keys.toReversed()))).toBe(hash)
  })

  it.each(vectors.base58)('writes an address: $name', ({ hash, version, text }) => {
    expect(answer('string', call('toBase58Check', hash, BigInt(version)))).toBe(text)
    expect(toHex(decodeBase58Check(text))).toBe(toHex(concat(Uint8Array.of(version), fromHex(hash))))
  })
})

describe('prices', () => {
  const some = vectors.multisig[0]?.keys as Hex[]
  it.each<[string, Hex, bigint]>([
    ['an address', call('toBase58Check', '0x', 0n), 13_000n],
    ['a derivation', call('deriveExtendedPublicKey', 'x', '0'), 107_000n],
    ['an extraction', call('extractPublicKeyFromExtendedPublicKey', 'x'), 11_300n],
    ['no keys', call('getMultisigScriptHash', 1n, []), 20_000n],
    ['two keys', call('getMultisigScriptHash', 1n, some.slice(0, 2)), 20_000n],
    ['three keys', call('getMultisigScriptHash', 1n, some.slice(0, 3)), 20_700n],
    ['fifteen keys', call('getMultisigScriptHash', 1n, some), 29_100n],
    ['a script without arguments', call('getMultisigScriptHash', 1n, []).slice(0, 10) as Hex, 20_000n],
    ['strings that are not there', call('deriveExtendedPublicKey', '', '').slice(0, 10) as Hex, 0n],
  ])('%s', (_, input, gas) => {
    expect(gasOf(contract, input)).toBe(gas)
  })
})

describe('derivation', () => {
  it.each([
    ['no path', ''],
    ['a slash in front', '/0'],
    ['a trailing slash', '0/'],
    ['an empty level', '0//1'],
    ['a hardened level', "4'/5"],
    ['a hardened level, spelled H', '4H/5'],
    ['a negative number', '0/-1'],
    ['2^31', '0/1/2/2147483648'],
    ['eleven digits', '10000000000'],
    ['eleven levels', '0/1/2/3/4/5/6/7/8/9/10'],
    ['words', 'this-is-not-a-path'],
    ['the master key', 'M/0'],
    ['a space', '0/ 1'],
    ['a sign in front', '+1'],
    ['a bare sign', '0/+'],
  ])('refuses %s', (_, path) => {
    expect(derive(KEY, path)).toBe('failure')
  })

  it('accepts leading zeros and repeated signs, like the node’s integer parser', () => {
    const plain = derive(KEY, '7/8/0')
    expect(plain).not.toBe('failure')
    expect(derive(KEY, '007/+8/-0')).toBe(plain)
    expect(derive(KEY, `${'0'.repeat(5000)}7/+0008/-00`)).toBe(plain)
  })

  it('derives one level at a time', () => {
    expect(derive(derive(KEY, '1/2'), '3')).toBe(derive(KEY, '1/2/3'))
    expect(derive(KEY, '0/1/2/3/4/5/6/7/8/9')).not.toBe('failure')
  })

  it('lets the depth overflow its byte', () => {
    const payload = decodeBase58Check(KEY).slice()
    payload[4] = 255
    const child = decodeBase58Check(derive(encodeBase58Check(payload), '0/0'))
    expect(child[4]).toBe(1)
  })
})

describe('extended keys', () => {
  const payload = decodeBase58Check(KEY)
  const changed = (change: (copy: Uint8Array) => void): string => {
    const copy = payload.slice()
    change(copy)
    return encodeBase58Check(copy)
  }
  it.each([
    ['no key', 'this-is-not-an-xpub'],
    ['nothing', ''],
    ['a wrong checksum', `${KEY.slice(0, -1)}s`],
    ['a foreign digit', `${KEY.slice(0, -1)}0`],
    ['a digit too many', `${KEY}1`],
    ['the other network', `x${KEY.slice(1)}`],
    ['another version', changed((copy) => copy.set([0x04, 0x35, 0x87, 0xd0]))],
    ['a private key', changed((copy) => copy.set([0x04, 0x35, 0x83, 0x94]))],
    ['a byte missing', encodeBase58Check(payload.subarray(0, 77))],
    ['an uncompressed point', changed((copy) => copy.fill(4, 45, 46))],
    ['a point off the curve', changed((copy) => copy.fill(0, 46).fill(5, 77))],
  ])('refuses %s', (_, key) => {
    expect(answer('bytes', call('extractPublicKeyFromExtendedPublicKey', key))).toBe('failure')
    expect(derive(key, '0')).toBe('failure')
  })
})

describe('addresses', () => {
  const hash: Hex = `0x${'11'.repeat(20)}`
  it.each<[string, Hex, bigint]>([
    ['a short hash', '0xaabbcc', 111n],
    ['a long hash', `${hash}00`, 111n],
    ['a negative version', hash, -1n],
    ['a version above a byte', hash, 256n],
    ['a huge version', hash, 2n ** 64n],
  ])('refuses %s', (_, value, version) => {
    expect(answer('string', call('toBase58Check', value, version))).toBe('failure')
  })
})

describe('multisig', () => {
  const compressed = vectors.multisig[0]?.keys as Hex[]
  const mixed = vectors.multisig[1]?.keys as Hex[]
  const [a, b] = compressed as [Hex, Hex]
  const uncompressed = mixed[0] as Hex
  const hashOf = (required: bigint, keys: readonly Hex[]) =>
    answer('bytes', call('getMultisigScriptHash', required, keys))
  const withForm = (form: string): Hex => `0x${form}${uncompressed.slice(4)}`
  const isOdd = Number(`0x${uncompressed.slice(-1)}`) % 2 === 1

  it.each<[string, bigint, readonly Hex[]]>([
    ['no signatures', 0n, [a, b]],
    ['negative signatures', -1n, [a, b]],
    ['more signatures than keys', 3n, [a, b]],
    ['2^32 + 1 signatures', 2n ** 32n + 1n, [a, b]],
    ['no keys', 1n, []],
    ['one key', 1n, [a]],
    ['sixteen keys', 3n, [...compressed, a]],
    ['a key of another length', 1n, [a, '0xaabbcc']],
    ['an unknown form', 1n, [a, `0x08${b.slice(4)}`]],
    ['a form of the other length', 1n, [a, `0x04${b.slice(4)}`]],
    ['a point off the curve', 1n, [a, `0x02${'0'.repeat(63)}5`]],
    ['a hybrid key of the wrong parity', 1n, [b, withForm(isOdd ? '06' : '07')]],
  ])('refuses %s', (_, required, keys) => {
    expect(hashOf(required, keys)).toBe('failure')
  })

  it('accepts hybrid keys', () => {
    expect(hashOf(1n, [b, withForm(isOdd ? '07' : '06')])).toBe(hashOf(1n, [a, b]))
  })

  it('accepts the same key twice', () => {
    expect(hashOf(2n, [a, a])).toMatch(/^0x[0-9a-f]{40}$/)
  })
})

describe('arguments', () => {
  const word = (value: bigint) => fromBigIntFixed(BigInt.asUintN(256, value), 32)
  const selector = (name: Name, ...args: readonly unknown[]) => fromHex(call(name, ...args)).subarray(0, 4)
  const multisig = selector('getMultisigScriptHash', 1n, [])
  const extract = selector('extractPublicKeyFromExtendedPublicKey', '')
  const key = vectors.extract[0] as { key: string; publicKey: Hex }

  it('are read by the low 32 bits of positions and lengths only', () => {
    const text = Buffer.from(key.key)
    const input = concat(extract, word(2n ** 32n + 32n), word(2n ** 64n + BigInt(text.length)), text)
    expect(answer('bytes', toHex(input))).toBe(key.publicKey)
  })

  it.each<[string, Uint8Array]>([
    ['a position beyond the end', concat(extract, word(33n), word(0n))],
    ['a negative position', concat(extract, word(-32n), word(0n))],
    ['a negative length', concat(extract, word(32n), word(-1n))],
    ['a length past the end', concat(extract, word(32n), word(1n))],
    ['an array longer than the data', concat(multisig, word(1n), word(64n), word(1n))],
    ['an array of negative length', concat(multisig, word(1n), word(64n), word(-1n))],
    ['a member out of reach', concat(multisig, word(1n), word(64n), word(1n), word(64n), word(0n))],
  ])('are malformed and cost no gas: %s', (_, input) => {
    expect(gasOf(contract, toHex(input))).toBe(0n)
    expect(outcome(contract, toHex(input))).toBe('failure')
  })

  it('may share their bytes', () => {
    const first = vectors.multisig[0]?.keys[0] as Hex
    const member = concat(word(33n), fromHex(first), new Uint8Array(31))
    const input = concat(multisig, word(1n), word(64n), word(2n), word(64n), word(64n), member)
    const plain = answer('bytes', call('getMultisigScriptHash', 1n, [first, first]))
    expect(answer('bytes', toHex(input))).toBe(plain)
  })
})
