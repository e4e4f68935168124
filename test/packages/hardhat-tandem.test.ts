/**
 * The part of the Hardhat plugin that needs no Hardhat, and its package. Projects of Hardhat 2 and 3 run with it in
 * `npm run test:tools -- plugin`.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as tandem from '../../src/index.ts'
import { buildInfo, FILE } from '../support/build-infos.ts'
import { solcArtifact } from '../support/kinds.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PACKAGE = join(ROOT, 'packages/hardhat-tandem')
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

interface ProjectNode {
  readonly NETWORK: string
  readonly PLACEHOLDER_URL: string
  startNode(
    library: Pick<typeof tandem, 'createNode'>,
    options: tandem.NodeOptions,
    artifacts: string,
  ): Promise<tandem.Node>
  registerArtifacts(node: tandem.Node, artifacts: string): Promise<void>
}
const project: ProjectNode = await import(join(PACKAGE, 'project-node.mjs'))

/** An artifact of Hardhat with one custom error. */
const artifactOf = (contractName: string, error: string) => ({
  _format: 'hh-sol-artifact-1',
  contractName,
  sourceName: `contracts/${contractName}.sol`,
  abi: [{ type: 'error', name: error, inputs: [{ name: 'by', type: 'uint256' }] }],
  bytecode: '0x',
  deployedBytecode: '0x',
})
/** The selector of `Refused(uint256)`: the first bytes of the keccak-256 of the text, by `cast sig`. */
const REFUSED = '0x590a5151'
const SEVEN = '7'.padStart(64, '0')
/** Reverts with the input: CALLDATASIZE, 0, 0, CALLDATACOPY, CALLDATASIZE, 0, REVERT. */
const ECHO = '0x365f5f37365ffd'
const CONTRACT = '0x00000000000000000000000000000000000c0de1'

let folder: string
let node: tandem.Node | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tandem-hardhat-'))
})
afterEach(async () => {
  await node?.close()
  node = undefined
  rmSync(folder, { recursive: true })
})

function writeArtifact(contract: string, error: string): void {
  const place = join(folder, 'artifacts/contracts', `${contract}.sol`)
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, `${contract}.json`), JSON.stringify(artifactOf(contract, error)))
  writeFileSync(join(place, `${contract}.dbg.json`), '{}')
}

async function failure(data: string): Promise<string> {
  const request = { method: 'hardhat_setCode', params: [CONTRACT, ECHO] }
  await node?.request(request)
  const call = { method: 'eth_call', params: [{ to: CONTRACT, data }] }
  return (node as tandem.Node).request(call).then(String, ({ message }) => message)
}

/** Deploys a contract of a build-info; its address. */
async function deployTwin({ request }: tandem.Node, compiler: string): Promise<string> {
  const [from] = (await request({ method: 'eth_accounts' })) as [string]
  const { object } = buildInfo(compiler).output.contracts[FILE]?.Twin?.evm.bytecode ?? { object: '' }
  const params = [{ from, data: `0x${object}`, gas: '0x4c4b40' }]
  const hash = await request({ method: 'eth_sendTransaction', params })
  const receipt = await request({ method: 'eth_getTransactionReceipt', params: [hash] })
  return (receipt as { contractAddress: string }).contractAddress
}

describe('the node of a Hardhat project', () => {
  it('has the defaults of Hardhat, the options that are given, and the names of the artifacts', async () => {
    writeArtifact('Refusing', 'Refused')
    node = await project.startNode(tandem, { chainId: 77 }, join(folder, 'artifacts'))
    expect(await node.request({ method: 'web3_clientVersion' })).toMatch(/^HardhatNetwork\//)
    expect(await node.request({ method: 'eth_chainId' })).toBe('0x4d')
    expect(await failure(REFUSED + SEVEN)).toContain("reverted with custom error 'Refused(by: 7)'")
  })

  it('starts without artifacts, and registers artifacts that a compiler writes later', async () => {
    node = await project.startNode(tandem, {}, join(folder, 'artifacts'))
    expect(await failure(REFUSED + SEVEN)).toContain('reverted with an unrecognized custom error')
    writeArtifact('Refusing', 'Refused')
    mkdirSync(join(folder, 'artifacts/build-info'))
    writeFileSync(join(folder, 'artifacts/build-info/x.json'), '{ "no": "artifact" }')
    writeFileSync(join(folder, 'artifacts/artifacts.json'), '[]')
    await project.registerArtifacts(node, join(folder, 'artifacts'))
    expect(await failure(REFUSED + SEVEN)).toContain("reverted with custom error 'Refused(by: 7)'")
    await project.registerArtifacts(node, join(folder, 'nowhere'))
  })

  it('registers the storage layouts of build-infos, of Hardhat 2 and of Hardhat 3', async () => {
    const { abi, deployedBytecode, storageLayout } = solcArtifact('Kinds')
    const [contractName, code] = ['Kinds', deployedBytecode]
    for (const names of [
      { sourceName: 'contracts/Kinds.sol' },
      { sourceName: 'contracts/Kinds.sol', inputSourceName: 'project/contracts/Kinds.sol' },
    ]) {
      node = await project.startNode(tandem, {}, join(folder, 'nowhere'))
      const folderOf = (name: string) => join(folder, `artifacts/${name}`)
      for (const name of ['contracts', 'build-info']) mkdirSync(folderOf(name), { recursive: true })
      const artifact = { contractName, ...names, abi, deployedBytecode }
      writeFileSync(folderOf('contracts/Kinds.json'), JSON.stringify(artifact))
      const source = names.inputSourceName ?? names.sourceName
      const output = { contracts: { [source]: { [contractName]: { storageLayout } } } }
      writeFileSync(folderOf('build-info/1.json'), JSON.stringify({ output }))
      await project.registerArtifacts(node, join(folder, 'artifacts'))
      await node.request({ method: 'hardhat_setCode', params: [CONTRACT, code] })
      await node.override(CONTRACT, { variables: { total: 7n } })
      const read = { method: 'evm_getVariables', params: [CONTRACT, ['total']] }
      expect(await node.request(read)).toEqual({ total: '7' })
      await node.close()
    }
  })

  it('knows the sources of deployed contracts, also of those that another process compiles', async () => {
    const artifacts = join(folder, 'artifacts')
    const write = (name: string) => {
      mkdirSync(join(artifacts, 'build-info'), { recursive: true })
      writeFileSync(join(artifacts, 'build-info', `${name}.json`), JSON.stringify(buildInfo(name)))
    }
    const calls: string[] = []
    write('solc-0.8.24')
    node = await project.startNode(tandem, { onCall: (method) => void calls.push(method) }, artifacts)
    const sourcesAt = async (address: string) => {
      const request = { method: 'evm_sourcesAt', params: [address] }
      return (await (node as tandem.Node).request(request)) as {
        name: string
        compilerVersion: string
      } | null
    }
    const first = await deployTwin(node, 'solc-0.8.24')
    expect(await sourcesAt(first)).toMatchObject({ name: 'Twin' })
    write('solc-0.8.37-via-ir')
    const second = await deployTwin(node, 'solc-0.8.37-via-ir')
    await expect.poll(() => sourcesAt(second), { timeout: 20_000 }).toMatchObject({ name: 'Twin' })
    expect((await sourcesAt(second))?.compilerVersion).toMatch(/^0\.8\.37/)
    expect(calls).toContain('eth_sendTransaction')
  })

  it('prints the console output of contracts', async () => {
    const print = vi.spyOn(console, 'log').mockImplementation(() => {})
    try {
      node = await project.startNode(tandem, {}, folder)
      // Hardhat's console: log(uint256) of its address, selector by `cast sig 'log(uint256)'`.
      const to = '0x000000000000000000636f6e736f6c652e6c6f67'
      await node.request({ method: 'eth_call', params: [{ to, data: `0xf82c50f1${SEVEN}` }] })
      expect(print.mock.calls).toEqual([['7']])
    } finally {
      print.mockRestore()
    }
  })
})

describe('the package', () => {
  const own = json(join(PACKAGE, 'package.json'))
  it('has this version, works with compatible ones, and has the files that it names', () => {
    const { version } = json(join(ROOT, 'package.json'))
    expect([own.version, own.peerDependencies.tandem]).toEqual([version, `^${version}`])
    for (const file of own.files) expect(existsSync(join(PACKAGE, file)), file).toBe(true)
    const named = Object.values(own.exports)
      .flatMap((entry) => (typeof entry === 'string' ? entry : Object.values(entry as object)))
      .map((path) => path.replace('./', ''))
    expect(own.files).toEqual(expect.arrayContaining(named.filter((path) => path !== 'package.json')))
  })

  it('uses the same network name for both versions of Hardhat', () => {
    const hardhat2 = readFileSync(join(PACKAGE, 'hardhat-2.cjs'), 'utf8')
    expect(hardhat2).toContain(`const NETWORK = '${project.NETWORK}'`)
    expect(hardhat2).toContain(`const PLACEHOLDER_URL = '${project.PLACEHOLDER_URL}'`)
  })
})
