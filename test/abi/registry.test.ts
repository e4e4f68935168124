import { AbiCoder, Interface, keccak256, toUtf8Bytes } from 'ethers'
import { describe, expect, it } from 'vitest'
import { readArtifact } from '../../src/abi/artifact.ts'
import { loadAbiCodec } from '../../src/abi/codec.ts'
import { createAbiRegistry, decodedText } from '../../src/abi/registry.ts'
import { readStorageLayout } from '../../src/abi/storage/layout.ts'
import { namedTypesOf } from '../../src/abi/storage/named-types.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { artifact } from '../support/contracts.ts'
import { NAMED, solcArtifact } from '../support/kinds.ts'
import { saying } from '../support/refusals.ts'

const codec = await loadAbiCodec()
const WHO = `0x${'12'.repeat(20)}` as const
const HERE: Hex = `0x${'ab'.repeat(20)}`
const SIGNATURES = [
  'function pay(address to, uint256 amount, string note) returns (bool done, uint256)',
  'function nested((uint8 kind, (bytes4 id, string text)[] parts) order, int256[2] pair)',
  'function none()',
  'event Paid(address indexed to, string indexed note, uint256 amount)',
  'error Refused(address who, uint256 amount)',
] as const
const coder = new Interface(SIGNATURES)

async function registryOf(signatures: readonly string[] = SIGNATURES, name = '') {
  const registry = createAbiRegistry()
  await registry.add(readArtifact(signatures, codec, name))
  return registry
}

const encoded = (name: string, values: unknown[]) => fromHex(coder.encodeFunctionData(name, values))
const textOf = (decoded: Parameters<typeof decodedText>[0] | undefined) => decoded && decodedText(decoded)

describe('names by selector', () => {
  it('decodes calls, with the names of their parameters', async () => {
    const registry = await registryOf()
    expect(textOf(registry.call(encoded('pay', [WHO, 5n, 'rent "May"'])))).toBe(
      `pay(to: ${WHO}, amount: 5, note: "rent \\"May\\"")`,
    )
    expect(
      textOf(
        registry.call(
          encoded('nested', [
            [3, [['0x01020304', 'a']]],
            [-1n, 2n],
          ]),
        ),
      ),
    ).toBe('nested(order: (kind: 3, parts: [(id: 0x01020304, text: "a")]), pair: [-1, 2])')
    expect(textOf(registry.call(encoded('none', [])))).toBe('none()')
  })

  it('decodes what a call returned', async () => {
    const registry = await registryOf()
    const call = registry.call(encoded('pay', [WHO, 5n, '']))
    const output = fromHex(coder.encodeFunctionResult('pay', [true, 7n]))
    expect(call && registry.returned(call, output)).toBe('done: true, 7')
    expect(call && registry.returned(call, output.subarray(1))).toBeUndefined()
    const none = registry.call(encoded('none', []))
    expect(none && registry.returned(none, new Uint8Array(0))).toBeUndefined()
  })

  it('decodes events, with the hash of an indexed text', async () => {
    const registry = await registryOf()
    const { topics, data } = coder.encodeEventLog('Paid', [WHO, 'rent', 5n])
    const log = { address: HERE, topics: topics as Hex[], data: fromHex(data) }
    expect(textOf(registry.event(log))).toBe(
      `Paid(to: ${WHO}, note: ${keccak256(toUtf8Bytes('rent'))}, amount: 5)`,
    )
    expect(registry.event({ ...log, topics: [] })).toBeUndefined()
    expect(registry.event({ ...log, topics: log.topics.slice(0, 2) })).toBeUndefined()
    expect(registry.event({ ...log, data: new Uint8Array(31) })).toBeUndefined()
  })

  it('decodes errors, and not calls as errors', async () => {
    const registry = await registryOf()
    const payload = fromHex(coder.encodeErrorResult('Refused', [WHO, 42n]))
    expect(textOf(registry.error(payload))).toBe(`Refused(who: ${WHO}, amount: 42)`)
    expect(registry.call(payload)).toBeUndefined()
    expect(registry.error(payload.subarray(0, 3))).toBeUndefined()
    expect(registry.error(payload.subarray(0, 40))).toBeUndefined()
  })

  it('decodes nothing without contracts', () => {
    const registry = createAbiRegistry()
    expect(registry.isEmpty).toBe(true)
    expect(registry.call(encoded('none', []))).toBeUndefined()
    expect(registry.error(encoded('none', []))).toBeUndefined()
  })

  it('takes the second of two functions with one selector when the bytes do not fit the first', async () => {
    const registry = await registryOf(['event Moved(address indexed from, address indexed to, uint256 id)'])
    const fungible = ['event Moved(address indexed from, address indexed to, uint256 indexed id)']
    await registry.add(readArtifact(fungible, codec))
    const topics = [
      keccak256(toUtf8Bytes('Moved(address,address,uint256)')) as Hex,
      ...[1, 2].map((n) => `0x${String(n).padStart(64, '0')}` as Hex),
    ]
    const data = fromHex(AbiCoder.defaultAbiCoder().encode(['uint256'], [9n]))
    expect(textOf(registry.event({ address: HERE, topics, data }))).toMatch(/^Moved\(.*, id: 9\)$/)
    const indexed = [...topics, `0x${'8'.padStart(64, '0')}` as Hex]
    const log = { address: HERE, topics: indexed, data: new Uint8Array(0) }
    expect(textOf(registry.event(log))).toMatch(/id: 8\)$/)
  })
})

describe('names by address', () => {
  it('take precedence over those of other contracts', async () => {
    const registry = await registryOf(['function act(uint256 amount)'])
    await registry.register(readArtifact(['function act(uint256 tokenId)'], codec, 'Cards'), HERE)
    await registry.register(readArtifact(['function act(uint256 other)'], codec))
    const input = fromHex(new Interface(['function act(uint256)']).encodeFunctionData('act', [1n]))
    expect(textOf(registry.call(input, HERE))).toBe('act(tokenId: 1)')
    expect(textOf(registry.call(input, WHO))).toBe('act(other: 1)')
    expect(registry.contractName(HERE)).toBe('Cards')
    expect(registry.contractName(WHO)).toBeUndefined()
  })
})

describe('a registration', () => {
  const errorOf = (name: string) => readArtifact([`error ${name}()`], codec, name)
  const payload = (name: string) => fromHex(keccak256(toUtf8Bytes(`${name}()`)).slice(0, 10))
  const known = (registry: ReturnType<typeof createAbiRegistry>, ...names: string[]) =>
    names.filter((name) => registry.error(payload(name)) !== undefined)

  it('is evicted, the oldest first, when there are too many, and added contracts stay', async () => {
    const registry = createAbiRegistry({ most: 2 })
    await registry.add(errorOf('Added'))
    for (const name of ['A', 'B', 'C']) await registry.register(errorOf(name))
    expect(known(registry, 'Added', 'A', 'B', 'C')).toEqual(['Added', 'B', 'C'])
  })

  it('is evicted when the text is too long, and is refused when one contract exceeds the limit', async () => {
    const { length } = JSON.stringify(errorOf('A'))
    const registry = createAbiRegistry({ mostText: 2 * length })
    for (const name of ['A', 'B', 'C']) await registry.register(errorOf(name))
    expect(known(registry, 'A', 'B', 'C')).toEqual(['B', 'C'])
    const large = errorOf('D'.repeat(2 * length))
    await expect(registry.register(large)).rejects.toThrow(
      saying(`it has 473 characters of names, and there is room for ${2 * length}`),
    )
    expect(known(registry, 'B', 'C')).toEqual(['B', 'C'])
  })

  it('can be repeated, which makes it the latest and evicts no other', async () => {
    const registry = createAbiRegistry({ most: 2 })
    for (const name of ['A', 'B', 'A', 'A', 'B', 'A', 'C']) await registry.register(errorOf(name))
    expect(known(registry, 'A', 'B', 'C')).toEqual(['A', 'C'])
  })

  it('keeps a name while another contract has it', async () => {
    const registry = createAbiRegistry({ most: 2 })
    const both = readArtifact(['error A()', 'error B()'], codec)
    for (const each of [errorOf('A'), both, errorOf('C')]) await registry.register(each)
    expect(known(registry, 'A', 'B', 'C')).toEqual(['A', 'B', 'C'])
    await registry.register(errorOf('D'))
    expect(known(registry, 'A', 'B', 'C', 'D')).toEqual(['C', 'D'])
  })

  it('is removed from its address, unless the address has a later registration', async () => {
    const registry = createAbiRegistry({ most: 2 })
    await registry.register(errorOf('A'), HERE)
    await registry.register(errorOf('B'), WHO)
    await registry.register(errorOf('C'), HERE)
    expect([registry.contractName(HERE), registry.contractName(WHO)]).toEqual(['C', 'B'])
    await registry.register(errorOf('D'))
    expect([registry.contractName(HERE), registry.contractName(WHO)]).toEqual(['C', undefined])
    await registry.register(errorOf('E'))
    expect(registry.contractName(HERE)).toBeUndefined()
  })

  it('is no longer recognised by its code', async () => {
    const registry = createAbiRegistry({ most: 1 })
    const vault = {
      contractName: 'Vault',
      abi: [],
      bytecode: `0x${'6001'.repeat(20)}`,
      deployedBytecode: '0x6002',
    }
    await registry.register(readArtifact(vault, codec))
    expect(registry.contractName(HERE, fromHex('0x6002'))).toBe('Vault')
    expect(registry.creation(fromHex(`0x${'6001'.repeat(20)}`))?.name).toBe('Vault')
    await registry.register(errorOf('A'))
    expect(registry.contractName(HERE, fromHex('0x6002'))).toBeUndefined()
    expect(registry.creation(fromHex(`0x${'6001'.repeat(20)}`))).toBeUndefined()
  })
})

describe('names by code', () => {
  const note = (seed: string) => `a264697066735822${seed.repeat(34)}64736f6c63430008180033`
  const code = (immutable: string, seed = '12'): Hex => `0x6000${immutable.padStart(64, '0')}00${note(seed)}`

  it('recognises a contract whose immutable values differ, and no other', async () => {
    const registry = createAbiRegistry()
    await registry.add(readArtifact({ contractName: 'Vault', abi: [], deployedBytecode: code('') }, codec))
    expect(registry.contractName(HERE, fromHex(code('77')))).toBe('Vault')
    expect(registry.contractName(HERE, fromHex(code('77', '34')))).toBeUndefined()
    expect(registry.contractName(HERE, new Uint8Array(0))).toBeUndefined()
  })

  it('recognises init code in front of arguments', async () => {
    const registry = createAbiRegistry()
    const { abi, bytecode } = artifact('Token')
    await registry.add(readArtifact({ contractName: 'Token', abi, bytecode }, codec))
    const inputs = new Interface(abi).deploy.inputs
    expect(textOf(registry.creation(fromHex(bytecode)))).toMatch(/^Token\(/)
    const other = fromHex(bytecode)
    other[40] = (other[40] as number) ^ 1
    expect(registry.creation(other)).toBeUndefined()
    const values = inputs.map(({ type }) => (type === 'string' ? 'x' : type === 'address' ? WHO : 7n))
    const args = fromHex(AbiCoder.defaultAbiCoder().encode([...inputs], values))
    expect(registry.creation(concat(fromHex(bytecode), args))?.values).toHaveLength(inputs.length)
  })

  it('recognises a contract when only its creation code is known', async () => {
    const registry = createAbiRegistry()
    const bytecode: Hex = `0x60016002${code('').slice(2)}`
    await registry.add(readArtifact({ contractName: 'Vault', abi: [], bytecode }, codec))
    expect(registry.contractName(HERE, fromHex(code('77')))).toBe('Vault')
  })

  it('ignores code with unlinked libraries', () => {
    const { creation } = readArtifact({ abi: [], bytecode: `0x60__$${'a'.repeat(34)}$__` }, codec)
    expect(creation).toBeUndefined()
  })

  it("reads Foundry's form", () => {
    const { name, codeKey } = readArtifact(
      { abi: [], deployedBytecode: { object: code('') } },
      codec,
      'Vault',
    )
    expect([name, codeKey]).toEqual(['Vault', expect.stringContaining(toHex(fromHex(code(''))).slice(-40))])
  })
})

describe('a malformed ABI', () => {
  it.each([
    [7, 'an ABI is a list of entries'],
    [[7], 'entry 0 is not an object'],
    [[{ type: 'thing', name: 'a' }], 'entry 0 has the unknown type "thing"'],
    [[{ type: 'function' }], 'entry 0 has no name'],
    [[{ type: 'function', name: 'f', inputs: [{}] }], 'entry 0: inputs[0] has no type'],
    [[{ type: 'function', name: 'f', inputs: 7 }], 'entry 0: inputs is not a list of parameters'],
  ])('%j is refused with a message', (abi, words) => {
    expect(() => readArtifact({ abi }, codec)).toThrow(words)
  })

  it('whose only fault is an unknown type is accepted, and calls with that type stay bytes', async () => {
    const registry = createAbiRegistry()
    const odd = { type: 'function', name: 'odd', inputs: [{ name: 'map', type: 'mapping' }] }
    await registry.add(readArtifact([odd], codec))
    const selector = fromHex(keccak256(toUtf8Bytes('odd(mapping)')).slice(0, 10))
    expect(registry.call(selector)).toBeUndefined()
  })
})

describe('storage layouts', () => {
  const kinds = readArtifact(solcArtifact('Kinds'), codec)
  const elsewhere = readArtifact(solcArtifact('Elsewhere'), codec)
  const code = fromHex(solcArtifact('Kinds').deployedBytecode)

  it('are found by the code at an address, and by an explicit address', async () => {
    const registry = createAbiRegistry()
    await registry.add(kinds)
    expect(registry.layoutAt(HERE, code)).toEqual(kinds.layout)
    expect(registry.layoutAt(HERE, new Uint8Array(3))).toBeUndefined()
    await registry.register(elsewhere, HERE)
    expect(registry.layoutAt(HERE, code)).toEqual(elsewhere.layout)
    expect(registry.copy().layoutAt(HERE, code)).toEqual(elsewhere.layout)
  })

  it('of the code stay when an address has only an ABI', async () => {
    const registry = createAbiRegistry()
    await registry.add(kinds)
    await registry.register(readArtifact(SIGNATURES, codec), HERE)
    expect(registry.layoutAt(HERE, code)).toEqual(kinds.layout)
  })

  it('distinguish registrations that are otherwise equal', async () => {
    const registry = createAbiRegistry()
    await registry.register({ ...kinds, layout: { variables: [], types: new Map() } })
    await registry.register(kinds)
    expect([...registry.contracts()]).toHaveLength(2)
    expect(registry.layoutAt(HERE, code)).toEqual(kinds.layout)
  })

  it('resolve named types by the ABI', () => {
    expect(kinds.layout).toEqual(readStorageLayout(solcArtifact('Kinds').storageLayout, NAMED))
    expect(
      namedTypesOf([
        {
          inputs: [
            {
              type: 'tuple',
              internalType: 'struct S',
              components: [{ type: 'int8[2]', internalType: 'Small[2]' }],
            },
          ],
        },
        7,
      ]),
    ).toEqual(new Map([['Small', 'int8']]))
  })

  it('stay when the contract is registered again without one, as by tools whose artifacts have none', async () => {
    const { layout, ...without } = kinds
    for (const enter of ['add', 'register'] as const) {
      const registry = createAbiRegistry({ most: 2 })
      await registry[enter](kinds)
      await registry.register(without)
      expect(registry.layoutAt(HERE, code)).toEqual(layout)
      expect(registry.copy().layoutAt(HERE, code)).toEqual(layout)
    }
    // The one with the layout is evicted.
    const registry = createAbiRegistry({ most: 1 })
    await registry.register(kinds)
    await registry.register(without)
    expect(registry.layoutAt(HERE, code)).toBeUndefined()
  })
})
