/** Build-infos and artifacts as Hardhat 2, Hardhat 3 and Foundry leave them, made of recorded output of solc. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readCompilations } from '../../src/sources/source-files.ts'
import { buildInfo, FILE } from '../support/build-infos.ts'

const info = buildInfo('solc-0.8.24')
const content = info.input.sources[FILE]?.content ?? ''

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'projects-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function place(path: string, what: unknown): void {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), typeof what === 'string' ? what : JSON.stringify(what))
}

/** What is in the artifact of Foundry's for a contract (`forge build`, with `rawMetadata` and `metadata`). */
function foundryArtifact(name: string) {
  const contract = info.output.contracts[FILE]?.[name]
  if (contract === undefined) throw new Error(`there is no ${name}`)
  const { abi, evm, metadata } = contract
  const prefixed = (code: { object: string }) => ({ ...code, object: `0x${code.object}` })
  return {
    abi,
    bytecode: prefixed(evm.bytecode),
    deployedBytecode: prefixed(evm.deployedBytecode),
    rawMetadata: metadata,
    metadata: JSON.parse(metadata),
    id: 0,
  }
}

describe('compilations on disk', () => {
  it('are the same out of a build-info of Hardhat 2 and the two files of Hardhat 3', async () => {
    place('two/hardhat.config.js', '')
    place('two/artifacts/build-info/a.json', info)
    place('three/hardhat.config.ts', '')
    const { output, ...input } = info
    place('three/artifacts/build-info/b.json', { ...input, _format: 'hh3-sol-build-info-1' })
    place('three/artifacts/build-info/b.output.json', {
      _format: 'hh3-sol-build-info-output-1',
      id: 'b',
      output,
    })
    const two = await readCompilations([join(root, 'two')])
    const three = await readCompilations([join(root, 'three')])
    const file = await readCompilations([join(root, 'three/artifacts/build-info/b.json')])
    expect(two.faults).toEqual([])
    expect(two.compilations.map(({ id }) => id)).toHaveLength(1)
    expect(three.compilations.map(({ id }) => id)).toEqual(two.compilations.map(({ id }) => id))
    expect(file.compilations.map(({ id }) => id)).toEqual(two.compilations.map(({ id }) => id))
    const [compilation] = two.compilations
    expect(compilation).toMatchObject({ compilerVersion: info.solcLongVersion })
    expect(Object.keys(compilation?.output.contracts[FILE] ?? {})).toEqual(
      Object.keys(info.output.contracts[FILE] ?? {}),
    )
    expect(compilation?.output.sources[FILE]).toHaveProperty('ast')
  })

  it('are put together from the artifacts of Foundry, with the sources that have the hash', async () => {
    place('foundry.toml', '')
    place(FILE, content)
    for (const name of ['Box', 'Sums', 'Twin']) place(`out/Box.sol/${name}.json`, foundryArtifact(name))
    // Foundry's build-info without sources names ids alone.
    place('out/build-info/c.json', { id: 'c', source_id_to_path: { 0: FILE }, language: 'Solidity' })
    const { compilations, faults } = await readCompilations([root])
    expect(faults).toEqual([])
    expect(compilations).toHaveLength(1)
    const [compilation] = compilations
    expect(compilation?.input.sources).toEqual({ [FILE]: { content } })
    expect(Object.keys(compilation?.output.contracts[FILE] ?? {})).toEqual(['Box', 'Sums', 'Twin'])
    expect(compilation?.compilerVersion).toBe(info.solcLongVersion)

    place(FILE, `${content}// changed since\n`)
    const changed = (await readCompilations([root])).compilations
    expect(changed[0]?.input.sources).toEqual({})
  })

  it('are not read from outside of the project', async () => {
    place('secret.sol', content)
    place('project/foundry.toml', '')
    const text = JSON.stringify(foundryArtifact('Twin')).replaceAll(FILE, '../secret.sol')
    place('project/out/Twin.json', text)
    const { compilations } = await readCompilations([join(root, 'project')])
    expect(compilations[0]?.input.sources).toEqual({})
  })

  it('name the files that cannot be read', async () => {
    place('artifacts/build-info/broken.json', '{')
    place('artifacts/build-info/empty.json', { input: {}, output: {} })
    const outside = structuredClone(info)
    const place0 = { start: 1_000_000, length: 20 }
    const twin = outside.output.contracts[FILE]?.Twin as { evm: { deployedBytecode: object } }
    twin.evm.deployedBytecode = {
      ...twin.evm.deployedBytecode,
      linkReferences: { [FILE]: { Sums: [place0] } },
    }
    place('artifacts/build-info/outside.json', outside)
    const { compilations, faults } = await readCompilations([join(root, 'artifacts')])
    expect(compilations).toEqual([])
    expect(faults).toEqual([
      expect.stringMatching(/broken.json: /),
      expect.stringMatching(/empty.json: input.sources: /),
      expect.stringMatching(/outside.json: Twin: a place of contracts\/Box.sol:Sums is outside of the code/),
    ])
  })
})
