/** A node whose APIs find a compiler that answers with the recorded output of `fixtures/sources`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpApis } from '../../src/apis/http-apis.ts'
import { findCompiler, installedCompilers } from '../../src/apis/solc.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { type Server, serve } from '../../src/transport/server.ts'
import { buildInfo } from './build-infos.ts'
import { installCompiler } from './fake-compiler.ts'

/** The body of a compiler that has recorded output for the sources of a build-info, and an error for others. */
export function recordedCompiler(name: string): string {
  const file = JSON.stringify(new URL(`../../fixtures/sources/${name}.json`, import.meta.url).pathname)
  return `
  const info = JSON.parse(require('fs').readFileSync(${file}, 'utf8'))
  if (JSON.stringify(JSON.parse(input).sources) === JSON.stringify(info.input.sources)) return JSON.stringify(info.output)
  return JSON.stringify({ errors: [{ severity: 'error', message: 'other sources', formattedMessage: 'ParserError: other sources' }] })`
}

export interface VerifyingNode {
  readonly node: Node
  readonly server: Server
  readonly apis: HttpApis
  close(): Promise<void>
}

/** Starts a node that finds solc 0.8.24 as it was recorded. */
export async function verifyingNode(): Promise<VerifyingNode> {
  const folder = mkdtempSync(join(tmpdir(), 'solc-'))
  const name = 'solc-0.8.24'
  installCompiler(folder, '0.8.24', buildInfo(name).solcLongVersion, recordedCompiler(name))
  const node = await createNode()
  const { engine } = node
  const holder = { engine, events: engine.events, use: <T>(work: (held: typeof engine) => T) => work(engine) }
  const apis = new HttpApis({
    node: holder as never,
    dispatch: (text, session) => node.dispatcher.dispatchText(text, session),
    compilers: {
      find: (version) => findCompiler(version, [folder]),
      installed: () => installedCompilers([folder]),
    },
  })
  const server = await serve({ ...node, apis }, { port: 0 })
  return {
    node,
    server,
    apis,
    async close() {
      await server.close()
      await node.close()
      rmSync(folder, { recursive: true })
    },
  }
}
