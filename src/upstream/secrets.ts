/** Hides the secrets that the node sent to an upstream where the upstream's errors repeat them. */
import type { Target } from './sender.ts'

const HIDDEN = '***'
/** Shorter parts of a URL occur in other texts by chance. */
const SHORTEST = 4

/** The texts that may be secrets: the URL after its host, its parts, the values of headers, as they are written and decoded. */
function secretsOf({ url, headers }: Target): string[] {
  const { username, password, pathname, search, searchParams } = new URL(url)
  const login = `${decoded(username)}:${decoded(password)}`
  const written = [
    `${username}:${password}`,
    login,
    username,
    password,
    pathname.slice(1),
    search,
    ...searchParams.values(),
  ]
  const values = headers.flatMap(([, value]) => [value, value.replace(/^\w+ /, '')])
  const all = [...written, ...written.map(decoded), ...values, Buffer.from(login).toString('base64')]
  return all.filter((text) => text.length >= SHORTEST).sort((a, b) => b.length - a.length)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Replaces the secrets in every text of a JSON value but not in hex bytes, so that the data of a revert stays as it is. */
function masked(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') {
    if (/^0x[0-9a-f]*$/i.test(value)) return value
    return secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), value)
  }
  if (Array.isArray(value)) return value.map((item) => masked(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, secrets)]))
}

/** A reply, or a list of replies, whose errors do not repeat secrets of the request. */
export function withoutSecrets(body: unknown, target: Target): unknown {
  if (Array.isArray(body)) return body.map((reply) => withoutSecrets(reply, target))
  if (typeof body !== 'object' || body === null || !('error' in body)) return body
  return { ...body, error: masked(body.error, secretsOf(target)) }
}
