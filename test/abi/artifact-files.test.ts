import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readArtifacts } from '../../src/abi/artifact-files.ts'
import { readStorageLayout } from '../../src/abi/storage/layout.ts'
import { NAMED, solcArtifact } from '../support/kinds.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'artifacts-'))
  const hardhat = (name: string) => ({ contractName: name, abi: [], bytecode: '0x', deployedBytecode: '0x' })
  const files: Record<string, unknown> = {
    'hardhat/hardhat.config.ts': '',
    'hardhat/package.json': { name: 'project' },
    'hardhat/artifacts/contracts/A.sol/A.json': hardhat('A'),
    'hardhat/artifacts/contracts/A.sol/A.dbg.json': { buildInfo: 'x' },
    'hardhat/artifacts/build-info/1.json': hardhat('Never'),
    'foundry/foundry.toml': '',
    'foundry/out/B.sol/B.json': {
      abi: [{ type: 'error', name: 'No', inputs: [] }],
      bytecode: { object: '0x' },
    },
    'foundry/out/B.sol/C.0.8.24.json': { abi: [] },
    'foundry/out/broken.json': '{',
    'foundry/cache/solidity-files-cache.json': { abi: [] },
    'plain/abi.json': ['function f()'],
    'plain/other.json': { version: 1 },
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(dir, path, '..'), { recursive: true })
    writeFileSync(join(dir, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
})
afterAll(() => rmSync(dir, { recursive: true }))

const names = async (...paths: string[]) =>
  (await readArtifacts(paths.map((path) => join(dir, path)))).map(({ name }) => name)

describe('the layouts of artifacts', () => {
  const { abi, bytecode, deployedBytecode, storageLayout } = solcArtifact('Kinds')
  const object = (code: string) => ({ object: code.slice(2) })
  const evm = { bytecode: object(bytecode), deployedBytecode: object(deployedBytecode) }
  const output = { contracts: { 'Kinds.sol': { Kinds: { abi, evm, storageLayout } } } }
  const withoutLayout = { contractName: 'Kinds', sourceName: 'Kinds.sol', abi, bytecode, deployedBytecode }
  const place = (path: string, content: object) => {
    mkdirSync(join(dir, path, '..'), { recursive: true })
    writeFileSync(join(dir, path), JSON.stringify(content))
  }
  beforeAll(() => {
    place('layouts/hardhat/Kinds.sol/Kinds.json', withoutLayout)
    place('layouts/hardhat/Kinds.sol/Other.json', { ...withoutLayout, contractName: 'Other' })
    place('layouts/hardhat/build-info/1.json', { id: '1', solcVersion: '0.8.37', input: {}, output })
    place('layouts/hardhat3/Kinds.sol/Kinds.json', withoutLayout)
    place('layouts/hardhat3/build-info/1.json', { _format: 'hh3-sol-build-info-1', input: {} })
    place('layouts/hardhat3/build-info/1.output.json', { id: '1', output })
    place('layouts/foundry/Kinds.sol/Kinds.json', {
      abi,
      bytecode: { object: bytecode },
      deployedBytecode: { object: deployedBytecode },
      storageLayout,
    })
    place('layouts/solc.json', output)
    place('layouts/plain/Kinds.json', withoutLayout)
  })

  it.each(['hardhat', 'hardhat3', 'foundry', 'solc.json', 'hardhat/build-info/1.json'])(
    '%s',
    async (path) => {
      const [kinds, other] = await readArtifacts([join(dir, 'layouts', path)])
      expect(kinds).toMatchObject({ name: 'Kinds', layout: readStorageLayout(storageLayout, NAMED) })
      expect(other?.layout).toBeUndefined()
    },
  )

  it('are absent when the compiler did not output them', async () => {
    const [kinds] = await readArtifacts([join(dir, 'layouts/plain')])
    expect(kinds).not.toHaveProperty('layout')
  })
})

describe('artifacts on disk', () => {
  it('are found in a Hardhat project, or in its artifacts folder', async () => {
    expect(await names('hardhat')).toEqual(['A'])
    expect(await names('hardhat/artifacts')).toEqual(['A'])
  })

  it('are found in a Foundry project, or in its out folder, among other files', async () => {
    expect(await names('foundry')).toEqual(['B', 'C'])
    expect(await names('foundry/out', 'plain/abi.json')).toEqual(['B', 'C', 'abi'])
  })

  it.each([
    ['nowhere', 'there is no such file or folder.'],
    ['plain/other.json', 'it holds no ABI.'],
    ['foundry/out/broken.json', 'it is not JSON.'],
  ])('%s is refused by name', async (path, words) => {
    await expect(names(path)).rejects.toMatchObject({
      kind: 'invalid-options',
      message: expect.stringMatching(new RegExp(`^Cannot read ABIs from /\\S+/${path}: ${words}$`)),
    })
  })
})
