/** State files as bytes (JSON, compressed JSON, or Anvil's hex of that), and how one is loaded into a node. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gunzip } from 'node:zlib'
import { z } from 'zod'
import { readStateFile, type StateFile } from '../../chain/state-file/read.ts'
import { writeStateFile } from '../../chain/state-file/write.ts'
import { fromHex, isHexDigits } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { addCompilation } from '../../engine/sources/add-compilation.ts'
import { invalidParams, messageOf } from '../../errors.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { Compilation } from '../../sources/compilation.ts'
import { readCompilation } from '../../sources/read-compilation.ts'

/** The maximum length of a V8 string. */
const MAX_TEXT = 2 ** 29 - 24
/** Characters per chunk. */
const CHUNK = 1 << 16

const unzip = promisify(gunzip)

/** The text of a node's dump in chunks, with the sources that it knows; the state is that at the time of the first chunk. */
export async function* dumpText(engine: Engine, history: boolean): AsyncGenerator<string, undefined> {
  const sources = await engine.sources.dump()
  const release = engine.holdStates()
  let chunk = ''
  try {
    for (const piece of writeStateFile({ ...engine.dev.dump(history), sources }, engine.config)) {
      chunk += piece
      if (chunk.length < CHUNK) continue
      yield chunk
      chunk = ''
    }
    yield chunk
  } finally {
    release?.()
  }
}

/** Text compressed. */
export async function compressed(text: Iterable<string> | AsyncIterable<string>): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  await pipeline(Readable.from(text), createGzip(), async (output) => {
    for await (const chunk of output) chunks.push(chunk as Buffer)
  })
  return Buffer.concat(chunks)
}

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/** The text of a state file: compressed, plain, or as hex of either. Throws `invalid-params`. */
export async function stateText(bytes: Uint8Array): Promise<string> {
  let plain = bytes
  if (isGzip(bytes)) {
    try {
      plain = await unzip(bytes, { maxOutputLength: MAX_TEXT })
    } catch {
      throw invalidParams('The state cannot be decompressed: it was cut off, or it is too large.')
    }
  }
  if (plain.length > MAX_TEXT) throw invalidParams(`The state is too large: more than ${MAX_TEXT} bytes.`)
  const text = new TextDecoder().decode(plain)
  const inner = /^\s*(0x[0-9a-fA-F]*)\s*$/.exec(text.length < 2 || text[0] === '{' ? '' : text)?.[1]
  return inner === undefined || inner.length % 2 !== 0 ? text : stateText(fromHex(inner))
}

/** The text of a state as a parameter holds it: hex, JSON, or JSON as text. Throws `invalid-params`. */
export function textOfState(given: string | object): MaybePromise<string> {
  if (typeof given === 'object') return JSON.stringify(given)
  return given.startsWith('0x') ? stateText(fromHex(given)) : given
}

/** Is this the form of a state in a parameter? */
export function isStateText(value: string): boolean {
  if (!value.startsWith('0x')) return /^\s*\{/.test(value)
  return value.length > 2 && value.length % 2 === 0 && isHexDigits(value.slice(2))
}

const CompilationJson = z.looseObject({
  compilerVersion: z.string(),
  input: z.unknown(),
  output: z.unknown(),
})

/** The compilations of a state file, by which all its verified contracts are. Throws `invalid-params` for malformed ones. */
function compilationsIn({ sources }: StateFile): Compilation[] {
  const compilations = sources.compilations.map((json, i) => {
    try {
      const { compilerVersion: solcLongVersion, input, output } = CompilationJson.parse(json)
      return readCompilation({ solcLongVersion, input, output })
    } catch (error) {
      throw invalidParams(`The sources[${i}] of the state file are malformed: ${messageOf(error)}.`)
    }
  })
  const ids = new Set(compilations.map(({ id }) => id))
  const stray = sources.verified.findIndex(({ compilation }) => !ids.has(compilation))
  if (stray === -1) return compilations
  throw invalidParams(`The verified[${stray}] of the state file is of a compilation that it does not hold.`)
}

/** Loads the text of a state file; one of another chain id only when forced. Throws `invalid-params`, with nothing changed. */
export async function loadStateText(engine: Engine, text: string, isForced = false): Promise<void> {
  const { dev, config } = engine
  const file = readStateFile(text, config, isForced)
  const compilations = compilationsIn(file)
  if (file.kind === 'accounts') await dev.loadAccounts(file.accounts, file.head)
  else await dev.loadChain(file)
  for (const compilation of compilations) await addCompilation(engine, compilation)
  for (const contract of file.sources.verified) await engine.sources.note(contract)
}
