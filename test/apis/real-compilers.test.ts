/** Verification through Etherscan's API by the compilers themselves: libraries, immutables, via-ir, arguments, proxies, equal code. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { HttpApis } from '../../src/apis/http-apis.ts'
import { findCompiler, installedCompilers } from '../../src/apis/solc.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { type Server, serve } from '../../src/transport/server.ts'
import { type BuildInfo, buildInfo, COMPILERS, deploy, FILE, word } from '../support/build-infos.ts'
import { describeWith, SOLC } from '../support/tools.ts'

/** A compiler takes seconds, and on a busy machine many. */
const TIMEOUT_MS = 300_000

describeWith(SOLC, 'verification by real compilers', () => {
  let node: Node
  let server: Server
  let apis: HttpApis
  beforeEach(async () => {
    node = await createNode()
    const { engine } = node
    const holder = {
      engine,
      events: engine.events,
      use: <T>(work: (held: typeof engine) => T) => work(engine),
    }
    apis = new HttpApis({
      node: holder as never,
      dispatch: (text, session) => node.dispatcher.dispatchText(text, session),
      compilers: {
        find: (version) => findCompiler(version, [SOLC.path]),
        installed: () => installedCompilers([SOLC.path]),
      },
    })
    server = await serve({ ...node, apis }, { port: 0 })
  })
  afterEach(async () => {
    await server.close()
    await node.close()
  })

  async function call(form: Record<string, string>): Promise<unknown> {
    const body = new URLSearchParams({ apikey: 'k', module: 'contract', ...form })
    const reply = await fetch(`${server.url}/api`, { method: 'POST', body })
    return ((await reply.json()) as { result: unknown }).result
  }

  /** The outcome of a verification, of the standard input of a build-info unless told otherwise. */
  async function verify(info: BuildInfo, name: string, form: Record<string, string>): Promise<unknown> {
    const guid = await call({
      action: 'verifysourcecode',
      compilerversion: `v${info.solcLongVersion}`,
      codeformat: 'solidity-standard-json-input',
      contractname: `${FILE}:${name}`,
      sourceCode: JSON.stringify(info.input),
      ...form,
    })
    await apis.idle()
    return call({ action: 'checkverifystatus', guid: String(guid) })
  }

  async function matchAt(address: Hex) {
    const state = await node.engine.queries.state({ tag: 'latest' })
    const match = state && (await node.engine.sources.at(state, address))?.match
    return match && [match.kind, match.name]
  }

  it.each(COMPILERS)(
    'compiles standard JSON and a flattened source by %s',
    async (compiler) => {
      const info = buildInfo(compiler)
      const isOld = compiler.startsWith('solc-0.4') || compiler.startsWith('solc-0.5')
      const library = await deploy(node, info, 'Sums')
      const words = isOld ? [7n] : [7n, 3n]
      const box = await deploy(node, info, 'Box', { libraries: { Sums: library }, words })
      const form = { contractaddress: box, constructorArguements: words.map(word).join('') }
      // The name of the file is in the metadata: without it the match is in part.
      const flattened = {
        ...form,
        codeformat: 'solidity-single-file',
        sourceCode: info.input.sources[FILE]?.content ?? '',
        contractname: 'Box',
        optimizationUsed: compiler.startsWith('solc-0.5') ? '0' : '1',
        runs: '200',
        evmversion: compiler.startsWith('solc-0.8.37') ? 'paris' : isOld ? 'default' : 'london',
        viaIR: String(compiler.endsWith('via-ir')),
      }
      expect(await verify(info, 'Box', flattened)).toBe('Pass - Verified')
      expect(await matchAt(box)).toEqual(['partial', 'Box'])
      expect(await verify(info, 'Box', form)).toBe('Pass - Verified')
      expect(await matchAt(box)).toEqual(['exact', 'Box'])
      const importing = { language: 'Solidity', sources: { 'A.sol': { content: 'import "/etc/passwd";' } } }
      const outside = { contractaddress: library, sourceCode: JSON.stringify(importing), contractname: 'A' }
      expect(await verify(info, 'A', outside)).toMatch(/Source "\/?etc\/passwd" not found/)
    },
    TIMEOUT_MS,
  )

  it(
    'verifies a proxy with its argument, and of two contracts of equal code the one that is named',
    async () => {
      const info = buildInfo('solc-0.8.24-no-metadata')
      const twin = await deploy(node, info, 'Twin')
      const proxy = await deploy(node, info, 'Proxy', { words: [twin] })
      expect(await verify(info, 'Proxy', { contractaddress: proxy, constructorArguments: word(1n) })).toBe(
        'Fail - Unable to verify',
      )
      const form = { contractaddress: proxy, constructorArguments: word(twin) }
      expect(await verify(info, 'Proxy', form)).toBe('Pass - Verified')
      for (const name of ['Twin', 'OtherTwin']) {
        expect(await verify(info, name, { contractaddress: twin })).toBe('Pass - Verified')
        expect(await matchAt(twin)).toEqual(['partial', name])
      }
    },
    TIMEOUT_MS,
  )
})
