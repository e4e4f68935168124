/**
 * Etherscan's module `contract`, by the requests of the packages that call it: their forms are those of
 * `@nomicfoundation/hardhat-verify` 2.1.3 and 3.1.1 (`src/internal/etherscan.ts`) and of Foundry's
 * `foundry-block-explorers` (`src/verify.rs`, `src/contract.rs`).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HttpApis } from '../../src/apis/http-apis.ts'
import { findCompiler, installedCompilers } from '../../src/apis/solc.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { type Server, serve } from '../../src/transport/server.ts'
import { buildInfo, deploy, FILE, word } from '../support/build-infos.ts'
import { installCompiler } from '../support/fake-compiler.ts'
import { recordedCompiler } from '../support/recorded-compiler.ts'

const info = buildInfo('solc-0.8.24')
const LONG = `v${info.solcLongVersion}`
const NOBODY = '0x00000000000000000000000000000000000000aa'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'solc-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

let node: Node
let server: Server
let apis: HttpApis
let address: Hex
/** Of a compiler. */
let timeoutMs: number
beforeEach(async () => {
  timeoutMs = 60_000
  node = await createNode()
  apis = new HttpApis({
    node: holderOf(node),
    dispatch: (text, session) => node.dispatcher.dispatchText(text, session),
    compilers: {
      find: (version) => findCompiler(version, [folder]),
      installed: () => installedCompilers([folder]),
      get limits() {
        return { timeoutMs, memoryMegabytes: 128, bytes: 10_000_000 }
      },
    },
  })
  server = await serve({ ...node, apis }, { port: 0 })
  installCompiler(folder, '0.8.24', info.solcLongVersion, recordedCompiler('solc-0.8.24'))
  const library = await deploy(node, info, 'Sums')
  address = await deploy(node, info, 'Box', { libraries: { Sums: library }, words: [7n, 3n] })
})
afterEach(async () => {
  await server.close()
  await node.close()
})

/** The engine of a node as its APIs hold it. */
function holderOf({ engine }: Node) {
  return {
    engine,
    events: engine.events,
    use: <T>(work: (held: typeof engine) => T) => work(engine),
  } as never
}

interface Reply {
  readonly status: string
  readonly message: string
  readonly result: unknown
  readonly details?: string
}

const get = async (query: Record<string, string>, path = '/api') =>
  (await (await fetch(`${server.url}${path}?${new URLSearchParams(query)}`)).json()) as Reply
const post = async (body: Record<string, string>, query: Record<string, string> = {}, path = '/api') =>
  (await (
    await fetch(`${server.url}${path}?${new URLSearchParams(query)}`, {
      method: 'POST',
      body: new URLSearchParams(body),
    })
  ).json()) as Reply

async function statusOf(guid: unknown): Promise<Reply> {
  await apis.idle()
  return get({ apikey: 'k', module: 'contract', action: 'checkverifystatus', guid: String(guid) })
}

const submission = (changes: Record<string, string> = {}) => ({
  contractaddress: address,
  sourceCode: JSON.stringify(info.input),
  codeformat: 'solidity-standard-json-input',
  contractname: `${FILE}:Box`,
  compilerversion: LONG,
  ...changes,
})
const verify = (changes: Record<string, string> = {}) =>
  post({ apikey: 'none', module: 'contract', action: 'verifysourcecode', ...submission(changes) })

describe('verification through Etherscan’s API', () => {
  it('takes the requests of hardhat-verify 2, and shows the source', async () => {
    const isVerified = () => get({ apikey: 'k', module: 'contract', action: 'getsourcecode', address })
    expect(await isVerified()).toMatchObject({ message: 'OK', result: [{ SourceCode: '' }] })
    expect(await get({ module: 'contract', action: 'getabi', address })).toEqual({
      status: '0',
      message: 'NOTOK',
      result: 'Contract source code not verified',
    })

    const submitted = await verify({ constructorArguements: word(7n) + word(3n) })
    expect(submitted).toMatchObject({ status: '1', message: 'OK' })
    expect(await statusOf(submitted.result)).toEqual({
      status: '1',
      message: 'OK',
      result: 'Pass - Verified',
    })

    const { result } = await isVerified()
    const [entry] = result as Record<string, string>[]
    expect(entry).toMatchObject({
      SourceCode: info.input.sources[FILE]?.content,
      ABI: JSON.stringify(info.output.contracts[FILE]?.Box?.abi),
      ContractName: 'Box',
      CompilerVersion: LONG,
      OptimizationUsed: '1',
      Runs: '200',
      ConstructorArguments: word(7n) + word(3n),
      EVMVersion: 'london',
      LicenseType: 'MIT',
      Proxy: '0',
    })
    expect(entry?.Library).toMatch(/^Sums:[0-9a-f]{40}$/)
    expect(await verify()).toMatchObject({ status: '0', result: 'Contract source code already verified' })
  })

  it('takes the requests of hardhat-verify 3, with the chain id in the URL of v2', async () => {
    const chain = { module: 'contract', chainid: '33', apikey: 'k' }
    const submitted = await post(
      submission({ constructorArguments: word(7n) + word(3n) }),
      { ...chain, action: 'verifysourcecode' },
      '/v2/api',
    )
    expect(submitted.status).toBe('1')
    await apis.idle()
    const status = { ...chain, action: 'checkverifystatus', guid: String(submitted.result) }
    expect(await get(status, '/v2/api')).toMatchObject({ status: '1', result: 'Pass - Verified' })
    for (const chainid of ['1', '']) {
      expect((await get({ ...status, chainid }, '/v2/api')).result).toMatch(/^Missing or unsupported chainid/)
    }
  })

  it('takes the requests of forge verify-contract, which polls by POST', async () => {
    const submitted = await post({
      apikey: 'k',
      module: 'contract',
      action: 'verifysourcecode',
      ...submission({
        constructorArguements: word(7n) + word(3n),
        constructorArguments: word(7n) + word(3n),
        viaIR: 'false',
      }),
    })
    await apis.idle()
    const checked = await post({
      apikey: 'k',
      module: 'contract',
      action: 'checkverifystatus',
      guid: String(submitted.result),
    })
    expect(checked.result).toBe('Pass - Verified')
    const abi = await get({ apikey: 'k', module: 'contract', action: 'getabi', address })
    expect(JSON.parse(String(abi.result))).toEqual(info.output.contracts[FILE]?.Box?.abi)
  })

  it('refuses what is not the source of the code', async () => {
    const other = await verify({ contractname: `${FILE}:Twin` })
    const failed = await statusOf(other.result)
    expect(failed).toMatchObject({ status: '0', message: 'NOTOK', result: 'Fail - Unable to verify' })
    expect(failed.details).toBe(`the compiled code of ${FILE}:Twin is not the code at ${address}`)

    // hardhat-verify 3 asks Blockscout without a key, and takes a failure of status 0 for one of the question.
    const asked = { module: 'contract', action: 'checkverifystatus', guid: String(other.result) }
    expect(await get(asked)).toEqual({ ...failed, status: '1', message: 'OK' })

    const wrongArguments = await verify({ constructorArguements: word(8n) + word(3n) })
    expect(await statusOf(wrongArguments.result)).toMatchObject({
      result: 'Fail - Unable to verify',
      details: 'the contract was created with other constructor arguments',
    })
    const noContract = await verify({ contractname: 'None' })
    expect((await statusOf(noContract.result)).result).toBe(
      'Fail - Unable to verify: the sources have no contract None with code',
    )
    const changed = { ...info.input, sources: { [FILE]: { content: 'contract Box {' } } }
    const broken = await verify({ sourceCode: JSON.stringify(changed) })
    expect((await statusOf(broken.result)).result).toBe('Fail - Unable to verify: ParserError: other sources')
    const wrongCommit = await verify({ compilerversion: 'v0.8.24+commit.00000000' })
    expect((await statusOf(wrongCommit.result)).result).toMatch(/solc 0.8.24 here is commit e11b9ed9/)
    expect(await get({ module: 'contract', action: 'getabi', address })).toMatchObject({ status: '0' })
  })

  it('says what is missing without the compiler, and takes a known artifact of the same input', async () => {
    const missing = await verify({ compilerversion: 'v0.8.19+commit.7dd6d404' })
    expect((await statusOf(missing.result)).result).toBe(
      'Fail - Unable to verify: solc 0.8.19 is not installed (npm install solc-0.8.19@npm:solc@0.8.19), and no known artifact has this code',
    )
    rmSync(join(folder, 'node_modules'), { recursive: true })
    await node.addSources(buildInfo('solc-0.8.24-other-comment'))
    const otherSources = await verify()
    expect((await statusOf(otherSources.result)).result).toMatch(/of other sources or settings$/)
    const same = buildInfo('solc-0.8.24-other-comment').input
    const known = await verify({ sourceCode: JSON.stringify(same) })
    expect((await statusOf(known.result)).result).toBe('Pass - Verified')
  })

  it('ends a compiler that hangs', async () => {
    timeoutMs = 1500
    installCompiler(folder, '0.8.24', info.solcLongVersion, 'for (;;);')
    const submitted = await verify()
    expect((await statusOf(submitted.result)).result).toMatch(
      /solc 0.8.24 failed: it took longer than 1500 ms/,
    )
  })

  it('ends the compiler with the node', async () => {
    installCompiler(folder, '0.8.24', info.solcLongVersion, 'for (;;);')
    await verify()
    await apis.close()
    const job = await verify()
    expect((await statusOf(job.result)).result).toMatch(/^Fail - Unable to verify: solc 0.8.24 failed/)
  })

  it.each([
    ['that takes all memory', 'const all = []; for (;;) all.push(new Array(1e6).fill(all))', /more memory/],
    ['that ends', 'process.exit(1)', /ended without output/],
    ['that writes no JSON', "return 'oh'", /its output is not JSON/],
    ['that writes without end', "return 'x'.repeat(20_000_000)", /longer than 10000000 bytes/],
  ])(
    'survives a compiler %s',
    async (_, body, message) => {
      installCompiler(folder, '0.8.24', info.solcLongVersion, body)
      const submitted = await verify()
      expect((await statusOf(submitted.result)).result).toMatch(message)
      expect(await node.request({ method: 'eth_chainId' })).toBe('0x21')
    },
    70_000,
  )

  it('answers bad requests in Etherscan’s words', async () => {
    const result = async (query: Record<string, string>) => (await get(query)).result
    expect(await result({ module: 'none', action: 'x' })).toBe('Error! Missing Or invalid Module name')
    expect(await result({ module: 'contract', action: 'constructor' })).toBe(
      'Error! Missing Or invalid Action name',
    )
    expect(await result({ module: 'contract', action: 'getabi', address: '0x1' })).toBe(
      'Error! Invalid address format',
    )
    expect(await result({ module: 'contract', action: 'checkverifystatus', guid: 'x' })).toBe('Unknown UID')
    expect((await verify({ contractaddress: NOBODY })).result).toBe(
      `Unable to locate ContractCode at ${NOBODY}`,
    )
    expect((await verify({ codeformat: 'vyper-json' })).result).toMatch(/vyper-json is not supported/)
    expect((await verify({ sourceCode: '{' })).result).toMatch(/not JSON of the standard JSON interface/)
    expect((await verify({ sourceCode: '{"language":"Solidity"}' })).result).toMatch(/sources: Invalid input/)
    expect((await verify({ sourceCode: '['.repeat(1_000_000) })).result).toMatch(/nested too deeply/)
    expect((await verify({ compilerversion: 'latest' })).result).toBe('Invalid compiler version')
    expect((await verify({ contractname: 'x'.repeat(2000) })).result).toMatch(
      /name of the contract is too long/,
    )
    const urls = { language: 'Solidity', sources: { a: { urls: ['/etc/passwd'] } } }
    expect((await verify({ sourceCode: JSON.stringify(urls) })).result).toMatch(/sources.a has no content/)
    for (const length of [6_000_000, 50_000_000]) {
      expect((await verify({ sourceCode: 'x'.repeat(length) })).result).toMatch(/larger than 5242880 bytes/)
    }
  })

  it('tells the creation of contracts, and the implementation of proxies', async () => {
    const twin = await deploy(node, info, 'Twin')
    const proxy = await deploy(node, info, 'Proxy', { words: [twin] })
    const [creator] = (await node.request({ method: 'eth_accounts' })) as Hex[]
    const created = await get({
      module: 'contract',
      action: 'getcontractcreation',
      contractaddresses: `${proxy},${NOBODY}`,
    })
    expect(created.result).toEqual([
      expect.objectContaining({ contractAddress: proxy, contractCreator: creator, contractFactory: '' }),
    ])
    const asked = await post({ module: 'contract', action: 'verifyproxycontract', address: proxy })
    const check = (guid: unknown) =>
      get({ module: 'contract', action: 'checkproxyverification', guid: String(guid) })
    expect((await check(asked.result)).result).toBe(
      `The proxy's (${proxy}) implementation contract is found at ${twin} and is successfully updated.`,
    )
    const expecting = await post({
      module: 'contract',
      action: 'verifyproxycontract',
      address: proxy,
      expectedimplementation: address,
    })
    expect((await check(expecting.result)).status).toBe('0')
    expect((await check(twin)).result).toMatch(/^A corresponding implementation contract/)
    await node.addSources(info)
    const source = await get({ module: 'contract', action: 'getsourcecode', address: proxy })
    expect(source.result).toEqual([
      expect.objectContaining({ ContractName: 'Proxy', Proxy: '1', Implementation: twin }),
    ])
  })
})
