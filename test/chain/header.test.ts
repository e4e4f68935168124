import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Rules } from '../../src/chain/activations.ts'
import { CHAINS, type ChainConfig } from '../../src/chain/config.ts'
import {
  decodeHeader,
  encodeHeader,
  extensionHash,
  type Header,
  hashForMergedMining,
  headerHash,
} from '../../src/chain/header.ts'
import { concat, EMPTY } from '../../src/encoding/bytes.ts'
import { keccak256, keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { asList, decodeRlp, encodeRlp, type RlpItem } from '../../src/encoding/rlp.ts'
import { headers } from '../support/arbitraries.ts'
import { fixture } from '../support/fixture.ts'

/** A network on which one set of rules holds at every height. */
function always(rules: Partial<Rules>): ChainConfig {
  return { ...CHAINS.regtest, rulesAt: (height) => ({ ...CHAINS.regtest.rulesAt(height), ...rules }) }
}

function items(bytes: Uint8Array): readonly RlpItem[] {
  return asList(decodeRlp(bytes), 'header')
}

function recoded(hex: Hex, config: ChainConfig): Header {
  const header = decodeHeader(fromHex(hex), config)
  expect(toHex(encodeHeader(header, 'full', config.rulesAt(header.number)))).toBe(hex)
  return header
}

interface RealHeader {
  readonly number: number
  readonly elements: number
  readonly full: Hex
  readonly hash: Hex
  readonly hashForMergedMining: Hex
}

interface GenesisHeader {
  readonly elements: number
  readonly forHash: Hex
  readonly hash: Hex
  readonly stateRoot?: Hex
  readonly fullPrefix?: Hex
}

describe('real headers', () => {
  const real = [
    { name: 'testnet-436', config: CHAINS.testnet },
    { name: 'testnet-64746', config: CHAINS.testnet },
    { name: 'powhsm-1249', config: always({ headerVersion: 0, umm: true }) },
    { name: 'mainnet-genesis', config: CHAINS.mainnet },
  ]
  it.each(real)('reads, writes and hashes $name', ({ name, config }) => {
    const vector = fixture<RealHeader>(`headers/${name}.json`)
    const header = recoded(vector.full, config)
    expect(items(fromHex(vector.full))).toHaveLength(vector.elements)
    expect(header.version).toBe(0)
    expect(header.number).toBe(vector.number)
    expect(headerHash(header, config)).toBe(vector.hash)
  })

  it('has the hash that parent-chain miners commit to', () => {
    const vector = fixture<RealHeader>('headers/testnet-436.json')
    const header = recoded(vector.full, CHAINS.testnet)
    expect(hashForMergedMining(header, CHAINS.testnet)).toBe(vector.hashForMergedMining)
  })

  it('reads fork detection data from the proof unless they are given', () => {
    const vector = fixture<RealHeader & { baseHashForMergedMining: Hex; forkDetectionData: Hex }>(
      'headers/testnet-64746.json',
    )
    const header = recoded(vector.full, CHAINS.testnet)
    const bare: Header = { ...header, bitcoinHeader: EMPTY, merkleProof: EMPTY, coinbaseTransaction: EMPTY }
    expect(hashForMergedMining(header, CHAINS.testnet)).toBe(vector.hashForMergedMining)
    expect(hashForMergedMining(bare, CHAINS.testnet)).toBe(vector.baseHashForMergedMining)
    const given = hashForMergedMining(bare, CHAINS.testnet, fromHex(vector.forkDetectionData))
    expect(given).toBe(vector.hashForMergedMining)
  })
})

describe('genesis headers', () => {
  it.each(['testnet', 'regtest'] as const)('reads, writes and hashes that of %s', (name) => {
    const vector = fixture<GenesisHeader>(`headers/${name}-genesis.json`)
    const config = CHAINS[name]
    const hashed = items(fromHex(vector.forHash))
    const zero = Uint8Array.of(0)
    const full = toHex(encodeRlp([...hashed, zero, zero]))
    expect(hashed).toHaveLength(vector.elements)
    if (vector.fullPrefix !== undefined) expect(full.startsWith(vector.fullPrefix)).toBe(true)

    for (const header of [recoded(full, config), decodeHeader(fromHex(vector.forHash), config)]) {
      expect(toHex(encodeHeader(header, 'hash', config.rulesAt(0)))).toBe(vector.forHash)
      expect(headerHash(header, config)).toBe(vector.hash)
      if (vector.stateRoot !== undefined) expect(header.stateRoot).toBe(vector.stateRoot)
    }
  })

  it('hashes the whole proof of the main network, where RSKIP-92 is not active', () => {
    const { full } = fixture<RealHeader>('headers/mainnet-genesis.json')
    const header = decodeHeader(fromHex(full), CHAINS.mainnet)
    expect(toHex(encodeHeader(header, 'hash', CHAINS.mainnet.rulesAt(0)))).toBe(full)
  })
})

interface Made {
  readonly fields: {
    readonly coinbase: Hex
    readonly gasLimitBytes: Hex
  }
  readonly version2: readonly {
    readonly edges: readonly number[]
    readonly baseEvent: Hex
    readonly extensionHash: Hex
    readonly hash: Hex
    readonly hashForMergedMining: Hex
  }[]
  readonly encodings: {
    readonly edges: readonly number[]
    readonly baseEvent: Hex
    readonly forHash: Hex
    readonly forHashElements: number
    readonly raw: Hex
    readonly rawElements: number
    readonly fullPrefix: Hex
    readonly merkleProofPrefix: Hex
    readonly coinbaseTransactionPrefix: Hex
  }
  readonly version1: { readonly edges: readonly number[]; readonly extensionHash: Hex; readonly hash: Hex }
}

describe('headers of versions 1 and 2', () => {
  const made = fixture<Made>('headers/versions-1-and-2.json')
  const text = (words: string) => new TextEncoder().encode(words)
  const hashOf = (words: string) => keccakHex(text(words))
  const bloom = new Uint8Array(256)
  bloom[3] = 0x01
  bloom[200] = 0x80
  const rest = {
    parentHash: hashOf('parent'),
    unclesHash: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    coinbase: made.fields.coinbase,
    stateRoot: hashOf('state'),
    transactionsRoot: hashOf('txs'),
    receiptsRoot: hashOf('receipts'),
    logsBloom: bloom,
    difficulty: 255n,
    number: 1,
    gasLimit: 9_990_235n,
    gasUsed: 21_000n,
    timestamp: 1_700_000_000,
    extraData: text('horse'),
    paidFees: 12_345n,
    minimumGasPrice: 0n,
    uncleCount: 0,
    ummRoot: EMPTY,
    bitcoinHeader: Uint8Array.from({ length: 80 }, (_, i) => i),
    merkleProof: new Uint8Array(64).fill(7),
    coinbaseTransaction: text(`${'x'.repeat(40)}RSKBLOCK:${'y'.repeat(60)}`),
  } as const satisfies Partial<Header>
  const config = CHAINS.regtest
  const rules = config.rulesAt(1)

  it.each(made.version2)('has the hashes for edges $edges and base event $baseEvent', (row) => {
    const header: Header = { ...rest, version: 2, edges: row.edges, baseEvent: fromHex(row.baseEvent) }
    expect(toHex(extensionHash(header))).toBe(row.extensionHash)
    expect(headerHash(header, config)).toBe(row.hash)
    expect(hashForMergedMining(header, config)).toBe(row.hashForMergedMining)
    expect(decodeHeader(encodeHeader(header, 'full', rules), config)).toEqual(header)
  })

  it('has every encoding in the table', () => {
    const { encodings } = made
    const header: Header = {
      ...rest,
      version: 2,
      edges: encodings.edges,
      baseEvent: fromHex(encodings.baseEvent),
    }
    const hashed = encodeHeader(header, 'hash', rules)
    const raw = encodeHeader(header, 'raw', rules)
    const full = encodeHeader(header, 'full', rules)
    expect(toHex(hashed)).toBe(encodings.forHash)
    expect(items(hashed)).toHaveLength(encodings.forHashElements)
    expect(toHex(raw)).toBe(encodings.raw)
    expect(items(raw)).toHaveLength(encodings.rawElements)
    expect(toHex(items(raw)[9] as Uint8Array)).toBe(made.fields.gasLimitBytes)
    expect(toHex(full)).toBe(
      encodings.fullPrefix +
        encodings.raw.slice('0xf90236'.length) +
        encodings.merkleProofPrefix.slice(2) +
        toHex(rest.merkleProof).slice(2) +
        encodings.coinbaseTransactionPrefix.slice(2) +
        toHex(rest.coinbaseTransaction).slice(2),
    )
    expect(decodeHeader(raw, config)).toEqual({ ...header, merkleProof: EMPTY, coinbaseTransaction: EMPTY })
  })

  it('can be hashed from the raw encoding (docs/internals/protocol.md#14-encodings)', () => {
    const { encodings, version2 } = made
    const list = [...items(fromHex(encodings.raw))]
    const extension = encodeRlp([Uint8Array.of(2), fromHex(version2.at(-1)?.extensionHash as Hex)])
    list.splice(6, 1, extension)
    list.splice(17, 3)
    expect(keccakHex(encodeRlp(list))).toBe(version2.at(-1)?.hash)
  })

  it('has the hashes of version 1', () => {
    const { version1 } = made
    const header: Header = { ...rest, version: 1, edges: version1.edges, baseEvent: undefined }
    expect(toHex(extensionHash(header))).toBe(version1.extensionHash)
    expect(headerHash(header, config)).toBe(version1.hash)
    expect(decodeHeader(encodeHeader(header, 'full', rules), config)).toEqual(header)
  })

  it('has the extension hash of an empty block', () => {
    const empty = fixture<{ zeroBloomHash: Hex; extensionHash: Hex; noUnclesHash: Hex }>(
      'headers/empty-extension.json',
    )
    const header: Header = {
      ...rest,
      version: 2,
      logsBloom: new Uint8Array(256),
      edges: [],
      baseEvent: EMPTY,
    }
    expect(keccakHex(header.logsBloom)).toBe(empty.zeroBloomHash)
    expect(toHex(extensionHash(header))).toBe(empty.extensionHash)
    expect(rest.unclesHash).toBe(empty.noUnclesHash)
  })

  it('mixes a filled ummRoot into the merged-mining hash', () => {
    const plain: Header = { ...rest, version: 2, edges: [], baseEvent: EMPTY }
    const umm = { ...plain, ummRoot: new Uint8Array(20).fill(9) }
    const base = keccak256(encodeHeader(umm, 'mergedMining', rules))
    expect(hashForMergedMining(umm, config)).toBe(keccakHex(concat(base.subarray(0, 20), umm.ummRoot)))
  })

  it('has no extension below version 1', () => {
    const old: Header = { ...rest, version: 0, edges: undefined, baseEvent: undefined }
    expect(() => extensionHash(old)).toThrow(RangeError)
  })
})

describe('reading headers', () => {
  it('returns the encoded header, for every version, with and without proof', () => {
    fc.assert(
      fc.property(headers, (header) => {
        const config = always({ umm: header.ummRoot !== undefined })
        const bytes = encodeHeader(header, 'full', config.rulesAt(header.number))
        const again = decodeHeader(bytes, config)
        expect(toHex(encodeHeader(again, 'full', config.rulesAt(header.number)))).toBe(toHex(bytes))
        expect({ ...again, logsBloom: toHex(again.logsBloom) }).toEqual({
          ...header,
          logsBloom: toHex(header.logsBloom),
        })
        expect(headerHash(again, config)).toBe(headerHash(header, config))
      }),
      { numRuns: 60 },
    )
  })

  const sample = fromHex(fixture<RealHeader>('headers/testnet-436.json').full)
  const altered = (element: number, bytes: Uint8Array): Uint8Array => {
    const list = [...items(sample)]
    list[element] = bytes
    return encodeRlp(list)
  }

  it.each([
    { element: 2, bytes: '0x', field: 'coinbase', value: `0x${'00'.repeat(20)}` },
    { element: 3, bytes: '0x', field: 'stateRoot', value: toHex(keccak256(Uint8Array.of(0x80))) },
    { element: 7, bytes: '0x', field: 'difficulty', value: 0n },
    { element: 7, bytes: '0x0000000001', field: 'difficulty', value: 1n },
    { element: 9, bytes: '0x989680', field: 'gasLimit', value: 10_000_000n },
    { element: 9, bytes: '0x00000001', field: 'gasLimit', value: 1n },
    { element: 13, bytes: '0x00', field: 'paidFees', value: 0n },
    { element: 14, bytes: '0x', field: 'minimumGasPrice', value: 0n },
    { element: 15, bytes: '0x0005', field: 'uncleCount', value: 5 },
  ] as const)('keeps element $element as received: $bytes', ({ element, bytes, field, value }) => {
    const received = altered(element, fromHex(bytes))
    const header = decodeHeader(received, CHAINS.testnet)
    expect(header[field]).toBe(value)
    expect(toHex(header.verbatim?.[element] as Uint8Array)).toBe(bytes)
    expect(encodeHeader(header, 'full', CHAINS.testnet.rulesAt(436))).toEqual(received)
  })

  it('refuses bytes that are not a header', () => {
    const negative = Uint8Array.of(0x80)
    for (const bytes of [
      altered(0, new Uint8Array(31)),
      altered(6, new Uint8Array(35)),
      altered(7, negative),
      altered(14, negative),
      altered(8, new Uint8Array(8).fill(1)),
      encodeRlp(items(sample).slice(0, 15)),
      encodeRlp([...items(sample), ...items(sample)]),
      encodeRlp(new Uint8Array(40)),
    ]) {
      expect(() => decodeHeader(bytes, CHAINS.testnet)).toThrow(RangeError)
    }
  })
})
