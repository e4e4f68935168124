/** Simulations as links: JSON of a scenario, compressed (raw DEFLATE), in base64url after the version of this format. */
import { jsonOf, MOST_BYTES } from './file.ts'
import { type Scenario, scenarioFrom } from './scenario.ts'

const VERSION = '1.'
/** Characters of a link's text: browsers open longer links, but mail and chats cut them. */
export const MOST_LINK = 60_000
/** Characters of `String.fromCharCode` at once. */
const CHUNK = 8192

function base64Url(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]+$/.test(text)) throw new Error('it has characters that a link cannot have, or it was cut off')
  try {
    return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (each) => each.charCodeAt(0))
  } catch {
    throw new Error('its end is missing')
  }
}

/** The bytes that a transform makes; `undefined` where they are more than `MOST_BYTES`. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer())
    length += value.length
    if (length > MOST_BYTES) {
      await reader.cancel()
      return undefined
    }
    chunks.push(new Uint8Array(value))
  }
}

/** The text of a link. Throws an Error where it would be too long. */
export async function linkText(scenario: Scenario): Promise<string> {
  const json = new TextEncoder().encode(JSON.stringify(scenario))
  const packed = await through(json, new CompressionStream('deflate-raw'))
  const text = packed && VERSION + base64Url(packed)
  if (text === undefined || text.length > MOST_LINK) {
    throw new Error(`The link would have more than ${MOST_LINK} characters: save a file instead`)
  }
  return text
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  let result: Uint8Array<ArrayBuffer> | undefined
  try {
    result = await through(bytes, new DecompressionStream('deflate-raw'))
  } catch {
    throw new Error('it was cut or changed')
  }
  if (result === undefined) throw new Error(`it unpacks to more than ${MOST_BYTES} bytes`)
  return result
}

/** The scenario of a link's text. Throws an Error that says what is wrong with it. */
export async function readLinkText(text: string): Promise<Scenario> {
  if (text.length > MOST_LINK) throw new Error(`it has more than ${MOST_LINK} characters`)
  if (!text.startsWith(VERSION)) throw new Error('it is of another version')
  const bytes = await unpacked(bytesOf(text.slice(VERSION.length)))
  return scenarioFrom(jsonOf(new TextDecoder().decode(bytes)))
}
