import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import { prepare, SourceStore } from '../../../src/engine/sources/source-store.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import { readCompilation } from '../../../src/sources/read-compilation.ts'
import { createMemoryStore } from '../../../src/store/memory-store.ts'
import { serve } from '../../../src/transport/server.ts'
import { assemble } from '../../support/assembler.ts'
import { buildInfo, COMPILERS, deploy, FILE, word } from '../../support/build-infos.ts'

/** Selector of `make(uint256)`, by ethers. */
const MAKE = '516517ab'
const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

let node: Node
afterEach(() => node?.close())

async function sourcesAt(address: Hex) {
  return (await node.request({ method: 'evm_sourcesAt', params: [address] })) as Record<
    string,
    unknown
  > | null
}

async function matchAt(address: Hex) {
  const state = await node.engine.queries.state({ tag: 'latest' })
  return state && (await node.engine.sources.at(state, address))?.match
}

async function functionsAt(address: Hex): Promise<unknown[]> {
  const found = await node.request({ method: 'evm_contractAbi', params: [address] })
  const { abi } = found as { abi: { type: string; name?: string }[] }
  return abi.filter(({ type }) => type === 'function').map(({ name }) => name)
}

/** Deployed code of a contract of a build-info, hex. */
function deployedObject(name: string, contract: string): string {
  return buildInfo(name).output.contracts[FILE]?.[contract]?.evm.deployedBytecode.object ?? ''
}

describe.each(COMPILERS)('sources compiled by %s', (compiler) => {
  it('are found by the code of a contract with a linked library', async () => {
    node = await createNode()
    const info = buildInfo(compiler)
    const isOld = compiler.startsWith('solc-0.4') || compiler.startsWith('solc-0.5')
    const library = await deploy(node, info, 'Sums')
    const box = await deploy(node, info, 'Box', {
      libraries: { Sums: library },
      words: isOld ? [7n] : [7n, 3n],
    })
    expect(await sourcesAt(box)).toBeNull()

    const [id] = await node.addSources(info)

    expect(await matchAt(box)).toMatchObject({
      kind: 'exact',
      compilation: id,
      file: FILE,
      name: 'Box',
      libraries: new Map([[`${FILE}:Sums`, library]]),
    })
    const immutables = [...((await matchAt(box))?.immutables.values() ?? [])].sort()
    expect(immutables).toEqual(isOld ? [] : [`0x${word(3n)}`, `0x${word(ALICE)}`])
    expect(await matchAt(library)).toMatchObject({ kind: 'exact', name: 'Sums' })
    expect(await sourcesAt(box)).toMatchObject({
      match: 'exact',
      compilerVersion: info.solcLongVersion,
      sources: { [FILE]: info.input.sources[FILE]?.content },
      abi: info.output.contracts[FILE]?.Box?.abi,
    })
  })
})

describe('sources', () => {
  it('match in part when only the hash of the sources differs, also that of a created contract', async () => {
    node = await createNode()
    const info = buildInfo('solc-0.8.24')
    const library = await deploy(node, info, 'Sums')
    const maker = await deploy(node, info, 'Maker', { libraries: { Sums: library } })
    await node.addSources(buildInfo('solc-0.8.24-other-comment'))
    expect(await matchAt(maker)).toMatchObject({ kind: 'partial', name: 'Maker' })

    await node.addSources(info)
    expect(await matchAt(maker)).toMatchObject({ kind: 'exact', name: 'Maker' })
    // A later partial match does not hide it.
    await node.addSources(buildInfo('solc-0.8.24-no-metadata'))
    expect(await matchAt(maker)).toMatchObject({ kind: 'exact' })
  })

  it('do not match other code', async () => {
    node = await createNode()
    const info = buildInfo('solc-0.8.24')
    await node.addSources(info)
    const code = info.output.contracts[FILE]?.Twin?.evm.deployedBytecode.object as string
    const changed = fromHex(`0x${code}`)
    changed[40] = (changed[40] ?? 0) ^ 1
    expect(await node.engine.sources.match(fromHex(`0x${code}`))).toMatchObject({ kind: 'exact' })
    expect(await node.engine.sources.match(changed)).toBeUndefined()
    expect(await node.engine.sources.match(fromHex(`0x${code}00`))).toBeUndefined()
    expect(await node.engine.sources.match(new Uint8Array(0))).toBeUndefined()
  })

  it('show the contract that a person verified, of two with the same code', async () => {
    node = await createNode()
    const info = buildInfo('solc-0.8.24-no-metadata')
    const address = await deploy(node, info, 'Twin')
    const [compilation = '0x'] = await node.addSources(info)
    const state = await node.engine.queries.state({ tag: 'latest' })
    const codeHash = state?.account(address)?.codeHash as Hex
    for (const name of ['Twin', 'OtherTwin']) {
      await node.engine.sources.note({ address, codeHash, compilation, file: FILE, name })
      expect(await matchAt(address)).toMatchObject({ kind: 'partial', name })
    }
    // Other code at the address, with one of the two names still noted.
    const code = info.output.contracts[FILE]?.Proxy?.evm.deployedBytecode.object
    await node.override(address, { code: `0x${code}` })
    expect(await matchAt(address)).toMatchObject({ name: 'Proxy' })
  })

  it('name the implementation behind a proxy', async () => {
    node = await createNode()
    const info = buildInfo('solc-0.8.24')
    await node.addSources(info)
    const twin = await deploy(node, info, 'Twin')
    const proxy = await deploy(node, info, 'Proxy', { words: [twin] })
    expect(await sourcesAt(proxy)).toMatchObject({ name: 'Proxy', implementations: [twin] })
    expect(await sourcesAt(twin)).toMatchObject({ name: 'Twin', implementations: [] })
    expect(await functionsAt(proxy)).toEqual(['set', 'value'])
  })

  it('name the facets of a diamond, and decode what they answer for it', async () => {
    node = await createNode()
    const info = buildInfo('solc-0.8.24')
    await node.addSources(info)
    const twin = await deploy(node, info, 'Twin')
    const maker = await deploy(node, info, 'Maker', { libraries: { Sums: await deploy(node, info, 'Sums') } })
    // Answers any call with the list of both facets, as facetAddresses() does.
    const diamond: Hex = '0x00000000000000000000000000000000000d1a40'
    const answer = assemble(
      `32 0 MSTORE 2 32 MSTORE PUSH20 ${twin} 64 MSTORE PUSH20 ${maker} 96 MSTORE 128 0 RETURN`,
    )
    await node.override(diamond, { code: toHex(answer) })
    expect(await node.engine.queries.implementations(diamond)).toEqual([twin, maker])
    expect(await functionsAt(diamond)).toEqual(['set', 'value', 'make'])
    const make = { kind: 'call', address: diamond, data: `0x${MAKE}${word(5n)}` }
    const [call] = (await node.request({ method: 'evm_decode', params: [[make]] })) as { name: string }[]
    expect(call?.name).toBe('make')
    // A list that is longer than the answer, and an account without code, are no facets.
    await node.override(diamond, { code: toHex(assemble('32 0 MSTORE 9 32 MSTORE 128 0 RETURN')) })
    expect(await node.engine.queries.implementations(diamond)).toEqual([])
    expect(await node.engine.queries.implementations(ALICE)).toEqual([])
  })

  it('name contracts, their calls and their errors', async () => {
    node = await createNode()
    const info = buildInfo('solc-0.8.24')
    const box = await deploy(node, info, 'Box', {
      libraries: { Sums: await deploy(node, info, 'Sums') },
      words: [7n, 3n],
    })
    const names = () => node.request({ method: 'evm_contractNames', params: [[box]] })
    expect(await names()).toEqual([null])
    await node.addSources(info)
    expect(await names()).toEqual(['Box'])
    expect(await functionsAt(box)).toEqual(['grow', 'owner', 'value'])
  })

  it('of a fork are found by the code of its upstream', async () => {
    const upstream = await createNode()
    const info = buildInfo('solc-0.8.24')
    const twin = await deploy(upstream, info, 'Twin')
    const server = await serve(upstream, { port: 0 })
    try {
      node = await createNode({ fork: server.url })
      await node.addSources(info)
      expect(await sourcesAt(twin)).toMatchObject({ match: 'exact', name: 'Twin' })
      expect(await functionsAt(twin)).toEqual(['set', 'value'])
    } finally {
      await node.close()
      await server.close()
      await upstream.close()
    }
  })

  it('are kept by reverts, by a reset and on disk', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sources-'))
    try {
      node = await createNode({ dataDir })
      const info = buildInfo('solc-0.8.24')
      const snapshot = await node.request({ method: 'evm_snapshot' })
      const ids = await node.addSources(info)
      await node.request({ method: 'evm_revert', params: [snapshot] })
      await node.request({ method: 'evm_reset' })
      expect(await node.engine.sources.ids()).toEqual(ids)
      await node.close()
      node = await createNode({ dataDir })
      expect(await node.engine.sources.ids()).toEqual(ids)
      expect(await matchAt(await deploy(node, info, 'Twin'))).toMatchObject({ kind: 'exact' })
    } finally {
      await node.close()
      rmSync(dataDir, { recursive: true })
    }
  })

  it.each([false, true])('are in state files, with history: %s', async (history) => {
    node = await createNode()
    const info = buildInfo('solc-0.8.24')
    const twin = await deploy(node, info, 'Twin')
    const ids = await node.addSources(info)
    const state = await node.request({ method: 'anvil_dumpState', params: [history] })
    await node.close()
    node = await createNode()
    await node.request({ method: 'anvil_loadState', params: [state] })
    expect(await node.engine.sources.ids()).toEqual(ids)
    expect(await sourcesAt(twin)).toMatchObject({ match: 'exact', name: 'Twin' })
  })

  it('are in state files with the contract that was verified, of two with the same code', async () => {
    node = await createNode()
    const info = buildInfo('solc-0.8.24-no-metadata')
    const address = await deploy(node, info, 'Twin')
    const [compilation = '0x'] = await node.addSources(info)
    const state = await node.engine.queries.state({ tag: 'latest' })
    const codeHash = state?.account(address)?.codeHash as Hex
    for (const name of ['Twin', 'OtherTwin']) {
      await node.engine.sources.note({ address, codeHash, compilation, file: FILE, name })
      const dump = await node.request({ method: 'anvil_dumpState' })
      const copy = await createNode()
      await copy.request({ method: 'anvil_loadState', params: [dump] })
      const found = await copy.request({ method: 'evm_sourcesAt', params: [address] })
      await copy.close()
      expect(found).toMatchObject({ name })
    }
  })

  it('of state files that another tool has written are taken, or refused by their member', async () => {
    node = await createNode()
    const info = buildInfo('solc-0.8.24')
    const code = `0x${deployedObject('solc-0.8.24', 'Twin')}`
    const accounts = { [ALICE]: { code } }
    const load = (members: object) =>
      node.request({ method: 'anvil_loadState', params: [{ accounts, ...members }] })
    const source = { compilerVersion: info.solcLongVersion, input: info.input, output: info.output }
    const { id } = readCompilation(info)
    const verified = { address: ALICE, codeHash: id, compilation: id, file: FILE, name: 'Twin' }
    for (const [members, message] of [
      [{ sources: 'none' }, /state file: sources: /],
      [{ sources: [{}] }, /sources\[0\] of the state file are malformed/],
      [{ sources: [source, { ...source, input: {} }] }, /sources\[1\] .*malformed: input.sources: /],
      [
        { sources: [source], verified: [{ ...verified, address: '0x12' }] },
        /state file: verified.0.address: /,
      ],
      [{ verified: [verified] }, /verified\[0\] of the state file is of a compilation that it does not hold/],
    ] as const) {
      await expect(load(members), JSON.stringify(Object.keys(members))).rejects.toThrow(message)
      expect(await node.engine.sources.ids()).toEqual([])
      expect(await node.request({ method: 'eth_getCode', params: [ALICE, 'latest'] })).toBe('0x')
    }
    await load({ sources: [source], verified: [verified] })
    expect(await sourcesAt(ALICE)).toMatchObject({ match: 'exact', name: 'Twin' })
  })

  it('are refused with an ABI of more functions than code has room for', async () => {
    node = await createNode()
    const contract = (count: number) => ({
      abi: Array.from({ length: count }, (_, i) => ({ type: 'function', name: `f${i}` })),
      evm: { deployedBytecode: { object: '00' } },
    })
    const info = (count: number) => ({
      solcVersion: '0.8.24',
      input: { language: 'Solidity', sources: {} },
      output: { contracts: { 'a.sol': { Wide: contract(count) } } },
    })
    const add = (count: number) => node.request({ method: 'evm_addSources', params: [info(count)] })
    await expect(add(4097)).rejects.toThrow(/Wide: the ABI has 4097 entries, and may have 4096/)
    expect(await add(4096)).toMatchObject({ contracts: 1 })
    const abi = contract(4097).abi
    await expect(node.request({ method: 'evm_setAbi', params: [ALICE, abi] })).rejects.toThrow(
      /the ABI has 4097 entries/,
    )
  })

  it('come from the artifacts that the options name, and equal ones are kept once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sources-'))
    try {
      const info = buildInfo('solc-0.5.17')
      const path = join(folder, 'one.json')
      writeFileSync(path, JSON.stringify(info))
      node = await createNode({ abi: [path] })
      const [id] = await node.engine.sources.ids()
      expect(await node.addSources(path)).toEqual([id])
      expect(await node.addSources({ ...info, id: 'other' })).toEqual([id])
      expect(await node.engine.sources.ids()).toEqual([id])
      await expect(node.addSources(join(folder, 'none.json'))).rejects.toThrow(/holds no build-info/)
      await expect(node.addSources({ input: {} })).rejects.toThrow(
        /^Invalid sources: input.sources: Invalid input/,
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('the store of sources', () => {
  it('drops the oldest beyond its bounds, with their codes', async () => {
    const store = new SourceStore(createMemoryStore(), { compilations: 2, bytes: 1_000_000 })
    const infos = ['solc-0.4.26', 'solc-0.5.17', 'solc-0.8.24'] as const
    const compilations = infos.map((name) => readCompilation(buildInfo(name)))
    for (const compilation of compilations) expect(await store.add(await prepare(compilation))).toBe(true)
    const [first, second, third] = compilations.map(({ id }) => id) as [Hex, Hex, Hex]
    expect(await store.ids()).toEqual([second, third])
    expect(await store.get(first)).toBeUndefined()
    expect((await store.get(second))?.id).toBe(second)
    const object = deployedObject('solc-0.4.26', 'Sums')
    expect(await store.match(fromHex(`0x${object}`))).toBeUndefined()
    const small = new SourceStore(createMemoryStore(), { compilations: 2, bytes: 100 })
    await expect(prepare(compilations[0] as never).then((made) => small.add(made))).rejects.toThrow(
      /there is room for 100/,
    )
  })

  it('reads the codes of one length only', async () => {
    const memory = createMemoryStore()
    const store = new SourceStore(memory)
    await store.add(await prepare(readCompilation(buildInfo('solc-0.8.24'))))
    await store.ids()
    let read = 0
    const counting = new SourceStore({
      ...memory,
      get: (...asked) => memory.get(...asked),
      batch: (writes) => memory.batch(writes),
      async *entries(...range) {
        for await (const entry of memory.entries(...range)) {
          read++
          yield entry
        }
      },
    })
    await counting.ids()
    read = 0
    const object = deployedObject('solc-0.8.24', 'Proxy')
    expect(toHex(fromHex(`0x${object}`))).toBe(`0x${object}`)
    expect(await counting.match(fromHex(`0x${object}`))).toMatchObject({ name: 'Proxy' })
    expect(read).toBe(1)
  })
})
