/** The head of an HTTP/1.1 request in the form in which JSON-RPC clients write it; any other form is left to `node:http`. */

/** A POST whose body has a known length, on a connection that stays open. */
export interface PlainHead {
  /** Path and query. */
  readonly url: string
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Bytes of the body. */
  readonly contentLength: number
}

/** Characters of a head beyond which it is not parsed here. */
export const MAX_HEAD = 4096

const REQUEST_LINE = /^POST (\/[!-~]*) HTTP\/1\.1$/
/** Name and value of a field (RFC 9110, section 5). The value does not begin with white space, which keeps the match linear. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[!-~\x80-\xff][\t\x20-\x7e\x80-\xff]*)?)$/
const LENGTH = /^\d{1,15}$/

/** Fields that change what follows the head, or what the connection becomes. */
const OTHER_FORMS: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'expect',
  'upgrade',
  'http2-settings',
  'trailer',
])

function withoutTrailingSpace(value: string): string {
  let end = value.length
  while (end > 0 && (value[end - 1] === ' ' || value[end - 1] === '\t')) end--
  return value.slice(0, end)
}

/**
 * Parses a head without its last empty line. `undefined` for whatever is not of the plain form, which may be another
 * verb or version, a repeated or folded field, a body in chunks, or no HTTP at all.
 * @param text Latin-1, a character a byte
 */
export function parsePlainHead(text: string): PlainHead | undefined {
  if (text.length > MAX_HEAD) return undefined
  const [first = '', ...lines] = text.split('\r\n')
  const url = REQUEST_LINE.exec(first)?.[1]
  if (url === undefined) return undefined
  const headers: Record<string, string> = Object.create(null)
  for (const line of lines) {
    const [, given, value] = FIELD.exec(line) ?? []
    if (given === undefined || value === undefined) return undefined
    const name = given.toLowerCase()
    if (name in headers || OTHER_FORMS.has(name)) return undefined
    headers[name] = withoutTrailingSpace(value)
  }
  const { host, connection = 'keep-alive', 'content-length': length } = headers
  if (host === undefined || connection.toLowerCase() !== 'keep-alive') return undefined
  if (length === undefined || !LENGTH.test(length)) return undefined
  return { url, headers, contentLength: Number(length) }
}
